"""A claim of an author: what it says, the runs that it needs, and its check."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from wblab.analysis.statistics import contrasts
from wblab.analysis.statistics.decision import NOT_DECIDED, NOT_TESTABLE, Range
from wblab.claims.sources.sample import Sample
from wblab.study.statement import Verdict, judge, over_seeds

Samples = Mapping[str, Sequence[Sample]]  # by case, in the order of seeds


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
