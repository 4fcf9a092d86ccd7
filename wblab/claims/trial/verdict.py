"""Judge an expectation from pairs of runs with the same seed. Pure functions: figures in, verdicts out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from wblab.analysis.statistics import contrasts
from wblab.analysis.statistics.decision import (
    HARMS,
    NOT_DECIDED,
    NOT_REPRODUCED,
    REPRODUCED,
    Decision,
    Outcome,
    at_least,
    at_most,
    located,
)
from wblab.analysis.statistics.intervals import Interval

# Shorter waits go unnoticed (J. Nielsen, "Response Times: The 3 Important Limits", 1993): they count as this long.
NOTICED_S = 0.1
HARM_PERCENT = 110  # less than 10 % longer is no harm
RELIEF_PERCENT = 90  # less than 10 % shorter is no relief
LOOKS = 3  # rounds in which a difference is judged: each can err
_ROUNDING = 1e-9


@dataclass(frozen=True)
class JudgedFigure:
    """A figure with its threshold, and whether it is on the good side of that.

    absolute: in its own unit; otherwise a ratio to the default. rising: more is better. q: the decision's p, corrected
    for all figures.
    """

    decision: Decision
    threshold: float
    absolute: bool
    rising: bool
    q: float = 1.0

    @property
    def interval(self) -> Interval:
        """Its 95 % interval over seeds."""
        return self.decision.interval

    @property
    def p(self) -> float:
        """The least doubt at which the interval excludes the threshold."""
        return 1.0 if self.decision.p is None else self.decision.p

    @property
    def broken(self) -> int:
        """The number of runs beyond the threshold."""
        return self.decision.seeds - self.decision.held

    @property
    def outcome(self) -> Outcome:
        """Whether the runs show that it is on the good side."""
        return self.decision.outcome(self.q)

    @property
    def is_open(self) -> bool:
        """Whether more seeds could decide: the interval contains the threshold, and no run has refuted it."""
        low, high = self.interval.low, self.interval.high
        if self.decision.is_refuted:
            return False
        return low is None or high is None or (low < high and low <= self.threshold <= high)


def ratio_figure(
    changed: Mapping[int, float], before: Mapping[int, float], percent: float, *, rising: bool, floor: float
) -> JudgedFigure | None:
    """Return the change of a metric: the geometric mean of the ratios of runs with the same seed; None without runs.

    percent: the threshold, relative to `before`. floor: smaller values count as this.
    """
    seeds = sorted(changed.keys() & before.keys())
    ratios = [max(changed[seed], floor) / max(before[seed], floor) for seed in seeds]
    if not seeds:
        return None
    threshold = percent / 100
    wanted = at_least(threshold * (1 - _ROUNDING)) if rising else at_most(threshold * (1 + _ROUNDING))
    return JudgedFigure(located(ratios, wanted, is_log=True), threshold, False, rising)


def bound_figure(values: Mapping[int, float], bound: float, *, is_log: bool = False) -> JudgedFigure | None:
    """Return the mean of a metric with its upper limit, in its own unit; None without runs.

    is_log: for times, see wblab.analysis.statistics.decision.
    """
    numbers = [values[seed] for seed in sorted(values)]
    if not numbers:
        return None
    wanted = at_most(bound + _ROUNDING)
    return JudgedFigure(located(numbers, wanted, is_log=is_log, never=True), bound, True, False)


def corrected(figures: Sequence[JudgedFigure], looks: int = LOOKS) -> list[JudgedFigure]:
    """Return figures whose q is corrected for their number and for the rounds in which they are judged.

    p is multiplied by the number of rounds (Bonferroni), because undecided figures are judged again with more seeds.
    """
    qs = contrasts.corrected([min(1.0, looks * figure.p) for figure in figures])
    return [replace(figure, q=q) for figure, q in zip(figures, qs.tolist(), strict=True)]


def judge(kept: JudgedFigure | None, *others: JudgedFigure | None) -> Outcome:
    """Return the outcome of an expectation from its figure, and from other figures that must not get worse.

    If one of those gets worse, the outcome is harm. One run refutes an upper limit, since it can be repeated.
    """
    if any(map(is_worse, others)):
        return HARMS
    return NOT_DECIDED if kept is None else kept.outcome


def is_worse(figure: JudgedFigure | None) -> bool:
    """Whether the runs show that a threshold is missed."""
    return figure is not None and figure.outcome == NOT_REPRODUCED


def overall(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome over several scenarios: the worst one."""
    worst = (HARMS, NOT_REPRODUCED, NOT_DECIDED, REPRODUCED)
    return next((outcome for outcome in worst if outcome in outcomes), NOT_DECIDED)
