"""Whether a live run and its twin have the same pauses."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from wblab.analysis.runs.metrics import load_metrics
from wblab.analysis.runs.run import Run
from wblab.analysis.statistics.intervals import LEAST_RUNS
from wblab.analysis.statistics.outcome import NOT_DECIDED, NOT_REPRODUCED, REPRODUCED, Outcome

METRICS = ("longest_pause_s", "wait_time_s", "paused_fraction")
FACTOR = 2.0  # a twin that is off by less will do
_ERROR = 0.05  # of all figures together
# Values that nobody notices, in the unit of the metric: two below it are the same.
UNNOTICED = {"longest_pause_s": 0.3, "wait_time_s": 0.05, "paused_fraction": 0.02}


@dataclass(frozen=True)
class Match:
    """One figure of one load: live, and the twin's runs. Without a live run there is nothing to match.

    looks: how many figures are compared beside each other.
    """

    load: str
    metric: str
    live: float | None
    twin: tuple[float, ...]
    looks: int = 1

    @property
    def middle(self) -> float:
        """The median of the twin's runs."""
        return float(np.median(self.twin))

    @property
    def outcome(self) -> Outcome | None:
        """Whether the live value is that of the twin, within a factor of FACTOR; None without a live value.

        The live run is one more draw of the twin's distribution, whose logarithm is taken for normal: their ratio has a
        prediction interval (G. J. Hahn and W. Q. Meeker, Statistical Intervals, 1991, 4.8). It is reproduced if that
        lies within the factor (equivalence), not reproduced if it lies outside, and else not decided.
        """
        if self.live is None:
            return None
        low, high = self.ratio
        if low >= 1 / FACTOR and high <= FACTOR:
            return REPRODUCED
        return NOT_REPRODUCED if low > FACTOR or high < 1 / FACTOR else NOT_DECIDED

    @property
    def ratio(self) -> tuple[float, float]:
        """The interval of live over twin, corrected for how many figures are looked at; (0, inf) with too few runs."""
        least = UNNOTICED[self.metric]
        logs = np.log(np.maximum(self.twin, least))
        between = math.log(max(self.live or 0.0, least)) - float(logs.mean())
        if len(logs) < LEAST_RUNS:
            return 0.0, math.inf
        spread = float(logs.std(ddof=1)) * math.sqrt(1 + 1 / len(logs))
        reach = float(stdtrit(len(logs) - 1, 1 - _ERROR / (2 * self.looks))) * spread
        return math.exp(between - reach), math.exp(between + reach)


def matches(live: Run | None, twins: Sequence[Run]) -> list[Match]:
    """Return the figures of all innocent loads but control loads, of which a live machine has its own stalls."""
    loads = [item for item in twins[0].loads if item.load.role == "innocent"]
    looks = len(loads) * len(METRICS)
    found = []
    for item in loads:
        ours = [load_metrics(run.load(item.name)) for run in twins]
        theirs = load_metrics(live.load(item.name)) if live else {}
        for metric in METRICS:
            twin = tuple(values[metric] for values in ours)
            found.append(Match(item.name, metric, theirs.get(metric), twin, looks))
    return found
