"""A finding: what is claimed, the cells of matrices that show it, who pays, since when, and the proposal.

A directory of experiments/findings has it:

    finding.toml    the claim, statements, values and tables: this module
    figures.json    the kept values: kept.py
    verdicts.json   the kept verdicts on claims, if the finding shows some: claimed.py
    trace.txt       an excerpt of a trace, if the finding names a run for it: excerpt.py
    page.md         the page in docs/findings, with holes for values and tables
    mail.txt        the mail of an export, likewise; without it the finding is not exported
    reproduce/      shell scripts that show it without the lab
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from wblab.core.errors import InputError, nearest
from wblab.core.tables import from_table
from wblab.lab.places import FINDINGS
from wblab.lab.specfile import read_toml
from wblab.study.statement import Statement

FILE = "finding.toml"
Levels = dict[str, str | int]


@dataclass(frozen=True)
class Point:
    """A cell of a matrix, by its levels."""

    matrix: str
    at: tuple[tuple[str, str | int], ...]

    def __str__(self) -> str:
        return f"{self.matrix}: {', '.join(f'{axis} {level}' for axis, level in self.at)}"


@dataclass(frozen=True, kw_only=True)
class FindingValue:
    """A metric of a cell: in each run, the largest among the loads, or the smallest.

    shown: with the range over all seeds, or without.
    """

    matrix: str = ""
    at: Levels = field(default_factory=dict)
    loads: tuple[str, ...]
    metric: str = "longest_pause_s"
    of: Literal["largest", "smallest"] = "largest"
    shown: Literal["spread", "median"] = "spread"

    def point(self, matrix: str = "", at: Levels | None = None) -> Point:
        """Return the cell. matrix, at: those of the table that the value is a column of, and of the row."""
        return Point(self.matrix or matrix, tuple(sorted(((at or {}) | self.at).items())))


@dataclass(frozen=True, kw_only=True)
class FindingColumn(FindingValue):
    """A column of a table: a value whose levels lack those of the row."""

    head: str


@dataclass(frozen=True, kw_only=True)
class FigureTable:
    """Values side by side. rows: the levels of each, by its label."""

    matrix: str = ""
    head: str = ""
    columns: tuple[FindingColumn, ...]
    rows: dict[str, Levels]


@dataclass(frozen=True, kw_only=True)
class ClaimTable:
    """Verdicts on claims of a work, side by side for several kernels. rows: a claim's name, by its few words here."""

    source: str
    head: str = "claim"
    kernels: tuple[str, ...]
    rows: dict[str, str]
    seeds: int = 10


@dataclass(frozen=True, kw_only=True)
class OfValues(Statement):
    """A statement about one of the finding's values, by its name; `shorter` names another one."""

    value: str

    @property
    def values(self) -> list[str]:
        """The names of the values that it is about."""
        return [name for name in (self.value, self.shorter) if name]


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """The run whose trace is shown: with seed 1, of a cell, in the longest pause of a load.

    disk: only events of this one, as the kernel names it (98:16). events: their fields, by name. count: of lines.
    """

    matrix: str
    at: Levels = field(default_factory=dict)
    load: str
    disk: str
    events: dict[str, tuple[str, ...]]
    count: int = 9

    def point(self) -> Point:
        """Return its cell."""
        return Point(self.matrix, tuple(sorted(self.at.items())))


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A finding. proposal: a variant of the lab's kernels. fixes: commits, as a mail names them.

    seeds: how many each cell of a matrix has in figures.json, by the matrix, unless it is the ten of all others.
    """

    title: str
    claim: str
    since: str
    pays: str
    helps: str
    statement: tuple[OfValues, ...]
    value: dict[str, FindingValue]
    table: dict[str, FigureTable] = field(default_factory=dict)
    claims: dict[str, ClaimTable] = field(default_factory=dict)
    proposal: str = ""
    fixes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    trace: tuple[Excerpt, ...] = ()
    seeds: dict[str, int] = field(default_factory=dict)

    def shown(self) -> Iterator[tuple[Point, FindingValue]]:
        """Yield all values with their cells: those with a name, then those of tables."""
        yield from ((value.point(), value) for value in self.value.values())
        for table in self.table.values():
            for at in table.rows.values():
                yield from ((column.point(table.matrix, at), column) for column in table.columns)

    def tested(self) -> Iterator[tuple[Point, FindingValue]]:
        """Yield the values that statements are about."""
        for statement in self.statement:
            for name in statement.values:
                yield self.value[name].point(), self.value[name]


def names(folder: Path = FINDINGS) -> list[str]:
    """Return the names of all findings."""
    return sorted(path.parent.name for path in folder.glob(f"*/{FILE}"))


def find(name: str, folder: Path = FINDINGS) -> Path:
    """Return a finding's directory. Raises InputError, which names the nearest."""
    known = names(folder)
    if name not in known:
        raise InputError(f"no finding {name!r}{nearest(name, known)}: choose from {', '.join(known)}")
    return folder / name


def read(directory: Path) -> Finding:
    """Return the finding in a directory. Raises InputError if it is not valid."""
    path = directory / FILE
    try:
        found = from_table(Finding, read_toml(path, "finding"))
        for statement in found.statement:
            _check(statement, found.value)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return found


def _check(statement: OfValues, values: dict[str, FindingValue]) -> None:
    for name in statement.values:
        if name not in values:
            raise InputError(f"statement {statement.text!r}: no value {name!r}{nearest(name, list(values))}")
