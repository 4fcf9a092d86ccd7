"""An atlas as a report: where kernels differ, then the claims of each work on every kernel and filesystem."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from wblab.analysis.statistics.decision import HARMS, NOT_DECIDED, NOT_REPRODUCED, NOT_TESTABLE, OUTCOMES, REPRODUCED
from wblab.claims.atlas import NAME
from wblab.claims.atlas.atlaslines import AtlasCell, AtlasLine, all_lines, columns_of, missing
from wblab.claims.atlas.atlaslines import Column as AtlasColumn
from wblab.claims.atlas.differences import DECIDED, NOT_EXPLAINED, ComparedTarget, Sort, by_filesystem, compared
from wblab.claims.atlas.made import MadeTarget
from wblab.claims.atlas.target import SOURCES, AtlasRow
from wblab.claims.sources.changes import KernelChange
from wblab.claims.sources.registry import WORKS
from wblab.claims.trial import NAME as TRIAL
from wblab.claims.trial.recommendations import WISDOM
from wblab.core.spec import Filesystem
from wblab.lab.formats import REPORT
from wblab.report.palette import Look, look_of
from wblab.report.quantities import enumerated
from wblab.report.report import Block, Cell, Column, Points, Report, Row, Section, Span, Table, Words

PAGE = "index.html"
NOT_MADE = Look("not made", "unmade", "", "", "·", "", "")
_OF_CLAIMS = (REPRODUCED, NOT_REPRODUCED, NOT_DECIDED, NOT_TESTABLE)
_OF_TRIAL = (REPRODUCED, NOT_REPRODUCED, HARMS, NOT_DECIDED, NOT_TESTABLE)
_MOST = 20  # rows in a terminal
_EACH = "Each that differs, with its figures"
_NOWHERE = "No claim or expectation has different decided outcomes on the same filesystem."
_SORTS: Mapping[Sort, tuple[str, str]] = {
    "differs": (
        "Where kernels differ",
        "Decided on two kernels at least, with different outcomes on the same filesystem. Of claims that differ only "
        "in the filesystem they are about, the table has the one that fits.",
    ),
    "not decided": (
        "Not decided on every kernel",
        "What is decided agrees, but more seeds are needed on some kernels.",
    ),
    "not testable": ("Not testable on every kernel", "What is decided agrees, but some kernels cannot be tested."),
}


@dataclass(frozen=True)
class Atlas:
    """The parts of the report of an atlas, which the docs have too.

    about: where a change of the kernel is described. figure: how much of a figure is shown. is_whole: with the claims
    of each work, so that the cells of a comparison lead to theirs.
    """

    made: Sequence[MadeTarget]
    about: Callable[[KernelChange], Span] = lambda change: Span(f"docs/{change.finding}", form="code")
    figure: Callable[[str], str] = str
    is_whole: bool = True

    def differing(self) -> Iterator[Block]:
        """Yield where kernels differ; of a whole report also the figures, and what is not decided or not testable."""
        if len(self._releases) == 1:
            return
        for sort, (head, about) in _SORTS.items():
            items = [item for item in self._compared if item.sort == sort]
            if sort == "differs" and items:
                each = [Section(_EACH, (about, *self._comparison(items)), "folded")] if self.is_whole else []
                yield Section(head, (*self._alike(items), *_changes(items, self.about), *each))
            elif sort == "differs":
                yield Section(head, (_NOWHERE,))
            elif items and self.is_whole:
                yield Section(head, (about, *self._comparison(items)), "folded")

    def sources(self, *, overview: bool = True) -> Iterator[Section]:
        """Yield the claims of each work, and the expectations of recommendations, on each kernel and filesystem.

        overview: first a table with the signs of all kernels.
        """
        for source, lines in self._lines.items():
            alone = WISDOM.stem if source == TRIAL else source
            made, again = (Span(f"wblab study {words}", form="code") for words in (f"{NAME} {source}", alone))
            blocks: list[Block] = [(made, "; on one kernel: ", again, ".")]
            if overview:
                blocks += [f"The signs are of Linux {self._tested}, in this order.", self._overview(source, lines)]
            blocks += [found for filesystem in self._filesystems for found in self._on(source, filesystem, lines)]
            if reasons := tuple(self._reasons(lines)):
                blocks.append(Section("Not testable", (Points(reasons),), "folded"))
            yield Section(_title(source), tuple(blocks), "page")

    def missing(self) -> Iterator[str]:
        """Yield what is missing of all sources on these kernels and filesystems."""
        series = list(self._releases)
        parts = []
        for filesystem, source in product(self._filesystems, SOURCES):
            columns = [(name, filesystem) for name in series]
            left = [target.series for target in missing(self.made, columns, [source])]
            if left:
                parts.append(f"{source} on {filesystem}" + ("" if left == series else f" ({', '.join(left)})"))
        if parts:
            yield f"Not made yet: {'; '.join(parts)}."

    def tested(self) -> str:
        """Return the kernels and filesystems."""
        return f"Tested on Linux {self._tested} with the lab's patches, and on {enumerated(self._filesystems)}."

    def about_cells(self) -> Iterator[str]:
        """Yield of how many seeds figures are, and that each cell has an address."""
        if self._usual_seeds:
            yield f"A figure is of {self._usual_seeds} seeds if it does not say of how many."
        first = next(iter(self._lines.values()))[0]
        yield f"Each cell of a page has an address, such as #{first.cells[0].address}."

    def headline(self) -> str:
        """Return how many lines differ between kernels."""
        if len(self._releases) == 1:
            return f"The atlas has only Linux {self._tested}. Make it with another kernel to compare."
        found = sum(item.sort == "differs" for item in self._compared)
        if not found:
            return _NOWHERE
        what = "1 claim or expectation has" if found == 1 else f"{found} claims and expectations have"
        return f"{what} different outcomes on Linux {self._tested}."

    def agreement(self) -> str:
        """Return in how many outcomes kernels differ, of those that two or more decide, and how many are explained."""
        items = [item for item in self._compared if item.sort == "differs"]
        decided = sum(
            sum(cell.outcome in DECIDED for cell in cells) > 1
            for lines in self._lines.values()
            for line in lines
            for _, cells in by_filesystem(line)
        )
        known = sum(item.changed is not None for item in items)
        return (
            f"Kernels agree on all but {len(items)} of {decided:,} outcomes; a known commit explains {known} of these."
        )

    def to_json(self) -> dict[str, Any]:
        """Return all cells, where kernels differ, and what is not made, as JSON objects.

        Each cell has its outcome, figure and reason. A part that is not made has none.
        """
        cells = [(line, cell) for found in self._lines.values() for line in found for cell in line.cells]
        return {
            "cells": [
                {"address": cell.address, "link": cell.link, "about": line.about, "says": line.says}
                | {"outcome": cell.outcome, "figure": cell.row.figure, "seeds": cell.row.seeds, "why": cell.row.why}
                for line, cell in cells
                if cell.row
            ],
            "compared": [
                {"name": item.line.name, "says": item.line.says, "filesystem": item.filesystem, "sort": item.sort}
                | {"outcomes": {cell.target.series: cell.outcome or NOT_MADE.word for cell in item.cells}}
                | {"since": item.since}
                for item in self._compared
            ],
            "not_made": [item.name for item in missing(self.made, self._columns, self._lines)],
        }

    def _alike(self, items: Sequence[ComparedTarget]) -> Iterator[Block]:
        """Yield tables of outcomes alone: lines of a source with the same ones on a filesystem share a row."""
        groups: dict[tuple[str, ...], list[ComparedTarget]] = {}
        for item in items:
            since = item.changed.by.since if item.changed else ""
            groups.setdefault((item.line.source, item.filesystem, since, *self._signs(item)), []).append(item)
        rows: dict[str, list[Row]] = {}
        for (source, filesystem, since, *signs), found in groups.items():
            rows.setdefault(_kind(source), []).append(Row((_together(found), filesystem, *signs, since)))
        yield f"Of {len(items)} claims and expectations, those with the same outcomes share a row."
        yield "No cause is known where the last column is empty."
        for kind, own in rows.items():
            columns = (Column(kind, "prose"), Column("on"), *map(Column, self._releases.values()))
            yield Table((*columns, Column("since", "name", 1)), tuple(own), _MOST)

    def _signs(self, item: ComparedTarget) -> list[str]:
        """Return the sign of each kernel's outcome."""
        by_series = {cell.target.series: cell for cell in item.cells}
        return [_sign(by_series.get(series)).text for series in self._releases]

    def _comparison(self, items: Sequence[ComparedTarget]) -> Iterator[Block]:
        """Yield a table with a row for each line and filesystem, and a column for each kernel."""
        has_cause = items[0].sort == "differs"
        rows = []
        for item in items:
            by_series = {cell.target.series: cell for cell in item.cells}
            cells = (self._shown(by_series.get(series)) for series in self._releases)
            rows.append(Row((_what(item.line), item.filesystem, *cells, *([_since(item)] if has_cause else []))))
        columns = (Column("claim or expectation", "prose"), Column("on"), *map(Column, self._releases.values()))
        yield Table((*columns, *([Column("since", "name", 1)] if has_cause else [])), tuple(rows), _MOST)

    def _overview(self, source: str, lines: Sequence[AtlasLine]) -> Table:
        """Return a table with a row for each line and a column for each filesystem: the signs of all kernels."""
        rows = []
        for line in lines:
            cells = {(cell.target.series, cell.target.filesystem): cell for cell in line.cells}
            signs = (
                tuple(_sign(cells.get((series, filesystem))) for series in self._releases)
                for filesystem in self._filesystems
            )
            rows.append(Row((_what(line), *signs)))
        return Table((Column(_kind(source), "prose"), *map(Column, self._filesystems)), tuple(rows))

    def _on(self, source: str, filesystem: Filesystem, lines: Sequence[AtlasLine]) -> Iterator[Section]:
        """Yield a source's figures on a filesystem, on each kernel on which something of it is made."""
        places = [
            place
            for place, (_, other) in enumerate(self._columns)
            if other == filesystem and any(line.cells[place].row for line in lines)
        ]
        if places:
            heads = (Column(self._releases[self._columns[place][0]]) for place in places)
            rows = (Row((_what(line), *(self._addressed(line.cells[place]) for place in places))) for line in lines)
            table = Table((Column(_kind(source), "prose"), *heads), tuple(rows))
            yield Section(f"{_title(source)} on {filesystem}", (table,), "folded")

    def _reasons(self, lines: Sequence[AtlasLine]) -> Iterator[Words]:
        """Yield why lines are not testable, each reason once."""
        where: dict[tuple[str, str], list[str]] = {}
        for line in lines:
            for cell in line.cells:
                if cell.row and cell.row.verdict == NOT_TESTABLE:
                    on = f"{cell.target.series} {cell.target.filesystem}"
                    where.setdefault((line.name, cell.row.why), []).append(on)
        for (name, why), places in where.items():
            on = "" if len(places) == len(lines[0].cells) else f" on {', '.join(dict.fromkeys(places))}"
            yield (Span(name, form="code"), f"{on}: {why}")

    def _shown(self, cell: AtlasCell | None) -> Cell | str:
        """Return a cell of a comparison: its sign and, on a page, its figure. The sign leads to the cell itself."""
        if cell is None or cell.row is None:
            return NOT_MADE.sign
        sign = _sign(cell, None if self.is_whole else "")
        return Cell(sign, look_of(cell.row.verdict).style, tuple(filter(None, [self._figure(cell.row)])))

    def _addressed(self, cell: AtlasCell) -> Cell | str:
        """Return a cell of a source's table: its sign and figure, what decided it, and its address.

        The sign leads to the report with its runs, if it is there.
        """
        if cell.row is None:
            return NOT_MADE.sign
        why = cell.row.why if cell.row.verdict != NOT_TESTABLE else ""
        notes = tuple(filter(None, (self._figure(cell.row), why)))
        return Cell(_sign(cell, link=cell.link), look_of(cell.row.verdict).style, notes, cell.address)

    def _figure(self, row: AtlasRow) -> str:
        """Return a figure, and of how many seeds it is unless that is the usual number."""
        usual = not self.is_whole or row.seeds in ("", self._usual_seeds)
        of = "" if usual or not row.figure else f", {row.seeds} seed{'' if row.seeds == '1' else 's'}"
        return self.figure(row.figure) + of

    @property
    def _tested(self) -> str:
        return enumerated(list(self._releases.values()))

    @cached_property
    def _columns(self) -> list[AtlasColumn]:
        return columns_of(self.made)

    @cached_property
    def _lines(self) -> dict[str, list[AtlasLine]]:
        return all_lines(self.made, self._columns)

    @cached_property
    def _compared(self) -> list[ComparedTarget]:
        return compared(line for found in self._lines.values() for line in found)

    @cached_property
    def _releases(self) -> dict[str, str]:
        """The releases by series: 7.2.11 of 7.2."""
        return {one.target.series: one.release for one in self.made}

    @cached_property
    def _filesystems(self) -> list[Filesystem]:
        return list(dict.fromkeys(filesystem for _, filesystem in self._columns))

    @cached_property
    def _usual_seeds(self) -> str:
        """Of how many seeds most figures are; empty if there is no figure."""
        seeds = Counter(row.seeds for one in self.made for row in one.rows if row.figure)
        return seeds.most_common(1)[0][0] if seeds else ""


