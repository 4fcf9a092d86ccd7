"""The row of a run: what a study keeps of it, read from its directory, and as Parquet.

docs/reference/rows.md lists the columns.
"""

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.core.errors import InputError, WblabError
from wblab.core.files import parse_json, read_bytes
from wblab.core.loads import KINDS, Load
from wblab.lab.formats import EXPERIMENT, KIND, OF_LOAD, ROW_COLUMNS, RUN
from wblab.lab.held import replace_file
from wblab.study.cells import Cell, Label, name_of
from wblab.study.inputs import inputs_of
from wblab.study.plan import Further

if TYPE_CHECKING:
    import pyarrow as pa

    from wblab.analysis.runs.metrics import Row
    from wblab.analysis.runs.run import Run


# The cells of a study that keeps rows: JSON, compressed with Zstandard. Their specs differ little from each other.

_MOST_PACKED_BYTES, _MOST_BYTES = 64 << 20, 512 << 20  # of 100,000 cells
_MOST_VALUES = 25_000_000  # of them, too; Python takes some 60 bytes for an empty one
_CELLS_LEVEL = 9


def write_cells(path: Path, cells: Sequence[Any]) -> None:
    """Write cells, each as a JSON object. Raises OSError."""
    import zstandard

    content = json.dumps(cells, ensure_ascii=False, separators=(",", ":")).encode()
    with replace_file(path) as file:
        file.write(zstandard.ZstdCompressor(level=_CELLS_LEVEL).compress(content))


def is_same_file(path: Path, other: Path) -> bool:
    """Return whether two such files have the same bytes. Raises InputError."""
    return _packed(path) == _packed(other)


def read_cells(path: Path) -> Any:
    """Return the value in such a file, which may be a stranger's. Raises InputError."""
    import zstandard

    packed = _packed(path)
    try:
        with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(packed) as stream:
            content = stream.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ValueError(f"it has more than {_MOST_BYTES >> 20} MiB")
        if sum(map(content.count, (b",", b"[", b"{"))) > _MOST_VALUES:
            raise ValueError(f"it has more than {_MOST_VALUES:,} values")
        return parse_json(content)
    except (ValueError, zstandard.ZstdError) as error:
        raise InputError(f"{path} is damaged: {' '.join(str(error).split())[:200]}") from None


def _packed(path: Path) -> bytes:
    try:
        return read_bytes(path, _MOST_PACKED_BYTES)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}: was the study copied without it?") from None


_DIGEST = re.compile(r"[0-9a-f]{64}")
_LEVEL = 12  # of zstd: a part is written seldom
_MOST_INT64 = (1 << 63) - 1
_OWN = {"seed": int, "wall_s": float}  # columns of these that are no text


