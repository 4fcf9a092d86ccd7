"""One row of each run as Parquet: docs/reference/rows.md lists the columns."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.core.errors import WblabError
from wblab.lab.formats import KIND, OF_LOAD
from wblab.lab.held import replace_file
from wblab.study.cells import Cell, Label, name_of
from wblab.study.inputs import inputs_of
from wblab.study.table import levels_kind

if TYPE_CHECKING:
    import pyarrow as pa

    from wblab.analysis.runs.metrics import Row

_DIGEST = re.compile(r"[0-9a-f]{64}")
_LEVEL = 12  # of zstd: a part is written seldom


@dataclass(frozen=True)
class RunRow:
    """A run. digest: SHA-256 of its measurements, hexadecimal. made_with: its inputs beside the spec, by name.

    wall_s: how long it took. metrics: load, kind, metric and value, in the metric's unit.
    """

    cell: str
    seed: int
    digest: str
    kernel_build: str
    cpu: str
    made_with: Mapping[str, str]
    wall_s: float
    metrics: "Sequence[Row]"

    @property
    def name(self) -> str:
        """The name of the run."""
        return name_of(self.cell, self.seed)

    def check(self) -> None:
        """Raise ValueError or TypeError unless each value is of its kind."""
        texts = (self.kernel_build, self.cpu, *self.made_with, *self.made_with.values())
        if not _DIGEST.fullmatch(self.digest) or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"the row of {self.name!r} has no digest, or texts that are none")
        if not isinstance(self.seed, int) or not all(math.isfinite(value) for *_, value in self.metrics):
            raise ValueError(f"the row of {self.name!r} has numbers that are none")


def row_of(cell: Cell, seed: int, digest: str, record: Mapping[str, Any], metrics: "Sequence[Row]") -> RunRow:
    """Return the row of a run with this record."""
    build, cpu = str(record["kernel"]["build_id"]), str(record["host"].get("cpu", ""))
    return RunRow(cell.name, seed, digest, build, cpu, inputs_of(record), record.get("wall_s", 0.0), metrics)


def table_of(rows: Sequence[RunRow], levels: Mapping[str, Mapping[str, Label]]) -> "pa.Table":
    """Return rows as a table. levels: of each cell, by axis; all cells have the same axes."""
    import pyarrow as pa

    axes = next(iter(levels.values()))
    kinds = {axis: levels_kind([of[axis] for of in levels.values()]) for axis in axes}
    columns: dict[str, list[Any]] = {axis: [kinds[axis](levels[row.cell][axis]) for row in rows] for axis in axes}
    columns |= {"cell": [row.cell for row in rows], "seed": [row.seed for row in rows]}
    columns |= {"digest": [row.digest for row in rows], "kernel_build": [row.kernel_build for row in rows]}
    columns |= {"cpu": [row.cpu for row in rows], "made_with": [_text(row.made_with) for row in rows]}
    columns |= {"wall_s": [row.wall_s for row in rows]}
    measured: dict[str, list[Any]] = {}
    for place, row in enumerate(rows):
        for load, kind, metric, value in row.metrics:
            for what, one in ((KIND, kind), (metric, value)):
                name = f"{load}{OF_LOAD}{what}"
                if name not in measured:
                    measured[name] = [None] * len(rows)
                measured[name][place] = one
    return pa.table(columns | {name: measured[name] for name in sorted(measured)})


def rows_of(table: "pa.Table") -> Iterator[RunRow]:
    """Yield the rows of a table. Raises ValueError, KeyError and TypeError for one that is not of `table_of`."""
    loads = [(name, *name.split(OF_LOAD)) for name in table.column_names if OF_LOAD in name]
    for row in table.to_pylist():
        metrics = [
            (load, row[f"{load}{OF_LOAD}{KIND}"], metric, row[name])
            for name, load, metric in loads
            if metric != KIND and row[name] is not None
        ]
        own = (row["digest"], row["kernel_build"], row["cpu"], json.loads(row["made_with"]), row["wall_s"])
        yield RunRow(row["cell"], row["seed"], *own, metrics)


def write_part(path: Path, table: "pa.Table") -> None:
    """Write a file of rows at once. Raises WblabError."""
    import pyarrow as pa
    from pyarrow.parquet import write_table

    floats = [field.name for field in table.schema if pa.types.is_floating(field.type)]
    texts = [name for name in table.column_names if name not in floats and name != "digest"]
    try:
        with replace_file(path) as file:
            write_table(
                table,
                file,
                compression="zstd",
                compression_level=_LEVEL,
                use_dictionary=texts,
                column_encoding=dict.fromkeys(floats, "BYTE_STREAM_SPLIT"),
            )
    except OSError as error:
        raise WblabError(f"cannot write {path}: {error.strerror or error}") from None


def _text(made_with: Mapping[str, str]) -> str:
    return json.dumps(made_with, sort_keys=True, ensure_ascii=False)
