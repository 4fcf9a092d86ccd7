"""A claim, its figures over seeds, and its verdict."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from wblab.analysis.statistics import contrasts
from wblab.analysis.statistics.decision import (
    LEAST,
    NOT_DECIDED,
    NOT_TESTABLE,
    Decision,
    Outcome,
    Range,
    located,
    shared,
)
from wblab.analysis.statistics.intervals import LEAST_RUNS
from wblab.report.quantities import percent
from wblab.study.sources.sample import Sample

_LOGARITHMIC = ("s", "ms", "×")  # units of figures that are never negative
_LEAST = 1e-6

Samples = Mapping[str, Sequence[Sample]]  # by case, in the order of seeds


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
    """The verdict on a claim. why: what was found, or why the claim cannot be tested.

    held: number of seeds that show the claim. decision: the statistics of the outcome, if seeds decide it.
    """

    outcome: Outcome
    why: str
    effect: Effect | None = None
    held: int | None = None
    decision: Decision | None = None


@dataclass(frozen=True)
class Claim:
    """A claim of an author. says: the claim in short. source: where it is made. cases: the runs that `check` needs.

    A claim without cases cannot be tested; its check returns the reason.
    """

    name: str
    says: str
    source: str
    cases: tuple[str, ...]
    check: Callable[[Samples], Verdict]


@dataclass(frozen=True)
class Work:
    """A work with its claims, in its order. title: of the report. cites: citation of the work."""

    title: str
    cites: str
    claims: tuple[Claim, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its claims; no other work has them."""
        return tuple(claim.name for claim in self.claims)


def untested(why: str) -> Callable[[Samples], Verdict]:
    """Return the check of a claim that the lab cannot test."""
    return lambda samples: Verdict(NOT_TESTABLE, why)


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
    low, middle, high = (float(value) for value in (array.min(), np.median(array), array.max()))
    return Effect(what, unit, figures, middle, low, high, "median, least and greatest of all seeds", is_log)


def judge(effect: Effect, holds: Range, wanted: str, why: str = "", *, each: bool = False) -> Verdict:
    """Return the verdict on a figure that must lie in `holds`; wanted: the same in words.

    The interval over seeds decides. each: every run must show the claim, as if it says "never"; then the share of seeds
    that show it decides. The share also decides if a value is infinite or missing.
    """
    held, seeds = sum(value in holds for value in effect.values), len(effect.values)
    text = f"Expected: {wanted}; met by {held} of {seeds} seeds"
    if each or not all(map(math.isfinite, effect.values)):
        decision = shared(held, seeds)
        low, high = decision.interval.low or 0.0, decision.interval.high or 0.0
        text += f" (95 % interval: {percent(low)} to {percent(high)} of runs)"
    else:
        decision = located(effect.values, holds, is_log=effect.is_log)
    return Verdict(decision.outcome(), f"{text}. {why}" if why else text, effect, held, decision)


def settled(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts with p values corrected for how many are judged together (Benjamini-Hochberg)."""
    doubts = [math.nan if item.decision is None or item.decision.p is None else item.decision.p for item in verdicts]
    return [_settled(item, q) for item, q in zip(verdicts, contrasts.corrected(doubts).tolist(), strict=True)]


def _settled(verdict: Verdict, q: float) -> Verdict:
    if verdict.decision is None:
        return verdict
    outcome = verdict.decision.outcome(None if math.isnan(q) else q)
    more = ". More seeds may decide it" if outcome == NOT_DECIDED else ""
    return replace(verdict, outcome=outcome, why=f"{verdict.why}{more}")


def ratio(what: str, changed: Sequence[float], before: Sequence[float]) -> Effect:
    """Return the figure with a change / without it, seed by seed; values below 1e-6 count as 1e-6."""
    ratios = np.maximum(changed, _LEAST) / np.maximum(before, _LEAST)
    return over_seeds(what, "×", ratios.tolist())


@dataclass(frozen=True)
class Measure:
    """A figure of one run; holds: where it must lie; wanted: the same in words; note: added to the verdict.

    each: see `judge`.
    """

    what: str
    unit: str
    of: Callable[[Sample], float]
    holds: Range
    wanted: str
    note: str = ""
    each: bool = False

    def on(self, case: str) -> Callable[[Samples], Verdict]:
        """Return the check that measures each run of a case."""

        def check(samples: Samples) -> Verdict:
            effect = over_seeds(self.what, self.unit, [self.of(sample) for sample in samples[case]])
            return judge(effect, self.holds, self.wanted, self.note, each=self.each)

        return check
