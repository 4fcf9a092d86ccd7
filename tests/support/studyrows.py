"""The rows of studies: read as a table, or invented."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from wblab.analysis.groups.observations import read_table
from wblab.analysis.runs.metrics import Row
from wblab.lab.formats import ROWS
from wblab.study.cells import Cell
from wblab.study.plan import Plan
from wblab.study.rowfile import RunRow
from wblab.study.rows import Rows
from wblab.study.store import Store


def table_of(store: Store) -> pd.DataFrame:
    """Settle a study and read its table."""
    store.settle()
    return read_table(store.path)


def write_rows(directory: Path, plan: Plan, runs: Iterable[tuple[Cell, int, list[Row]]]) -> None:
    """Write rows with these metrics into the directory of a study."""
    (directory / ROWS).mkdir(exist_ok=True)
    made = [RunRow(cell.name, seed, "", "a" * 64, "", {}, 1.0, rows) for cell, seed, rows in runs]
    Rows(directory, plan.cells).write(made)
