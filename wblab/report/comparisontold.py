"""A comparison as it is told: the first lines, a table for each sort of difference, and notes."""

from dataclasses import dataclass

from wblab.analysis.runs.comparison import Comparison
from wblab.lab.tables import Table
from wblab.report.comparisonanswer import answer, opening
from wblab.report.comparisontext import ABOUT, chosen_sorts, differences_table, footnotes, listed

_MOST_UNKNOWN = 6  # rows, where nothing can be claimed of any


@dataclass(frozen=True)
class Told:
    """What is told first, the tables with their headings, and the notes, in order."""

    first: tuple[str, ...]
    tables: tuple[tuple[str, Table], ...]
    notes: tuple[str, ...]


def told(comparison: Comparison, most: int | None = None, *, groups: bool = False) -> Told:
    """Return what is told of a comparison. most: rows of a table; groups: whether those of a factorial one are told."""
    sorts = list(chosen_sorts(comparison))
    if groups and "group" not in sorts:
        sorts.append("group")
    comparison = comparison if "group" in sorts else comparison.without("group")
    tables, left_out = [], 0
    if most is not None and not any(item.interval.known for item in comparison.differences):
        most = min(most, _MOST_UNKNOWN)
    for sort in sorts:
        if items := listed(comparison, sort, most):
            left_out += len(listed(comparison, sort)) - len(items)
            tables.append((f"{sort}s: {ABOUT[sort]}", differences_table(items, comparison.confidence)))
    notes = [f"{left_out} more {'row' if left_out == 1 else 'rows'} with --all"] if left_out else []
    return Told((opening(comparison), answer(comparison)), tuple(tables), (*notes, *footnotes(comparison)))
