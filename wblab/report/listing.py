"""A list of things that a verb prints, laid out as the tables of reports are."""

from collections.abc import Sequence
from dataclasses import dataclass

from wblab.report.report import Column, Report, Row, Table
from wblab.report.text import block_lines, show


@dataclass(frozen=True)
class Listing:
    """Rows of cells below their heads, if it has any; columns whose numbers are in `right` are aligned there.

    Cells may be what others wrote. A narrow terminal gets fewer columns: those of `spare` go first, in this order. The
    last column may be wrapped.
    """

    rows: Sequence[Sequence[str]]
    heads: Sequence[str] = ()
    right: frozenset[int] = frozenset()
    spare: tuple[int, ...] = ()

    def lines(self) -> list[str]:
        """Return the list as a file or a pipe gets it."""
        return block_lines(self.table())

    def show(self) -> None:
        """Print the list on standard output."""
        show(Report("", "", (self.table(),)))

    def table(self) -> Table:
        """Return it as a table of a report."""
        count = max(map(len, (self.heads, *self.rows)))
        heads = (*self.heads, *[""] * (count - len(self.heads)))
        columns = [
            Column(
                head,
                "number" if at in self.right else "prose" if at == count - 1 else "name",
                len(self.spare) - self.spare.index(at) if at in self.spare else 0,
            )
            for at, head in enumerate(heads)
        ]
        rows = tuple(Row((*row, *[""] * (count - len(row)))) for row in self.rows)
        return Table(tuple(columns), rows, has_page=False)
