"""Whether a live run and its twin have the same pauses."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wblab.data.metrics import load_metrics
from wblab.data.run import Run

METRICS = ("longest_pause_s", "wait_time_s", "paused_fraction")
# A live value more than this factor outside the range of the twin's runs does not match.
FACTOR = 2.0
# Values that nobody notices, in the metric's unit: two values below it match.
UNNOTICED = {"longest_pause_s": 0.3, "wait_time_s": 0.05, "paused_fraction": 0.02}


@dataclass(frozen=True)
class Match:
    """One figure of one load: the live value, and those of the twin's runs. Without a live run nothing can match."""

    load: str
    metric: str
    live: float | None
    twin: tuple[float, ...]

    @property
    def middle(self) -> float:
        """Median of the twin's runs."""
        return float(np.median(self.twin))

    @property
    def verdict(self) -> str:
        """`matches`; or `live more` or `live less`: the live value is over a factor of two off the twin's range."""
        if self.live is None:
            return ""
        least = UNNOTICED[self.metric]
        live = max(self.live, least)
        if live > FACTOR * max(*self.twin, least):
            return "live more"
        return "live less" if live < max(min(self.twin), least) / FACTOR else "matches"


def matches(live: Run | None, twins: Sequence[Run]) -> list[Match]:
    """Return the figures of all innocent loads. Control loads are left out: a live machine has stalls of its own."""
    found = []
    for item in twins[0].loads:
        if item.load.role != "innocent":
            continue
        ours = [load_metrics(run.load(item.name)) for run in twins]
        theirs = load_metrics(live.load(item.name)) if live else {}
        found += [
            Match(item.name, metric, theirs.get(metric), tuple(values[metric] for values in ours)) for metric in METRICS
        ]
    return found
