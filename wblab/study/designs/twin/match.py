"""Whether a live run and its twin have the same pauses."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from wblab.analysis.runs.metrics import load_metrics
from wblab.analysis.runs.run import Run
from wblab.analysis.statistics.decision import NOT_DECIDED, NOT_REPRODUCED, REPRODUCED, Outcome
from wblab.analysis.statistics.intervals import LEAST_RUNS

METRICS = ("longest_pause_s", "wait_time_s", "paused_fraction")
FACTOR = 2.0  # a twin within this factor matches
_ERROR = 0.05  # probability of one or more wrong verdicts among all metrics
# Values too small to notice, in the metric's unit. Two values below it count as equal.
UNNOTICED = {"longest_pause_s": 0.3, "wait_time_s": 0.05, "paused_fraction": 0.02}


@dataclass(frozen=True)
class Match:
    """One metric of one load: its live value and those of the twin's runs. live is None without a live run.

    looks: the number of metrics compared at once.
    """

    load: str
    metric: str
    live: float | None
    twin: tuple[float, ...]
    looks: int = 1

    @property
    def median(self) -> float:
        """The median of the twin's runs."""
        return float(np.median(self.twin))

    @property
    def outcome(self) -> Outcome | None:
        """Whether the twin reproduces the live value within a factor of FACTOR; None without a live value.

        The twin's distribution is assumed log-normal and the live run one more draw from it. Their ratio then has a
        prediction interval (G. J. Hahn and W. Q. Meeker, Statistical Intervals, 1991, 4.8). The value is reproduced if
        the interval lies within the factor (equivalence), not reproduced if it lies outside, and otherwise undecided.
        """
        if self.live is None:
            return None
        low, high = self.ratio
        if low >= 1 / FACTOR and high <= FACTOR:
            return REPRODUCED
        return NOT_REPRODUCED if low > FACTOR or high < 1 / FACTOR else NOT_DECIDED

    @property
    def ratio(self) -> tuple[float, float]:
        """The interval of live over twin, corrected for `looks` metrics; (0, inf) with too few runs."""
        least = UNNOTICED[self.metric]
        logs = np.log(np.maximum(self.twin, least))
        difference = math.log(max(self.live or 0.0, least)) - float(logs.mean())
        if len(logs) < LEAST_RUNS:
            return 0.0, math.inf
        spread = float(logs.std(ddof=1)) * math.sqrt(1 + 1 / len(logs))
        margin = float(stdtrit(len(logs) - 1, 1 - _ERROR / (2 * self.looks))) * spread
        return math.exp(difference - margin), math.exp(difference + margin)


def matches(live: Run | None, twins: Sequence[Run]) -> list[Match]:
    """Return the metrics of all innocent loads; control loads are left out, as other work of a machine stalls them."""
    loads = [item for item in twins[0].loads if item.load.role == "innocent"]
    looks = len(loads) * len(METRICS)
    found = []
    for item in loads:
        of_twin = [load_metrics(run.load(item.name)) for run in twins]
        of_live = load_metrics(live.load(item.name)) if live else {}
        for metric in METRICS:
            twin = tuple(values[metric] for values in of_twin)
            found.append(Match(item.name, metric, of_live.get(metric), twin, looks))
    return found
