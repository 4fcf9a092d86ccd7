"""The table of a study's results: a row for each cell, seed, load and metric.

It is written without pandas, whose import takes longer than the boot of a guest.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.lab.formats import COLUMNS
from wblab.study.cells import Cell, Label
from wblab.study.plan import Further, Plan

if TYPE_CHECKING:
    import pyarrow as pa

    from wblab.analysis.runs.metrics import Row

_MOST_INT64 = (1 << 63) - 1

Part = tuple[Cell, int, str, "list[Row]"]  # cell, seed, name and metrics of a run


def run_rows(directory: Path, further: Collection[Further]) -> "list[Row]":
    """Return the metrics of the run in a directory. Raises InputError if it is damaged."""
    from wblab.analysis.runs.metrics import metric_rows
    from wblab.analysis.runs.run import read_run

    run = read_run(directory)
    if "causes" in further:
        from wblab.analysis.why.metrics import cause_metrics

        rows = metric_rows(run, cause_metrics)
    else:
        rows = metric_rows(run)
    if "requests" in further:
        from wblab.analysis.runs.metrics import request_rows

        rows += request_rows(run)
    return rows


def results_table(plan: Plan, parts: Sequence[Part]) -> "pa.Table":
    """Return the table of these runs."""
    import pyarrow as pa

    from wblab.analysis.runs.metrics import with_zeros

    kinds = {axis: levels_kind([cell.levels[axis] for cell in plan.cells]) for axis in plan.cells[0].levels}
    kinds |= {"cell": str, "seed": int} | dict.fromkeys(COLUMNS[:-1], str) | {COLUMNS[-1]: float}
    columns: list[list[Label]] = [[] for _ in kinds]
    for (cell, seed, run, _), rows in zip(parts, with_zeros(part[-1] for part in parts), strict=True):
        front = (*cell.levels.values(), cell.name, seed, run)
        for column, kind, value in zip(columns, kinds.values(), front, strict=False):
            column.extend([kind(value)] * len(rows))
        for column, values in zip(columns[len(front) :], zip(*rows, strict=True), strict=False):
            column.extend(values)
    return pa.Table.from_arrays([*map(_column, columns, kinds.values())], names=[*kinds])


def levels_kind(levels: Sequence[Label]) -> type[Label]:
    """Return the type of an axis' column: text if the levels are of several types, or too large for int64."""
    kinds = {type(level) for level in levels}
    large = any(isinstance(level, int) and level > _MOST_INT64 for level in levels)
    return kinds.pop() if len(kinds) == 1 and not large else str


def _column(values: Sequence[Label], kind: type[Label]) -> "pa.Array":
    """Return values of one type as a column. `pyarrow.array` is avoided because it imports pandas."""
    import numpy as np
    import pyarrow as pa

    if kind is str:
        texts = pa.lib.StringBuilder()
        texts.append_values(values)
        return texts.finish()
    numbers = np.array(values, np.int64 if kind is int else np.float64)
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(values), [None, pa.py_buffer(numbers)])
