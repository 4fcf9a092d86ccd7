"""What runs say of a finding's statements."""

from dataclasses import dataclass

from wblab.claims.finding.finding import Finding, OfValues
from wblab.claims.finding.kept import Kept
from wblab.study.statement import Verdict


@dataclass(frozen=True)
class Judged:
    """A statement, the values of each seed, what they are compared with, and the verdict."""

    statement: OfValues
    values: tuple[float, ...]
    others: tuple[float, ...]
    verdict: Verdict

    @property
    def holds(self) -> bool:
        """Whether it holds in every run."""
        return self.verdict.in_runs == "in every run"


def judged(finding: Finding, kept: Kept) -> list[Judged]:
    """Return what values say of each statement that they are about; the others are left out."""
    return [one for statement in finding.statement if (one := _judged(statement, finding, kept))]


def _judged(statement: OfValues, finding: Finding, kept: Kept) -> Judged | None:
    values = _values(statement.value, finding, kept)
    others = _values(statement.shorter, finding, kept) if statement.shorter else ()
    if not values or (statement.shorter and not others):
        return None
    seen = min(len(values), len(others or values))
    return Judged(statement, values[:seen], others[:seen], statement.judge(values, others))


def _values(name: str, finding: Finding, kept: Kept) -> tuple[float, ...]:
    value = finding.value[name]
    measured = kept.get(value.point())
    return measured.values(value) if measured else ()
