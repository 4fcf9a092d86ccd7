"""The runs of a bundle whose study keeps rows: as a table, and one of them by its name."""

from collections.abc import Iterator

from wblab.core.errors import InputError
from wblab.core.loads import KINDS, Load
from wblab.core.units import NS_PER_S
from wblab.lab.tables import Table
from wblab.publish.bundle.read import Opened
from wblab.publish.bundle.words import SHOWN, run_named
from wblab.report.quantities import duration
from wblab.study.cells import run_name
from wblab.study.rowat import RowAt
from wblab.study.rowfile import RunRow
from wblab.study.store import Store


class RowsOf:
    """The rows of a bundle, in the order of their names."""

    def __init__(self, found: Opened) -> None:
        """Read them. Raises InputError if they are damaged."""
        self._file = found.file
        self.store = Store.open(found.directory)
        self.rows = sorted(self.store.rows.all(), key=lambda row: row.name)

    def table(self) -> Table:
        """Return a table of the first of them."""
        shown = [(row.name, _longest(row), row.digest[:12]) for row in self.rows[:SHOWN]]
        return Table(shown, ("run", "longest pause", "digest"), frozenset({1}), spare=(2,))

    def chosen(self, text: str | None) -> RowAt:
        """Return the row of a run's name or of CELL/SEED; by default the first. Raises InputError."""
        runs = {run_name(cell, seed): (cell, seed) for cell, seed in self.store.plan.runs()}
        names = [row.name for row in self.rows]
        name = names[0] if text is None else run_named(text)
        if name not in names:
            few = ", ".join([*names[:SHOWN], *(["…"] if len(names) > SHOWN else [])])
            raise InputError(f"{str(self._file)!r} has no run {text!r}: it has {few}")
        return RowAt(self.store, *runs[name])


def _longest(row: RunRow) -> str:
    """Return the longest pause of the innocent loads."""
    found = list(_longest_pauses(row))
    return duration(NS_PER_S * max(found)) if found else "-"


def _longest_pauses(row: RunRow) -> Iterator[float]:
    for _, kind, metric, value in row.metrics:
        if metric == "longest_pause_s" and KINDS.get(kind, Load).role == "innocent":
            yield value
