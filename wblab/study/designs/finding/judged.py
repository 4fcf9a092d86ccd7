"""What runs say of a finding's statements."""

from dataclasses import dataclass

from wblab.study.designs.finding.finding import Finding, Statement
from wblab.study.designs.finding.kept import Kept
from wblab.study.designs.witness.kept import HALF
from wblab.study.designs.witness.result import STALLED_S


@dataclass(frozen=True)
class Judged:
    """A statement, the values of each seed, and in how many of them it holds. others: what it is compared with."""

    statement: Statement
    values: tuple[float, ...]
    holds_in: int
    others: tuple[float, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether it holds in every run; there is at least one."""
        return bool(self.values) and self.holds_in == len(self.values)


def judged(finding: Finding, kept: Kept) -> list[Judged]:
    """Return what values say of each statement that they are about; the others are left out."""
    return [one for statement in finding.statement if (one := _judged(statement, finding, kept))]


def _judged(statement: Statement, finding: Finding, kept: Kept) -> Judged | None:
    values = _values(statement.value, finding, kept)
    others = _values(statement.shorter, finding, kept) if statement.shorter else ()
    if not values or (statement.shorter and not others):
        return None
    seen = [_holds(statement, *pair) for pair in zip(values, others or values, strict=False)]
    return Judged(statement, values[: len(seen)], sum(seen), others[: len(seen)])


def _holds(statement: Statement, value: float, other: float) -> bool:
    if statement.shorter:
        return value <= HALF * other
    return (value > STALLED_S) == (statement.are == "stalled")


def _values(name: str, finding: Finding, kept: Kept) -> tuple[float, ...]:
    value = finding.value[name]
    measured = kept.get(value.point())
    return measured.values(value) if measured else ()
