"""What a claim is, and what becomes of it: figures over seeds, and a verdict."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from wblab.claims.sample import Sample
from wblab.data import discoveries
from wblab.data.decision import Decision, Range, located, shared
from wblab.data.outcome import NOT_DECIDED, NOT_TESTABLE, Outcome
from wblab.data.statistics import LEAST_RUNS
from wblab.report.quantities import percent

_LOGARITHMIC = ("s", "ms", "×")  # units of what is never negative
_LEAST = 1e-6

Samples = Mapping[str, Sequence[Sample]]  # by case, in the order of seeds


@dataclass(frozen=True)
class Effect:
    """The figure that decides: one value for each seed, in `unit`, and what stands for all of them with its spread.

    middle, low, high: `spread` says what they are. is_log: logarithms of its values are compared, see
    wblab.data.decision.
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
    """What became of a claim. why: what was found, or why nothing can be.

    held: how many seeds show it. decision: what the outcome rests on, where seeds decide it.
    """

    outcome: Outcome
    why: str
    effect: Effect | None = None
    held: int | None = None
    decision: Decision | None = None


@dataclass(frozen=True)
class Claim:
    """says: in short, what its author claims. source: where. cases: the runs that `check` looks at, see `cases`.

    A claim without cases cannot be tested here; its check says why.
    """

    name: str
    says: str
    source: str
    cases: tuple[str, ...]
    check: Callable[[Samples], Verdict]


@dataclass(frozen=True)
class Work:
    """A work with its claims, in its order. title: of a report on them. cites: the work, as one names it."""

    title: str
    cites: str
    claims: tuple[Claim, ...]


def untested(why: str) -> Callable[[Samples], Verdict]:
    """Return the check of a claim that nothing in the lab can test."""
    return lambda samples: Verdict(NOT_TESTABLE, why)


def over_seeds(what: str, unit: str, values: Sequence[float], *, is_log: bool | None = None) -> Effect:
    """Return a figure over seeds: its mean with a 95 % interval; of few seeds the median, with least and greatest.

    is_log: the mean is the geometric one; by default, that of times and ratios is.
    """
    array = np.asarray(values, np.float64)
    figures = tuple(array.tolist())
    is_log = unit in _LOGARITHMIC if is_log is None else is_log
    if len(array) >= LEAST_RUNS and np.isfinite(array).all():
        found = located(figures, Range(), is_log=is_log).interval
        if found.low is not None and found.high is not None:
            kind = "geometric mean" if is_log else "mean"
            spread = f"{kind}, 95 % interval over seeds"
            return Effect(what, unit, figures, found.estimate, found.low, found.high, spread, is_log)
    low, middle, high = (float(value) for value in (array.min(), np.median(array), array.max()))
    return Effect(what, unit, figures, middle, low, high, "median, least and greatest of all seeds", is_log)


def judge(effect: Effect, holds: Range, wanted: str, why: str = "", *, each: bool = False) -> Verdict:
    """Return a verdict on where a figure must lie; `wanted` says it in words.

    Its interval over seeds decides. each: every run must show it, as where somebody says "never"; then the share of the
    seeds that do decides, as it does of figures that are infinite or missing in some.
    """
    held, seeds = sum(value in holds for value in effect.values), len(effect.values)
    text = f"Wanted: {wanted}; held by {held} of {seeds} seeds"
    if each or not all(map(math.isfinite, effect.values)):
        decision = shared(held, seeds)
        low, high = decision.interval.low or 0.0, decision.interval.high or 0.0
        text += f" (95 %: {percent(low)} to {percent(high)} of all runs)"
    else:
        decision = located(effect.values, holds, is_log=effect.is_log)
    return Verdict(decision.outcome(), f"{text}. {why}" if why else text, effect, held, decision)


def settled(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return verdicts whose doubts are corrected for how many are judged together (Benjamini-Hochberg)."""
    doubts = [math.nan if item.decision is None or item.decision.p is None else item.decision.p for item in verdicts]
    return [_settled(item, q) for item, q in zip(verdicts, discoveries.corrected(doubts).tolist(), strict=True)]


def _settled(verdict: Verdict, q: float) -> Verdict:
    if verdict.decision is None:
        return verdict
    outcome = verdict.decision.outcome(None if math.isnan(q) else q)
    more = ". More seeds may decide it" if outcome == NOT_DECIDED else ""
    return replace(verdict, outcome=outcome, why=f"{verdict.why}{more}")


def ratio(what: str, changed: Sequence[float], before: Sequence[float]) -> Effect:
    """Return how many times as large a figure is with a change, seed by seed; one below 1e-6 counts as that much."""
    ratios = np.maximum(changed, _LEAST) / np.maximum(before, _LEAST)
    return over_seeds(what, "×", ratios.tolist())


@dataclass(frozen=True)
class Measure:
    """A figure of one run, where it must lie for the claim to hold, the same in words, and what to say besides.

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
