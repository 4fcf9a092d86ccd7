"""The lines of an atlas: what a claim, or an expectation of a recommendation, came to in each of its cells."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wblab.claims.atlas.made import MadeTarget
from wblab.claims.atlas.target import SOURCES, AtlasRow, Target
from wblab.claims.trial import NAME as TRIAL
from wblab.core.spec import Filesystem

Column = tuple[str, Filesystem]  # a series and a filesystem


@dataclass(frozen=True)
class AtlasCell:
    """One line on one kernel and filesystem. row: None if this part of the atlas is not made.

    address: its anchor on the page: 7.2-ext4-openat-ext4.
    """

    target: Target
    address: str
    row: AtlasRow | None

    @property
    def outcome(self) -> str:
        """Its outcome; empty if it is not made."""
        return self.row.verdict if self.row else ""

    @property
    def link(self) -> str:
        """The place of its figures, relative to the atlas; empty without runs."""
        return f"{self.target.name}/{self.row.link}" if self.row and self.row.link else ""


@dataclass(frozen=True)
class AtlasLine:
    """A claim, or an expectation of a recommendation, with a cell for each column. about: see `Row`."""

    source: str
    name: str
    about: str
    says: str
    cells: tuple[AtlasCell, ...]


def columns_of(made: Sequence[MadeTarget]) -> list[Column]:
    """Return the kernels and filesystems of an atlas, in its order."""
    return list(dict.fromkeys((item.target.series, item.target.filesystem) for item in made))


def lines_of(made: Sequence[MadeTarget], source: str, columns: Sequence[Column]) -> list[AtlasLine]:
    """Return the lines of a source, in its order; none if no target of it is made."""
    rows = {
        (item.target.series, item.target.filesystem, row.name, row.says): row
        for item in made
        if item.target.source == source
        for row in item.rows
    }
    known = {(name, says): row for (_, _, name, says), row in rows.items()}
    count: dict[str, int] = {}
    found = []
    for (name, says), row in known.items():
        count[name] = count.get(name, 0) + 1
        anchor = _anchor(source, name, count[name])
        cells = tuple(
            AtlasCell(
                Target(series, filesystem, source),
                f"{series}-{filesystem}-{anchor}",
                rows.get((series, filesystem, name, says)),
            )
            for series, filesystem in columns
        )
        found.append(AtlasLine(source, name, row.about, says, cells))
    return found


def all_lines(made: Sequence[MadeTarget], columns: Sequence[Column]) -> dict[str, list[AtlasLine]]:
    """Return the lines of each source of which something is made, in the order of the sources."""
    return {source: found for source in SOURCES if (found := lines_of(made, source, columns))}


def missing(made: Sequence[MadeTarget], columns: Sequence[Column], sources: Iterable[str]) -> list[Target]:
    """Return the targets that are not made, of these columns and sources."""
    there = {item.target for item in made}
    possible = (Target(*column, source) for column in columns for source in sources)
    return [target for target in possible if target not in there]


def _anchor(source: str, name: str, number: int) -> str:
    """Return the end of an address. number: the place of an expectation among those of its recommendation."""
    if source != TRIAL:
        return name
    return f"{TRIAL}-{name}" + (f"-{number}" if number > 1 else "")
