"""The rows of a study: one of each run that counts.

    rows/0000.parquet   a row for each run; a full part is never written again
    rows/journal.jsonl  runs that are in no part yet, a line each, written as they end: a killed study loses none

Any run in virtual time can be made anew from its row (wblab repeat), and is the same to the bit.
"""

import json
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.analysis.groups.rowtables import MOST_JOURNAL_BYTES, part_paths, read_part
from wblab.core.errors import InputError, WblabError
from wblab.core.files import parse_json, read_bytes
from wblab.lab.formats import JOURNAL, ROWS
from wblab.lab.held import replace_file
from wblab.study.cells import Cell, name_of
from wblab.study.rowfile import RunRow, rows_of, table_of, write_part

if TYPE_CHECKING:
    import pyarrow as pa

PART_ROWS = 1 << 16
_JOURNAL_ROWS = 4096  # at most, then they go to a part


class Rows:
    """The rows of one study. One process at a time writes them: see `Store.held`."""

    def __init__(self, study: Path, cells: Sequence[Cell], part_rows: int = PART_ROWS) -> None:
        self._part_rows = part_rows
        self.study = study  # by descriptor, while the study is held
        self._levels = {cell.name: cell.levels for cell in cells}
        self._names: set[str] | None = None
        self._waiting: int | None = None  # rows of the journal; None: it may end in half a line of a killed process

    def know(self, cells: Sequence[Cell]) -> None:
        """Add cells of which there can be rows."""
        self._levels |= {cell.name: cell.levels for cell in cells}

    @property
    def path(self) -> Path:
        """The directory of the rows."""
        return self.study / ROWS

    @property
    def _journal(self) -> Path:
        return self.path / JOURNAL

    def names(self) -> set[str]:
        """Return the names of all runs that have a row. Raises InputError if a file is damaged."""
        if self._names is None:
            waiting = {row.name for row in self._journalled()}
            tables = (read_part(part, ("cell", "seed")) for part in part_paths(self.study))
            self._names = {name for table in tables for name in _names(table)} | waiting
        return self._names

    def add(self, row: RunRow) -> None:
        """Add the row of a run that has none. Raises WblabError."""
        names = self.names()
        if self._waiting is None:
            self._waiting = self._mended()
        try:
            self.path.mkdir(exist_ok=True)
            with self._journal.open("ab") as file:
                file.write(_line(row))
        except OSError as error:
            raise WblabError(f"cannot write {self._journal}: {error.strerror or error}") from None
        names.add(row.name)
        self._waiting += 1
        if self._waiting >= _JOURNAL_ROWS:
            self.pack()

    def pack(self) -> None:
        """Move the rows of the journal into parts. Raises WblabError, and InputError for damaged files."""
        waiting, parts = {row.name: row for row in self._journalled()}, part_paths(self.study)
        last = read_part(parts[-1]) if parts else None
        for name in _names(last) if last is not None else ():
            waiting.pop(name, None)  # a process was killed after it had written the part
        if waiting:
            import pyarrow as pa

            tables, number = [table_of(list(waiting.values()), self._levels)], len(parts)
            if last is not None and last.num_rows < self._part_rows:
                tables, number = [last, *tables], number - 1
            self._write(pa.concat_tables(tables, promote_options="default"), number)
        try:
            self._journal.unlink(missing_ok=True)
        except OSError as error:
            raise WblabError(f"cannot remove {self._journal}: {error.strerror or error}") from None
        self._waiting = 0

    def forget(self, names: Collection[str]) -> None:
        """Remove the rows of some runs. Raises WblabError, and InputError for damaged files."""
        waiting = [row for row in self._journalled() if row.name not in names]
        try:
            if self._journal.exists():
                with replace_file(self._journal) as file:
                    file.writelines(map(_line, waiting))
        except OSError as error:
            raise WblabError(f"cannot write {self._journal}: {error.strerror or error}") from None
        self._waiting = len(waiting)
        for part in part_paths(self.study):
            table = read_part(part)
            left = [place for place, name in enumerate(_named(table)) if name not in names]
            if len(left) < table.num_rows:
                write_part(part, table.take(left))
        self._names = None

    def write(self, rows: Sequence[RunRow]) -> None:
        """Write the rows of a study that has none yet. Raises WblabError."""
        if rows:
            self._write(table_of(rows, self._levels), 0)
        self._names = None

    def _mended(self) -> int:
        """Cut off a last line that was not written to its end; return the number of others. Raises WblabError."""
        whole = self._lines()[:-1]
        try:
            if self._journal.exists():
                os.truncate(self._journal, sum(len(line) + 1 for line in whole))
        except OSError as error:
            raise WblabError(f"cannot write {self._journal}: {error.strerror or error}") from None
        return len(whole)

    def one(self, cell: str, seed: int) -> RunRow | None:
        """Return the row of a run; None if there is none. Raises InputError for damaged files."""
        return next(self._all((cell, seed)), None)

    def all(self) -> Iterator[RunRow]:
        """Yield all rows. Raises InputError for damaged files."""
        yield from self._all(None)

    def _all(self, wanted: tuple[str, int] | None) -> Iterator[RunRow]:
        """Yield all rows, or those of a cell and seed."""
        seen = set()
        for part in part_paths(self.study):
            try:
                table = read_part(part)
                for row in rows_of(_of(table, *wanted) if wanted else table):
                    self._check(row)
                    seen.add(row.name)
                    yield row
            except (KeyError, TypeError, ValueError, AttributeError, NotImplementedError) as error:
                raise InputError(f"{part} is damaged: {type(error).__name__}: {error}") from None
        waiting = (row for row in self._journalled() if row.name not in seen)
        yield from (row for row in waiting if wanted in (None, (row.cell, row.seed)))

    def _write(self, table: "pa.Table", number: int) -> None:
        """Write a table as parts from a number on, in the order of cells and seeds. Raises WblabError."""
        ordered = table.sort_by([("cell", "ascending"), ("seed", "ascending")])
        for place, start in enumerate(range(0, ordered.num_rows, self._part_rows)):
            write_part(self.path / f"{number + place:04}.parquet", ordered.slice(start, self._part_rows))

    def _journalled(self) -> list[RunRow]:
        """Return the rows of the journal, without a last one that was not written to its end."""
        try:
            rows = [_row(line) for line in self._lines()[:-1]]
            for row in rows:
                self._check(row)
            return rows
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"{self._journal} is damaged: {type(error).__name__}: {error}") from None

    def _lines(self) -> list[bytes]:
        """Return the lines of the journal, the last of which is not complete. Raises InputError."""
        try:
            return read_bytes(self._journal, MOST_JOURNAL_BYTES).split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise InputError(f"cannot read {self._journal}: {error.strerror or error}") from None

    def _check(self, row: RunRow) -> None:
        """Raise ValueError for a row that is none of this study's: somebody else may have written it."""
        if row.cell not in self._levels:
            raise ValueError(f"it has a row of {row.cell!r}, which is no cell")
        row.check()


def _of(table: "pa.Table", cell: str, seed: int) -> "pa.Table":
    """Return the rows of a cell and seed: making Python's values of all takes a second for 16,384."""
    import pyarrow.compute as pc

    return table.filter((pc.field("cell") == cell) & (pc.field("seed") == seed))


def _names(table: "pa.Table") -> set[str]:
    return set(_named(table))


def _named(table: "pa.Table") -> Iterator[str]:
    return map(name_of, table["cell"].to_pylist(), table["seed"].to_pylist())


def _line(row: RunRow) -> bytes:
    return json.dumps(asdict(row), ensure_ascii=False).encode() + b"\n"


def _row(line: bytes) -> RunRow:
    """Return the row in a line. Raises KeyError, TypeError and ValueError."""
    given = parse_json(line)
    metrics = [(load, kind, metric, float(value)) for load, kind, metric, value in given.pop("metrics")]
    return RunRow(**given, metrics=metrics)