def report(made: Sequence[MadeTarget]) -> Report:
    """Return the report of an atlas."""
    found = Atlas(made)
    looks = [*map(look_of, OUTCOMES), NOT_MADE]
    signs = [part for look in looks for part in (Span(f"{look.sign} {look.word}", look.style), ", ")]
    about = "Not decided means too few seeds. Not testable: no number of seeds would help."
    return Report(
        title="What reproduces where",
        headline=found.headline(),
        blocks=(
            found.tested(),
            (*signs[:-1], f". {about}"),
            Section("", (" ".join(found.about_cells()),), "page"),
            *found.missing(),
            *found.differing(),
            *found.sources(),
            Section("What was made", (_made(made),)),
        ),
        data=found.to_json(),
    )


def counts(made: MadeTarget) -> dict[str, int]:
    """Return how many of a target's rows came out how; outcomes that there are none of, too."""
    known = _OF_TRIAL if made.target.source == TRIAL else _OF_CLAIMS
    return dict.fromkeys(known, 0) | Counter(row.verdict for row in made.rows)


def _made(made: Sequence[MadeTarget]) -> Table:
    columns = (Column("kernel"), Column("filesystem"), Column("source"), Column("outcomes", "prose"))
    rows = []
    for one in made:
        source = Span(one.target.source, link=f"{one.target.name}/{REPORT}")
        said = ", ".join(f"{count} {outcome}" for outcome, count in counts(one).items() if count)
        rows.append(Row((one.release, one.target.filesystem, source, said)))
    return Table(columns, tuple(rows), _MOST)


