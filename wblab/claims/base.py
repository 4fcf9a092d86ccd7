"""What a claim is, and what becomes of it: figures over seeds, and a verdict."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wblab.claims.sample import Sample
from wblab.data.outcome import NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED, Outcome
from wblab.data.statistics import LEAST_RUNS, interval

# A claim is reproduced if it holds for at least this share of the seeds.
MOST = 0.8
LEAST_PAIRS = LEAST_RUNS  # an interval over fewer seeds would say nothing
_LEAST = 1e-6

Samples = Mapping[str, Sequence[Sample]]  # by case, in the order of seeds


@dataclass(frozen=True)
class Effect:
    """The figure that decides: one value for each seed, in `unit`, and what stands for all of them with its spread.

    spread says what low and high are.
    """

    what: str
    unit: str
    values: tuple[float, ...]
    middle: float
    low: float
    high: float
    spread: str


@dataclass(frozen=True)
class Verdict:
    """What became of a claim. why: what was found, or why nothing can be; held: for how many seeds."""

    outcome: Outcome
    why: str
    effect: Effect | None = None
    held: int | None = None


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


def over_seeds(what: str, unit: str, values: Sequence[float]) -> Effect:
    """Return a figure's median over seeds, with the least and the greatest."""
    array = np.asarray(values, np.float64)
    low, middle, high = (float(value) for value in (array.min(), np.median(array), array.max()))
    return Effect(what, unit, tuple(array.tolist()), middle, low, high, "least and greatest of all seeds")


def judge(effect: Effect, holds: Callable[[float], bool], wanted: str, why: str = "") -> Verdict:
    """Return a verdict by how many seeds hold; `wanted` says what a seed must show."""
    held = sum(holds(value) for value in effect.values)
    outcome = REPRODUCED if held >= MOST * len(effect.values) else NOT_REPRODUCED
    text = f"Wanted: {wanted}; held by {held} of {len(effect.values)} seeds"
    return Verdict(outcome, f"{text}. {why}" if why else text, effect, held)


def ratio(what: str, changed: Sequence[float], before: Sequence[float]) -> Effect:
    """Return how many times as large a figure is with a change: the geometric mean of the seeds' ratios.

    Its spread is a 95 % interval over seeds, see wblab.data.statistics. A figure below 1 µs counts as 1 µs. Raises
    ValueError for fewer than LEAST_PAIRS seeds.
    """
    logs = np.log(np.maximum(changed, _LEAST)) - np.log(np.maximum(before, _LEAST))
    found = interval([logs], [1.0], scale=1.0)
    if found.low is None or found.high is None:
        raise ValueError(f"{found.runs} seeds are too few for an interval")
    middle, low, high = (math.exp(value) for value in (found.estimate, found.low, found.high))
    return Effect(what, "×", tuple(np.exp(logs).tolist()), middle, low, high, "95 % interval over seeds")


@dataclass(frozen=True)
class Measure:
    """A figure of one run, what a run must show for the claim to hold, and what to say besides."""

    what: str
    unit: str
    of: Callable[[Sample], float]
    holds: Callable[[float], bool]
    wanted: str
    note: str = ""

    def on(self, case: str) -> Callable[[Samples], Verdict]:
        """Return the check that measures each run of a case."""

        def check(samples: Samples) -> Verdict:
            effect = over_seeds(self.what, self.unit, [self.of(sample) for sample in samples[case]])
            return judge(effect, self.holds, self.wanted, self.note)

        return check