@dataclass(frozen=True)
class RunRow:
    """A run. digest: SHA-256 of its measurements, hexadecimal; empty if its directory was kept, which has them.

    made_with: its inputs beside the spec, by name. wall_s: how long it took. metrics: load, kind, metric and value, in
    the metric's unit.
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

    @property
    def longest_s(self) -> float | None:
        """The longest pause of the innocent loads, in s; None if there is none of them."""
        innocent = [
            value
            for _, kind, metric, value in self.metrics
            if metric == "longest_pause_s" and KINDS.get(kind, Load).role == "innocent"
        ]
        return max(innocent, default=None)

    def check(self) -> None:
        """Raise ValueError or TypeError unless each value is of its kind."""
        texts = (self.kernel_build, self.cpu, *self.made_with, *self.made_with.values())
        if not (self.digest == "" or _DIGEST.fullmatch(self.digest)) or not all(
            isinstance(text, str) for text in texts
        ):
            raise ValueError(f"the row of {self.name!r} has a digest or texts that are none")
        if not isinstance(self.seed, int) or not all(math.isfinite(value) for *_, value in self.metrics):
            raise ValueError(f"the row of {self.name!r} has numbers that are none")


def row_of(directory: Path, cell: Cell, seed: int, metrics: "Sequence[Row]", digest: str = "") -> RunRow:
    """Return the row of the run in a directory. Metrics that are no numbers are left out.

    digest: of its measurements, if that is known. A run that failed has a wall_s of 0. Raises InputError if its record
    is damaged.
    """
    record, numbers = RUN.read(directory / EXPERIMENT), [row for row in metrics if math.isfinite(row[-1])]
    try:
        build, cpu = str(record["kernel"]["build_id"]), str(record["host"].get("cpu", ""))
        row = RunRow(
            cell.name, seed, digest, build, cpu, inputs_of(record), float(record.get("wall_s") or 0.0), numbers
        )
        row.check()
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{directory} is damaged: {type(error).__name__}: {error}") from None
    return row


def run_rows(directory: Path, further: Collection[Further]) -> "list[Row]":
    """Return the metrics of the run in a directory. Raises InputError if it is damaged."""
    from wblab.analysis.runs.run import read_run

    return rows_of_run(read_run(directory), further)


def rows_of_run(run: "Run", further: Collection[Further]) -> "list[Row]":
    """Return the metrics of a run. Raises InputError if its trace is damaged."""
    from wblab.analysis.runs.metrics import metric_rows

    if "causes" in further:
        from wblab.analysis.why.explanations import cause_metrics

        rows = metric_rows(run, cause_metrics)
    else:
        rows = metric_rows(run)
    if "requests" in further:
        from wblab.analysis.runs.metrics import request_rows

        rows += request_rows(run)
    return rows


def table_of(rows: Sequence[RunRow], levels: Mapping[str, Mapping[str, Label]]) -> "pa.Table":
    """Return rows as a table. levels: of each cell, by axis; all cells have the same axes."""
    import pyarrow as pa

    axes = next(iter(levels.values()))
    kinds = {axis: levels_kind([of[axis] for of in levels.values()]) for axis in axes}
    columns = {axis: _column([kinds[axis](levels[row.cell][axis]) for row in rows], kinds[axis]) for axis in axes}
    own = {name: [getattr(row, name) for row in rows] for name in ("cell", "seed", *ROW_COLUMNS)}
    own |= {"made_with": [_text(row.made_with) for row in rows]}
    columns |= {name: _column(values, _OWN.get(name, str)) for name, values in own.items()}
    measured: dict[str, list[Any]] = {}
    for place, row in enumerate(rows):
        for load, kind, metric, value in row.metrics:
            for what, one in ((KIND, kind), (metric, value)):
                if (name := f"{load}{OF_LOAD}{what}") not in measured:
                    measured[name] = [None] * len(rows)
                measured[name][place] = one
    for name in sorted(measured):
        columns[name] = _column(measured[name], str if name.endswith(f"{OF_LOAD}{KIND}") else float)
    return pa.Table.from_arrays([*columns.values()], names=[*columns])


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


def levels_kind(levels: Sequence[Label]) -> type[Label]:
    """Return the type of an axis' column: text if the levels are of several types, or too large for int64."""
    kinds = {type(level) for level in levels}
    large = any(isinstance(level, int) and level > _MOST_INT64 for level in levels)
    return kinds.pop() if len(kinds) == 1 and not large else str


def _column(values: Sequence[Label | None], kind: type[Label]) -> "pa.Array":
    """Return values of one type, or None, as a column. `pyarrow.array` is avoided because it imports pandas."""
    import numpy as np
    import pyarrow as pa

    if kind is str:
        texts = pa.lib.StringBuilder()
        texts.append_values(values)
        return texts.finish()
    numbers = np.array(values, np.int64 if kind is int else np.float64)  # None becomes NaN
    buffers = [pa.py_buffer(np.packbits(~np.isnan(numbers), bitorder="little")), pa.py_buffer(numbers)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(values), buffers)


def _text(made_with: Mapping[str, str]) -> str:
    return json.dumps(made_with, sort_keys=True, ensure_ascii=False)