def _title(source: str) -> str:
    return "Recommendations" if source == TRIAL else WORKS[source].title


def _kind(source: str) -> str:
    return "expectation" if source == TRIAL else "claim"


def _what(line: AtlasLine) -> tuple[str | Span, ...]:
    return (Span(line.name, form="code"), f": {line.about}: {line.says}" if line.about else f": {line.says}")


def _together(items: Sequence[ComparedTarget]) -> Words:
    """Return what the first line says, and the names of the others."""
    names = [Span(item.line.name, form="code") for item in items[1:]]
    others = [part for name in names for part in (", ", name)][1:]
    return (*_what(items[0].line), "; also ", *others) if others else _what(items[0].line)


def _changes(items: Sequence[ComparedTarget], about: Callable[[KernelChange], Span]) -> Iterator[Block]:
    """Yield the commits that explain some of them."""
    for change in dict.fromkeys(item.changed.by for item in items if item.changed):
        yield (f'{change.commit} is "{change.subject}", in Linux {change.since}: ', about(change), ".")


def _since(item: ComparedTarget) -> str:
    """Return since when, and by which commit, the outcome differs; or that no cause is known."""
    return f"{item.changed.by.since}, by {item.changed.by.commit}" if item.changed else NOT_EXPLAINED


def _sign(cell: AtlasCell | None, link: str | None = None) -> Span:
    """Return the sign of a cell. link: where it leads, by default to the cell itself."""
    if cell is None or cell.row is None:
        return Span(NOT_MADE.sign, title=NOT_MADE.word)
    look = look_of(cell.outcome)
    return Span(look.sign, look.style, f"#{cell.address}" if link is None else link, title=look.word)
