"""Find a run of which only a row was kept, by the path that its directory would have."""

from dataclasses import dataclass
from pathlib import Path

from wblab.lab.formats import ROWS, RUNS
from wblab.study.cells import Cell, run_name
from wblab.study.rowfile import RunRow
from wblab.study.store import Store


@dataclass(frozen=True)
class RowAt:
    """A run of a study that kept its row."""

    store: Store
    cell: Cell
    seed: int

    def row(self) -> RunRow:
        """Return the row. Raises InputError if the study is damaged."""
        return self.store.rows.one(self.cell.name, self.seed)


def row_at(results: Path, name: str) -> RowAt | None:
    """Return the row of STUDY/runs/NAME, a path or below the results; None if there is none.

    Raises InputError if the study is damaged.
    """
    for path in (Path(name), results / name):
        study = path.parent.parent
        if path.parent.name == RUNS and not path.exists() and (study / ROWS).is_dir():
            store = Store.open(study)
            runs = {run_name(cell, seed): (cell, seed) for cell, seed in store.plan.runs()}
            if path.name in runs and path.name in store.rows.names():
                return RowAt(store, *runs[path.name])
    return None
