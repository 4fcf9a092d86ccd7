"""Tables for people, laid out by rich: bold heads and as wide as the terminal; plain and never wrapped elsewhere."""

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING

from wblab.lab.printable import printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_APART = 2  # letters between columns
_WRAPPED = 24  # letters: so narrow a last column of words may be
_UNWRAPPED = 10_000  # letters: where nobody says how wide a line may be, it is as wide as it must be


@dataclass(frozen=True)
class Table:
    """Rows of cells below their heads, if it has any; columns whose numbers are in `right` are aligned there.

    Cells may be what others wrote: they are made fit to be printed, and are no markup. A terminal that is too narrow
    gets fewer columns, never cut ones: those of `spare` go first, then the last ones.
    """

    rows: Sequence[Sequence[str]]
    heads: Sequence[str] = ()
    right: frozenset[int] = frozenset()
    spare: tuple[int, ...] = ()

    def lines(self) -> list[str]:
        """Return the table as a file or a pipe gets it."""
        try:
            return plain(self._rich())
        except ImportError:  # a system Python without packages: runs and their checks need none
            return ["  ".join(map(printable, row)).rstrip() for row in (self.heads, *self.rows) if row]

    def show(self) -> None:
        """Print the table on standard output."""
        if not sys.stdout.isatty():
            print("\n".join(self.lines()))
            return
        fitting, left_out = self.within(shutil.get_terminal_size().columns)
        try:
            show(fitting._rich())
        except ImportError:
            print("\n".join(fitting.lines()))
        if left_out:
            count = "1 column" if left_out == 1 else f"{left_out} columns"
            print(f"({count} left out: see a wider terminal, a file or --json)")

    def _repr_html_(self) -> str:
        """Return the table as a notebook shows it."""
        from html import escape  # its table of entities is for notebooks alone

        def row(cells: Sequence[str], tag: str) -> str:
            looks = ("right" if place in self.right else "left" for place in range(len(cells)))
            shown = (
                f'<{tag} style="text-align: {look}">{escape(printable(cell))}</{tag}>'
                for look, cell in zip(looks, cells, strict=True)
            )
            return f"<tr>{''.join(shown)}</tr>"

        head = f"<thead>{row(self.heads, 'th')}</thead>" if self.heads else ""
        return f"<table>{head}<tbody>{''.join(row(cells, 'td') for cells in self.rows)}</tbody></table>"

    def within(self, width: int) -> "tuple[Table, int]":
        """Return the table with as many columns as a width holds, and how many were left out."""
        columns = max(map(len, self.rows), default=len(self.heads))
        kept = list(range(columns))
        widths = [max(len(printable(row[at])) for row in (self.heads, *self.rows) if at < len(row)) for at in kept]
        for at in (*self.spare, *reversed(range(1, columns))):
            if self._width([widths[each] for each in kept], kept[-1] not in self.right) <= width:
                break
            if at in kept and len(kept) > 1:
                kept.remove(at)
        rows = [[row[at] for at in kept if at < len(row)] for row in self.rows]
        heads = [self.heads[at] for at in kept if at < len(self.heads)]
        right = frozenset(place for place, at in enumerate(kept) if at in self.right)
        return Table(rows, heads, right), columns - len(kept)

    @staticmethod
    def _width(widths: Sequence[int], last_wraps: bool) -> int:
        """Return how wide columns are at least: a last one of words may be wrapped."""
        last = min(widths[-1], _WRAPPED) if last_wraps else widths[-1]
        return sum(widths[:-1]) + last + _APART * (len(widths) - 1)

    def _rich(self) -> "RenderableType":
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(box=None, pad_edge=False, padding=(0, _APART, 0, 0), show_header=bool(self.heads))
        columns = max(map(len, self.rows), default=len(self.heads))
        for place, head in enumerate([*self.heads, *[""] * (columns - len(self.heads))]):
            justify, is_last = "right" if place in self.right else "left", place == columns - 1
            table.add_column(Text(head, "bold"), justify=justify, no_wrap=not is_last, overflow="fold")  # type: ignore[arg-type]
        for row in self.rows:
            table.add_row(*(Text(printable(cell)) for cell in row))  # a str would be markup
        return table


def terminal() -> "Console | None":
    """Return what prints on the terminal; None where standard output is none."""
    from rich.console import Console

    return Console(highlight=False) if sys.stdout.isatty() else None


def show(shown: "RenderableType") -> None:
    """Print what rich can lay out on standard output."""
    if output := terminal():
        output.print(shown)
    else:
        print("\n".join(plain(shown)))


def plain(shown: "RenderableType") -> list[str]:
    """Return what rich lays out as lines without styles, none of them wrapped, whatever the terminal is."""
    from rich.console import Console

    written = StringIO()
    Console(
        file=written, width=_UNWRAPPED, color_system=None, force_terminal=False, force_jupyter=False, highlight=False
    ).print(shown)
    return [line.rstrip() for line in written.getvalue().split("\n")][:-1]
