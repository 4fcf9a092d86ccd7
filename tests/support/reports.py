"""What a report has, whatever renders it."""

from collections.abc import Iterator

from wblab.report.report import Block, Lines, Medium, Picture, Points, Report, Section, Table, shown, text_of


def blocks(report: Report, place: Medium = "folded") -> Iterator[Block]:
    """Yield the blocks of a report that a rendering has, those of sections too, each section before its own."""
    return _within(report.blocks, place)


def _within(found: tuple[Block, ...], place: Medium) -> Iterator[Block]:
    for block in found:
        if not isinstance(block, Section):
            yield block
        elif shown(block.place, place):
            yield block
            yield from _within(block.blocks, place)


def tables(report: Report, place: Medium = "folded") -> list[Table]:
    """Return the tables of a report."""
    return [block for block in blocks(report, place) if isinstance(block, Table)]


def texts(report: Report, place: Medium = "folded") -> list[str]:
    """Return the paragraphs of a report, the items of its lists, and the heads of its sections."""
    found: list[str] = []
    for block in blocks(report, place):
        if isinstance(block, Section):
            found.append(block.head)
        elif isinstance(block, Points):
            found += map(text_of, block.items)
        elif not isinstance(block, (Lines, Picture, Table)):
            found.append(text_of(block))
    return found


def cells(table: Table) -> list[list[str]]:
    """Return the texts of a table's cells, without rows that only head others."""
    return [[text_of(cell) for cell in row.cells] for row in table.rows if not isinstance(row, str)]
