"""Judge an expectation from pairs of runs with the same seed. Pure functions: figures in, verdicts out."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wblab.analysis.statistics import contrasts
from wblab.analysis.statistics.decision import (
    HARMS,
    NOT_DECIDED,
    NOT_REPRODUCED,
    REPRODUCED,
    Outcome,
    doubt,
    scaled,
    unscaled,
)
from wblab.analysis.statistics.intervals import Interval, interval

# Shorter waits go unnoticed (J. Nielsen, "Response Times: The 3 Important Limits", 1993): they count as this long.
NOTICED_S = 0.1
HARM_PERCENT = 110  # less than 10 % longer is no harm
RELIEF_PERCENT = 90  # less than 10 % shorter is no relief
LOOKS = 3  # rounds in which a difference is judged: each can err
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Figure:
    """A figure with its 95 % interval over seeds, and its threshold.

    absolute: in its own unit; otherwise a ratio to the default. rising: more is better. p: the least doubt at which the
    interval excludes the threshold; q: corrected for all figures. broken: number of runs beyond the threshold.
    """

    interval: Interval
    threshold: float
    absolute: bool
    rising: bool
    p: float
    broken: int
    q: float = 1.0

    @property
    def keeps(self) -> bool:
        """Whether the estimate is on the good side of the threshold."""
        return not _breaks(self.interval.estimate, self.threshold, self.rising)

    @property
    def is_shown(self) -> bool:
        """Whether the runs decide on which side of the threshold the true value is."""
        return self.interval.known and self.q <= contrasts.RATE

    @property
    def is_open(self) -> bool:
        """Whether more seeds could decide: the interval contains the threshold, and no run has refuted it."""
        low, high = self.interval.low, self.interval.high
        if self.absolute and self.broken:
            return False
        return low is None or high is None or (low < high and low <= self.threshold <= high)


def ratio_figure(
    changed: Mapping[int, float], before: Mapping[int, float], percent: float, *, rising: bool, floor: float
) -> Figure | None:
    """Return the change of a metric: the geometric mean of the ratios of runs with the same seed; None without runs.

    percent: the threshold, relative to `before`. floor: smaller values count as this.
    """
    seeds = sorted(changed.keys() & before.keys())
    logs = np.array([math.log(max(changed[seed], floor) / max(before[seed], floor)) for seed in seeds])
    if not seeds:
        return None
    threshold = math.log(percent / 100)
    shown = unscaled(interval([logs], [1.0], scale=1.0), is_log=True)
    return Figure(shown, percent / 100, False, rising, doubt(logs, threshold), _broken(logs, threshold, rising))


def bound_figure(values: Mapping[int, float], bound: float, *, is_log: bool = False) -> Figure | None:
    """Return the mean of a metric with its upper limit, in its own unit; None without runs.

    is_log: for times, see wblab.analysis.statistics.decision.
    """
    numbers = np.array([values[seed] for seed in sorted(values)])
    if not len(numbers):
        return None
    figures, threshold = scaled(numbers, is_log=is_log), float(scaled(bound, is_log=is_log))
    shown = unscaled(interval([figures], [1.0], scale=float(is_log)), is_log=is_log)
    return Figure(shown, bound, True, False, doubt(figures, threshold), _broken(numbers, bound, False))


def corrected(figures: Sequence[Figure], looks: int = LOOKS) -> list[Figure]:
    """Return figures whose q is corrected for their number and for the rounds in which they are judged.

    p is multiplied by the number of rounds (Bonferroni), because undecided figures are judged again with more seeds.
    """
    qs = contrasts.corrected([min(1.0, looks * figure.p) for figure in figures])
    return [replace(figure, q=q) for figure, q in zip(figures, qs.tolist(), strict=True)]


def judge(kept: Figure | None, *others: Figure | None) -> Outcome:
    """Return the outcome of an expectation from its figure, and from other figures that must not get worse.

    If one of those gets worse, the outcome is harm. One run refutes an upper limit, since it can be repeated.
    """
    if any(map(is_worse, others)):
        return HARMS
    if kept is None:
        return NOT_DECIDED
    if kept.absolute and kept.broken:
        return NOT_REPRODUCED
    if not kept.is_shown:
        return NOT_DECIDED
    return REPRODUCED if kept.keeps else NOT_REPRODUCED


def is_worse(figure: Figure | None) -> bool:
    """Whether the runs show that a threshold is missed."""
    return figure is not None and figure.is_shown and not figure.keeps


def overall(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome over several scenarios: the worst one."""
    worst = (HARMS, NOT_REPRODUCED, NOT_DECIDED, REPRODUCED)
    return next((outcome for outcome in worst if outcome in outcomes), NOT_DECIDED)


def _breaks(value: float, threshold: float, rising: bool) -> bool:
    return value < threshold - _ROUNDING if rising else value > threshold + _ROUNDING


def _broken(values: NDArray[np.float64], threshold: float, rising: bool) -> int:
    return sum(_breaks(value, threshold, rising) for value in values.tolist())
