"""How a finding's values and tables are written, on its page and in a mail: no figure is typed by hand."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from wblab.claims.finding.finding import FigureTable, Finding, FindingColumn, FindingValue, Levels
from wblab.claims.finding.kept import Judged, Kept, MeasuredPoint
from wblab.report.listing import Listing
from wblab.report.quantities import quantity, spread, unit_of

WIDTH = 72  # columns of a mail
_INDENT = "  "
_NONE = "–"
_TOGETHER = "\N{NO-BREAK SPACE}"
_LONGEST = 20  # letters: that a narrow column of a phone has room for
Layout = Callable[[Sequence[str], Sequence[Sequence[str]]], str]


def value_words(value: FindingValue, measured: MeasuredPoint | None) -> str:
    """Return a value: the median over seeds, and the least to the most."""
    if measured is None:
        return _NONE
    values, unit = measured.values(value), unit_of(value.metric)
    if value.shown == "median":
        return quantity(median(values), unit)
    return spread(values, unit)


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table for a page."""
    cells = [[_unbroken(cell) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *cells))


def plain(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table for a mail; if it is wider than 72 columns, with a line for each value."""
    lines = Listing(rows, heads).lines()
    if max(map(len, lines)) > WIDTH - len(_INDENT):
        lines = [heads[0]]
        for label, *values in rows:
            pairs = [(f"  {head}", value) for head, value in zip(heads[1:], values, strict=True)]
            lines += [label, *Listing(pairs).lines()]
    return "\n".join(f"{_INDENT}{line}" for line in lines)


@dataclass(frozen=True)
class FindingWords:
    """What a template's holes stand for: {{ value.NAME }}, {{ table.NAME }}, {{ seeds }} and {{ releases }}."""

    finding: Finding
    kept: Kept
    layout: Layout

    @property
    def value(self) -> Mapping[str, str]:
        """The values with a name."""
        named = self.finding.value.items()
        return {name: value_words(each, self.kept.get(each.point())) for name, each in named}

    @property
    def table(self) -> Mapping[str, str]:
        """The tables."""
        return {name: self.layout(*self.cells(each)) for name, each in self.finding.table.items()}

    def cells(self, table: FigureTable) -> tuple[list[str], list[list[str]]]:
        """Return a table's heads and rows."""
        heads = [table.head, *(column.head for column in table.columns)]
        rows = [
            [label, *(self._cell(table, column, at) for column in table.columns)] for label, at in table.rows.items()
        ]
        return heads, rows

    def _cell(self, table: FigureTable, column: FindingColumn, at: Levels) -> str:
        return value_words(column, self.kept.get(column.point(table.matrix, at)))

    @property
    def seeds(self) -> str:
        """How many seeds each cell has: 10, or 5 to 10."""
        counts = {len(each.seeds) for each in self.kept.values()}
        return " to ".join(map(str, sorted({min(counts), max(counts)}))) if counts else _NONE

    @property
    def releases(self) -> str:
        """The kernels that ran."""
        return ", ".join(sorted({each.release for each in self.kept.values()}, key=_newest, reverse=True))


def _newest(release: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", release)[:3]]


def _unbroken(cell: str) -> str:
    """Return a cell that breaks before its range only; a long label breaks between words, not within one."""
    parts = cell.split(" (")
    is_figure = cell[:1].isdigit() and all(len(part) <= _LONGEST for part in parts)
    return " (".join(part.replace(" ", _TOGETHER) for part in parts) if is_figure else cell


def judged_words(one: Judged, finding: Finding) -> str:
    """Return in how many runs a statement holds, and the values."""
    value = finding.value[one.statement.value]
    unit, number = unit_of(value.metric), len(one.values)
    middle = spread(one.values, unit)
    if one.others:
        middle += f", instead of {spread(one.others, unit)}"
    held = f"in all {number} runs" if one.holds else f"in {one.verdict.held} of {number} runs"
    return f"{held if number > 1 else 'in the run' if one.holds else 'not in the run'}, {middle}"


def judged_json(found: Sequence[Judged], finding: Finding) -> list[dict[str, object]]:
    """Return what runs say of statements as JSON values."""
    return [
        {
            "text": one.statement.text,
            "holds": one.holds,
            "holds_in": one.verdict.held,
            "metric": finding.value[one.statement.value].metric,
            "values": list(one.values),
            "instead_of": list(one.others),
        }
        for one in found
    ]
