"""The claimed differences as lines of text that fit: a table where it does, else a paragraph for each figure."""

import textwrap
from collections.abc import Sequence

from wblab.lab.printable import printable
from wblab.lab.tables import Table
from wblab.report.metricnames import unit_of
from wblab.report.quantities import span
from wblab.study.designs.ab.figures import Figure
from wblab.study.designs.ab.words import row

BY_RANKS = "by ranks: an exact test of ranks (Mann-Whitney) claims it, not the interval of the means"


def claims(figures: Sequence[Figure], width: int, *, numbered: bool) -> list[str]:
    """Return the lines of these figures: times first, then all others. numbered: with the numbers of their steps."""
    times = [item for item in figures if unit_of(item.about.metric) == "s"]
    others = [item for item in figures if item not in times]
    lines = [line for part in (times, others) if part for line in [*_part(part, width, numbered), ""]][:-1]
    return [*lines, *([BY_RANKS] if any(item.difference.is_by_ranks for item in figures) else [])]


def _part(figures: Sequence[Figure], width: int, numbered: bool) -> list[str]:
    rows = [(_name(item, numbered), row(item), _interval(item)) for item in figures]
    cells = [(name, words.a, words.b, interval) for name, words, interval in rows]
    lines = Table(cells, ("", "A", "B", "B - A"), frozenset({1, 2, 3})).lines()
    if max(map(len, lines)) <= width:
        return lines
    said = (f"{name}: A {words.a}, B {words.b}, B - A {interval}" for name, words, interval in rows)
    return [line for each in said for line in textwrap.wrap(printable(each), width, subsequent_indent="    ")]


def _name(item: Figure, numbered: bool) -> str:
    words = row(item)
    return f"{f'{item.pair.number + 1}. ' if numbered else ''}{words.spec} {words.load} {words.metric}"


def _interval(item: Figure) -> str:
    found = item.difference.interval
    if found.low is None or found.high is None:
        return row(item).interval
    ends = span(found.low, found.high, unit_of(item.about.metric), signed=True)
    return f"{ends}, by ranks" if item.difference.is_by_ranks else ends
