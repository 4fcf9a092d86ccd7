"""The Parquet files in which a large study has a row of each run. Somebody else may have written them."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.core.errors import InputError
from wblab.core.files import open_file
from wblab.lab.formats import ROW_COLUMNS, ROWS

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_PARTS, _MOST_ROWS, _MOST_COLUMNS = 64, 1 << 17, 10_000
_MOST_BYTES = 1 << 30


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
    return sum(read_part(path, ("seed",)).num_rows for path in part_paths(study))


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
