"""Whether an expectation is kept, from pairs of runs of the same seed. Pure: figures in, verdicts out."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wblab.analysis.statistics import discoveries
from wblab.analysis.statistics.decision import doubt, scaled, unscaled
from wblab.analysis.statistics.intervals import Interval, interval
from wblab.analysis.statistics.outcome import HARMS, NOT_DECIDED, NOT_REPRODUCED, REPRODUCED, Outcome

# Nobody notices a wait of less (J. Nielsen, "Response Times: The 3 Important Limits", 1993): it counts as this long.
NOTICED_S = 0.1
HARM_PERCENT = 110  # what takes longer by less than a tenth is no harm
RELIEF_PERCENT = 90  # and what is shorter by less, no relief
LOOKS = 3  # how often a difference is looked at where all rounds are run: each time it could err
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Figure:
    """A figure with its 95 % interval over seeds, beside a threshold.

    absolute: in its own unit; else a ratio to what was before. rising: more is better. p: the least doubt at which the
    interval excludes the threshold; q: corrected for all that were looked at. broken: how many runs missed it.
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
        """Whether the estimate keeps the threshold."""
        return not _breaks(self.interval.estimate, self.threshold, self.rising)

    @property
    def is_shown(self) -> bool:
        """Whether the runs show on which side of the threshold the truth is."""
        return self.interval.known and self.q <= discoveries.RATE

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
    """Return how a metric changes, as the geometric mean of the ratios of runs of the same seed; None without any.

    percent: the threshold, of what was before. floor: what is less counts as this much.
    """
    seeds = sorted(changed.keys() & before.keys())
    logs = np.array([math.log(max(changed[seed], floor) / max(before[seed], floor)) for seed in seeds])
    if not seeds:
        return None
    threshold = math.log(percent / 100)
    shown = unscaled(interval([logs], [1.0], scale=1.0), is_log=True)
    return Figure(shown, percent / 100, False, rising, doubt(logs, threshold), _broken(logs, threshold, rising))


def bound_figure(values: Mapping[int, float], bound: float, *, is_log: bool = False) -> Figure | None:
    """Return a metric beside what it may be at most, in its own unit, as the mean of the runs; None without any.

    is_log: of a time, see wblab.analysis.statistics.decision.
    """
    numbers = np.array([values[seed] for seed in sorted(values)])
    if not len(numbers):
        return None
    figures, threshold = scaled(numbers, is_log=is_log), float(scaled(bound, is_log=is_log))
    shown = unscaled(interval([figures], [1.0], scale=float(is_log)), is_log=is_log)
    return Figure(shown, bound, True, False, doubt(figures, threshold), _broken(numbers, bound, False))


def corrected(figures: Sequence[Figure], looks: int = LOOKS) -> list[Figure]:
    """Return figures whose q is corrected together for how many were looked at, and how often.

    Each p counts as often as it may be looked at (Bonferroni): more seeds are run where the first ones do not decide.
    """
    qs = discoveries.corrected([min(1.0, looks * figure.p) for figure in figures])
    return [replace(figure, q=q) for figure, q in zip(figures, qs.tolist(), strict=True)]


def judge(kept: Figure | None, *others: Figure | None) -> Outcome:
    """Return what became of an expectation, from the expected figure, and from those that are not to get worse.

    Who makes these worse harms, whatever else he keeps. That something never takes longer than a bound is refuted by
    one run, which can be repeated; that it holds needs runs enough, as all else.
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
    """Whether the runs show that a threshold is not kept."""
    return figure is not None and figure.is_shown and not figure.keeps


def overall(outcomes: Sequence[Outcome]) -> Outcome:
    """Return what becomes of an expectation on several scenarios: it is kept where it is kept on all."""
    worst = (HARMS, NOT_REPRODUCED, NOT_DECIDED, REPRODUCED)
    return next((outcome for outcome in worst if outcome in outcomes), NOT_DECIDED)


def _breaks(value: float, threshold: float, rising: bool) -> bool:
    return value < threshold - _ROUNDING if rising else value > threshold + _ROUNDING


def _broken(values: NDArray[np.float64], threshold: float, rising: bool) -> int:
    return sum(_breaks(value, threshold, rising) for value in values.tolist())
