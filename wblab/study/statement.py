"""What is stated of runs, and its verdict: of claims, findings, and what was tried elsewhere.

A statement says where a figure lies, or how it compares with another one, on the mean over seeds or in each run. It is
written in TOML (`Statement`) or as a check in Python (`wblab.claims.sources.claim`); `judge` decides both.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from wblab.analysis.statistics.decision import (
    HALF,
    LEAST,
    Decision,
    Outcome,
    Range,
    at_most,
    located,
    over,
    shared,
)
from wblab.analysis.statistics.intervals import LEAST_RUNS
from wblab.core.errors import InputError
from wblab.report.quantities import percent

STALLED_S = 0.3  # a longer pause is one that people notice, as for wblab why --pauses
_LOGARITHMIC = ("s", "ms", "×")  # units of figures that are never negative
_LEAST = 1e-6
InRuns = Literal["in every run", "in some runs", "in no run"]


@dataclass(frozen=True)
class Effect:
    """The figure that decides: one value for each seed, in `unit`, and their middle with its spread.

    spread: what middle, low and high are. is_log: logarithms of the values are compared, see `decision`.
    """

    what: str
    unit: str
    values: tuple[float, ...]
    middle: float
    low: float
    high: float
    spread: str
    is_log: bool = False


@dataclass(frozen=True)
class Verdict:
    """The verdict on a statement. why: what was found, or why it cannot be tested.

    decision: the statistics of the outcome, if seeds decide it.
    """

    outcome: Outcome
    why: str
    effect: Effect | None = None
    decision: Decision | None = None

    @property
    def held(self) -> int | None:
        """The number of seeds that show it; None if no seed decides it."""
        return self.decision.held if self.decision else None

    @property
    def in_runs(self) -> InRuns:
        """In which of the runs it holds, of at least one."""
        held, seeds = (self.decision.held, self.decision.seeds) if self.decision else (0, 0)
        return "in no run" if not held else "in every run" if held == seeds else "in some runs"


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A sentence that each run can contradict.

    are: its loads are stalled in it, or are not. shorter: what has pauses of which these are at most HALF, with the
    same seed. It is one of the two.
    """

    text: str
    are: Literal["", "stalled", "not stalled"] = ""
    shorter: str = ""

    def __post_init__(self) -> None:
        """Raise InputError unless it is one of the two."""
        if bool(self.are) == bool(self.shorter):
            raise InputError(f"statement {self.text!r}: give either 'are' or 'shorter'")

    def judge(self, pauses_s: Sequence[float], others_s: Sequence[float] = ()) -> Verdict:
        """Return the verdict on longest pauses, one for each seed and at least one. others_s: what is compared with."""
        if self.are:
            values, unit, wanted = tuple(pauses_s), "s", f"{self.are}, {STALLED_S} s"
            holds = over(STALLED_S) if self.are == "stalled" else at_most(STALLED_S)
        else:
            pairs = zip(pauses_s, others_s, strict=False)
            values, unit, wanted = tuple(_share(one, other) for one, other in pairs), "×", "half as long"
            holds = at_most(HALF)
        return judge(_of_all(self.text, unit, values), holds, wanted, each=True)


def _share(one: float, other: float) -> float:
    return one / other if other else math.inf if one else 0.0


def over_seeds(what: str, unit: str, values: Sequence[float], *, is_log: bool | None = None) -> Effect:
    """Return a figure over seeds: mean with 95 % interval; for too few seeds the median with least and greatest.

    is_log: use the geometric mean; by default for times and ratios. It needs a value above LEAST.
    """
    array = np.asarray(values, np.float64)
    figures = tuple(array.tolist())
    is_log = unit in _LOGARITHMIC if is_log is None else is_log
    if len(array) >= LEAST_RUNS and np.isfinite(array).all() and not (is_log and array.max() <= LEAST):
        found = located(figures, Range(), is_log=is_log).interval
        if found.low is not None and found.high is not None:
            kind = "geometric mean" if is_log else "mean"
            spread = f"{kind}, 95 % interval over seeds"
            return Effect(what, unit, figures, found.estimate, found.low, found.high, spread, is_log)
    return _of_all(what, unit, figures, is_log=is_log)


def _of_all(what: str, unit: str, figures: tuple[float, ...], *, is_log: bool = False) -> Effect:
    low, middle, high = (float(value) for value in (np.min(figures), np.median(figures), np.max(figures)))
    spread = "median, least and greatest of all seeds"
    return Effect(what, unit, figures, middle, low, high, spread, is_log)


def judge(effect: Effect, holds: Range, wanted: str, why: str = "", *, each: bool = False) -> Verdict:
    """Return the verdict on a figure that must lie in `holds`; wanted: the same in words.

    The interval over seeds decides. each: every run must show the claim, as if it says "never"; then the share of seeds
    that show it decides. The share also decides if a value is infinite or missing.
    """
    by_share = each or not all(map(math.isfinite, effect.values))
    if by_share:
        decision = shared(sum(value in holds for value in effect.values), len(effect.values))
    else:
        decision = located(effect.values, holds, is_log=effect.is_log)
    text = f"Expected: {wanted}; met by {decision.held} of {decision.seeds} seeds"
    if by_share:
        low, high = decision.interval.low or 0.0, decision.interval.high or 0.0
        text += f" (95 % interval: {percent(low)} to {percent(high)} of runs)"
    return Verdict(decision.outcome(), f"{text}. {why}" if why else text, effect, decision)


def ratio(what: str, changed: Sequence[float], before: Sequence[float]) -> Effect:
    """Return the figure with a change / without it, seed by seed; values below 1e-6 count as 1e-6."""
    ratios = np.maximum(changed, _LEAST) / np.maximum(before, _LEAST)
    return over_seeds(what, "×", ratios.tolist())
