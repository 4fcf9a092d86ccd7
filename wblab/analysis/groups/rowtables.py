"""The files in which a study has a row of each run, and their table. Somebody else may have written them."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.core.errors import InputError
from wblab.core.files import open_file, read_bytes
from wblab.lab.formats import COLUMNS, JOURNAL, KIND, OF_LOAD, ROW_COLUMNS, ROWS

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_MOST_PARTS, _MOST_ROWS, _MOST_COLUMNS = 64, 1 << 17, 10_000
_MOST_BYTES = 1 << 30
MOST_JOURNAL_BYTES = 256 << 20


def part_paths(study: Path) -> list[Path]:
    """Return the files, in order. Raises InputError for too many."""
    found = sorted((study / ROWS).glob("[0-9]*.parquet"))
    if len(found) > _MOST_PARTS:
        raise InputError(f"{study / ROWS} has {len(found)} files: this lab reads {_MOST_PARTS}")
    return found


def has_rows(study: Path) -> bool:
    """Return whether a directory is that of a study with rows."""
    return any((study / ROWS).glob("[0-9]*.parquet"))


def count_rows(study: Path) -> int:
    """Return the number of rows. Raises InputError for damaged files."""
    return sum(int(read_part(path, ("seed",)).num_rows) for path in part_paths(study)) + count_waiting(study)


def count_waiting(study: Path) -> int:
    """Return how many rows are in no file yet: those of a study that is being made, or was killed."""
    try:
        return read_bytes(study / ROWS / JOURNAL, MOST_JOURNAL_BYTES).count(b"\n")
    except OSError:
        return 0


def read_part(path: Path, columns: Iterable[str] | None = None) -> "pa.Table":
    """Read a file of rows, or some of its columns. Raises InputError for a damaged or too large one."""
    from pyarrow.parquet import ParquetFile

    try:
        with open_file(path) as stream:
            file = ParquetFile(stream)
            about = file.metadata
            if about.num_rows > _MOST_ROWS or about.num_columns > _MOST_COLUMNS:
                raise ValueError(f"{about.num_rows} rows of {about.num_columns} columns are too many")
            if sum(about.row_group(place).total_byte_size for place in range(about.num_row_groups)) > _MOST_BYTES:
                raise ValueError("it is too large")
            if missing := [name for name in ("cell", "seed", *ROW_COLUMNS) if name not in file.schema_arrow.names]:
                raise ValueError(f"it has no column {missing[0]!r}")
            return file.read(list(columns) if columns else None)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or 'is it a Parquet file?'}") from None
    except Exception as error:  # a parser may raise anything for a damaged file
        raise InputError(f"{path} is damaged: {' '.join(str(error).split())[:200]}") from None


def long_table(study: Path, most_rows: int) -> "pd.DataFrame":
    """Return the rows of a study as a tidy table: axes, cell, seed, and `COLUMNS`; a line for each metric of a load.

    A load that has its paused time by cause gets 0 s for causes that only other runs have. Raises InputError for
    damaged files, and ValueError or KeyError for more than `most_rows` or missing columns.
    """
    import pandas as pd
    import pyarrow as pa

    from wblab.analysis.runs.metrics import UNKNOWN_S, is_cause

    def values_of(load: str, metric: str) -> "pd.Series[float]":
        """Return a metric of a load in each run, where it has it."""
        values: pd.Series[float] = wide[f"{load}{OF_LOAD}{metric}"]
        unknown = f"{load}{OF_LOAD}{UNKNOWN_S}"
        if is_cause(metric) and unknown in wide:
            return values.where(values.notna() | wide[unknown].isna(), 0.0)
        return values

    parts = pa.concat_tables(map(read_part, part_paths(study)), promote_options="default")
    wide: pd.DataFrame = parts.to_pandas(ignore_metadata=True)
    names = {name: tuple(name.split(OF_LOAD)) for name in wide.columns if OF_LOAD in name}
    front = [name for name in wide.columns if name not in names and name not in ROW_COLUMNS]
    measured = {pair: values_of(*pair) for pair in sorted(names.values()) if pair[1] != KIND}
    if sum(int(values.notna().sum()) for values in measured.values()) > most_rows:
        raise ValueError(f"it has more than {most_rows} figures")
    own = wide[front].assign(run=wide["cell"] + "-s" + wide["seed"].astype(str))
    tables = []
    for (load, metric), values in measured.items():
        kinds = wide[f"{load}{OF_LOAD}{KIND}"]
        tables.append(own.assign(load=load, kind=kinds, metric=metric, value=values)[values.notna()])
    table: pd.DataFrame = pd.concat(tables, ignore_index=True)
    return table[[*front, *COLUMNS]]
