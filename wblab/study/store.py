"""The directory of a study: its plan, a row of each run, and the directories of runs that are kept.

    exp/<date>_<name>/
      study.json      design; start time; all cells with their specs; seeds; kernels, by their names in the cells;
                      what the design needs to resume. Cells can be added
      cells.json.zst  the cells, in place of those in study.json, of a study that keeps no directories: they may be many
      rows/           a row of each run that counts (wblab.study.rows): all that is read of a study
      runs/           <cell>-s<seed>         the directory of a run, if they are kept
                      <cell>-s<seed>.noisy   its control load stalled: it measured the host (real time only)
                      _<cell>-s<seed>        it failed, with the reason; -2, -3 … if again

A run is done when it has its row, and its directory where these are kept. That gets its own name when it is complete,
before the row is entered; if a process was killed between the two, the next one reads the row from it. There is no
other state, so a study can be interrupted at any moment, and a run whose directory is removed is made again.
"""

import fcntl
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from wblab.core.errors import InputError, WblabError
from wblab.core.tables import to_table
from wblab.lab.designs import designs
from wblab.lab.formats import (
    CELLS,
    EXPERIMENT,
    NOISY_MARK,
    ROWS,
    RUN,
    RUNS,
    STUDY,
    STUDY_FILE,
    UML,
    now,
    write_json,
)
from wblab.lab.held import held, through
from wblab.lab.results import STAGED
from wblab.machine.directory import staged
from wblab.study.cells import Cell, run_name
from wblab.study.plan import Plan
from wblab.study.rowfile import RunRow, is_same_file, read_cells, row_of, run_rows, write_cells
from wblab.study.rows import Rows

if TYPE_CHECKING:
    from wblab.analysis.runs.metrics import Row

_PARTIAL, _WORK = ".partial-", ".work-"
_UNFINISHED = ".*.partial"  # of `replace_file`


class Store:
    """The directory of one study. One process at a time writes to it: see `held`."""

    def __init__(self, path: Path, plan: Plan, kernels: Mapping[str, Mapping[str, Any]]) -> None:
        self.path = path
        self._at = path  # by descriptor, while the directory is held
        self.plan = plan
        self.kernels = dict(kernels)
        self.rows = Rows(path, plan.cells)

    @classmethod
    def create(
        cls,
        results: Path,
        plan: Plan,
        kernels: Mapping[str, Mapping[str, Any]],
        beside: Mapping[str, bytes] = MappingProxyType({}),
    ) -> "Store":
        """Make a new directory. beside: further files, by name. Raises InputError if it cannot be made."""
        try:
            with staged(results, plan.name) as directory:
                cls.begin(directory.at, plan, kernels, beside)
                return cls(directory.commit(), plan, kernels)
        except OSError as error:
            raise InputError(
                f"cannot make the study's directory in {str(results)!r}: {error.strerror or error}"
            ) from None

    @classmethod
    def begin(
        cls,
        path: Path,
        plan: Plan,
        kernels: Mapping[str, Mapping[str, Any]],
        beside: Mapping[str, bytes] = MappingProxyType({}),
    ) -> "Store":
        """Turn an existing directory into that of a study. beside: further files, by name. Raises OSError."""
        for folder in (RUNS, ROWS):
            (path / folder).mkdir(exist_ok=True)
        for name, text in beside.items():
            (path / name).write_bytes(text)
        content = STUDY.head() | {"design": plan.design, "start": now(), "kernels": dict(kernels)}
        _write_content(path, content | plan.to_json())
        return cls(path, plan, kernels)

    @classmethod
    def open(cls, path: Path, design: str | None = None) -> "Store":
        """Open the store in a directory. design: the required one. Raises InputError if there is none."""
        value = _content(path)
        try:
            plan = Plan.from_json(value)
            store = cls(path, plan, _kernels(value.get("kernels"), plan))
        except InputError as error:
            raise InputError(f"{path / STUDY_FILE}: {error}") from None
        if design and plan.design != design:
            known = designs()[plan.design]
            raise InputError(
                f"{path} is another study, of {known.noun}" + (f": {known.again} {path}" if known.again else "")
            )
        return store

    @classmethod
    def open_part(cls, path: Path, first: "Store") -> "Store":
        """Open what may be another part of the same study. Raises InputError if there is none.

        Checking a cell takes a millisecond; so if the file of cells has the same bytes, they are those of `first`.
        """
        if (
            first.keeps_directories
            or not (path / CELLS).is_file()
            or not is_same_file(path / CELLS, first.path / CELLS)
        ):
            return cls.open(path)
        try:
            content = STUDY.read(path / STUDY_FILE) | {"cells": []}
            plan = replace(Plan.from_json(content), cells=first.plan.cells)
            return cls(path, plan, _kernels(content.get("kernels"), plan))
        except InputError as error:
            raise InputError(f"{path / STUDY_FILE}: {error}") from None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock the directory, and end what a process that was killed left unfinished. Raises as `locked`."""
        with self.locked():
            for left in (*self._runs.glob(f"{_PARTIAL}*"), *self._at.glob(f"{_WORK}*")):
                shutil.rmtree(left, ignore_errors=True)
            for file in (*self._at.glob(_UNFINISHED), *self.rows.path.glob(_UNFINISHED)):
                file.unlink(missing_ok=True)
            self._adopt()
            yield

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the directory, and change nothing.

        Raises InputError if another process has the lock, and if `runs` is not a directory here.
        """
        if self.runs.is_symlink() or not self.runs.is_dir():
            raise InputError(f"{self.runs} is not a directory of runs: was the study copied without it?")
        if self.rows.path.is_symlink():
            raise InputError(f"{self.rows.path} is a link, which is not followed here: remove it")
        with ExitStack() as stack:
            try:
                directory = stack.enter_context(held(self.path))
            except OSError as error:
                raise InputError(f"cannot use {self.path}: {error.strerror}") from None
            descriptor = os.open(through(directory), os.O_RDONLY | os.O_DIRECTORY)
            stack.callback(os.close, descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise InputError(f"another wblab works on {self.path}: wait for its end") from None
            self._at = self.rows.study = through(directory)
            try:
                yield
            finally:
                self._at = self.rows.study = self.path

    def add(self, cells: Sequence[Cell], kernels: Mapping[str, Mapping[str, Any]] = MappingProxyType({})) -> None:
        """Add cells, and the kernels that they need. Raises InputError if one is invalid, and WblabError."""
        further = replace(self.plan, cells=(*self.plan.cells, *cells))
        known = self.kernels | dict(kernels)
        content = _content(self.path) | STUDY.head() | {"kernels": known} | further.to_json()
        plan = Plan.from_json(content)
        try:
            _write_content(self._at, content)
        except OSError as error:
            raise WblabError(f"cannot write {self.path / STUDY_FILE}: {error.strerror or error}") from None
        self.plan, self.kernels = plan, known
        self.rows.know(cells)

    @property
    def keeps_directories(self) -> bool:
        """Whether the directory of each run is kept beside its row."""
        return self.plan.keep == "traces"

    @property
    def runs(self) -> Path:
        """The directory of the runs."""
        return self.path / RUNS

    @property
    def _runs(self) -> Path:
        return self._at / RUNS

    def kept(self) -> set[str]:
        """Return the names of the directories of runs, those of failed and noisy ones too."""
        return set(os.listdir(self._runs)) if self._runs.is_dir() else set()

    def missing(self, wanted: Collection[str] | None = None) -> list[tuple[Cell, int]]:
        """Return the missing runs in order; if names are wanted, only those."""
        there, runs = self.kept() if self.keeps_directories else self.rows.names(), self.plan.runs()
        names = {run_name(cell, seed) for cell, seed in runs} if wanted is None else set(wanted)
        names -= there
        return [(cell, seed) for cell, seed in runs if run_name(cell, seed) in names]

    def keep(self, cell: Cell, seed: int, left: Path | bytes) -> Path:
        """Store the directory of a successful run, or its archive, under a temporary name; see `done`.

        Raises WblabError if it is not the run of this cell and seed.
        """
        partial = self._partial()
        try:
            _fill(partial, left)
            record = RUN.read(partial / EXPERIMENT)
            if record.get("spec") != to_table(cell.with_seed(seed)):
                raise WblabError("the worker ran a different spec: is its version of the lab another one?")
        except InputError:
            shutil.rmtree(partial)
            raise WblabError(f"the worker sent no valid {EXPERIMENT}") from None
        except WblabError:
            shutil.rmtree(partial)
            raise
        return partial

    def done(self, cell: Cell, seed: int, kept: Path, rows: "Sequence[Row] | None" = None, digest: str = "") -> None:
        """Enter the row of a stored run, which counts; its directory gets its own name, or is removed.

        rows: its metrics, if known. digest: of its measurements; needed where no directory is kept. Raises WblabError.
        """
        row = row_of(kept, cell, seed, run_rows(kept, self.plan.metrics) if rows is None else rows, digest)
        if self.keeps_directories:
            self.name(cell, seed, kept)
        self.rows.add(row)
        if not self.keeps_directories:
            shutil.rmtree(kept)

    def name(self, cell: Cell, seed: int, kept: Path, mark: str = "") -> Path:
        """Give the directory of a stored run its name; NOISY_MARK marks one that does not count."""
        return self._named(_rename(kept, self._runs / f"{run_name(cell, seed)}{mark}"))

    def noisy(self, cell: Cell, seed: int) -> list[Path]:
        """Return the directories of the noisy runs of a cell and seed, which do not count."""
        return sorted(self.runs.glob(f"{run_name(cell, seed)}{NOISY_MARK}*"))

    def failed(self, cell: Cell, seed: int, reason: str, left: Path | bytes = b"") -> Path:
        """Store the files of a failed run: at least a record with the reason."""
        partial = self._partial()
        try:
            if self.plan.keep == "digests":
                discard(left)
            else:
                _fill(partial, left)
        except WblabError as error:
            reason = f"{reason} (and {error})"
        if not (partial / EXPERIMENT).is_file():
            record = RUN.head(UML) | {"spec": to_table(cell.with_seed(seed)), "seed": seed}
            write_json(partial / EXPERIMENT, record | {"outcome": "failed", "reason": reason})
        return self._named(_rename(partial, self._runs / f"{STAGED}{run_name(cell, seed)}"))

    def settle(self) -> None:
        """Put all rows into files, where readers find them. Raises WblabError, and InputError for damaged files."""
        self._adopt()
        self.rows.pack()

    def _adopt(self) -> None:
        """Let rows and directories agree: a process was killed between them, or somebody removed or added some."""
        kept, rows = self.kept(), self.rows.names()
        if self.keeps_directories and (gone := rows - kept):
            self.rows.forget(gone)
        for cell, seed in self.plan.runs() if kept - rows else ():
            if (name := run_name(cell, seed)) in kept and name not in rows:
                self.rows.add(self.row_in(cell, seed))

    def row_in(self, cell: Cell, seed: int) -> RunRow:
        """Read the row of a run from its directory. Raises InputError if it is damaged."""
        directory = self._runs / run_name(cell, seed)
        return row_of(directory, cell, seed, run_rows(directory, self.plan.metrics))

    def room(self) -> Path:
        """Return a new temporary directory for workers."""
        return Path(tempfile.mkdtemp(prefix=_WORK, dir=self._at))

    def _partial(self) -> Path:
        return Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=self._runs))

    def _named(self, path: Path) -> Path:
        """Return a path in the held directory as others know it."""
        return self.path / path.relative_to(self._at)


def discard(left: Path | bytes) -> None:
    """Remove the files of a run."""
    if isinstance(left, Path):
        shutil.rmtree(left)


def clear_failed(store: Store) -> None:
    """Remove the failed runs, so that they are repeated. Raises OSError."""
    for failed in store.runs.glob(f"{STAGED}*"):
        shutil.rmtree(failed)


def pack(directory: Path) -> bytes:
    """Return the files of a run directory as one archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path in sorted(directory.iterdir()):
            if path.is_file() and not path.is_symlink():
                archive.add(path, path.name, recursive=False)
    return buffer.getvalue()


def unpack(archive: bytes, directory: Path) -> None:
    """Unpack an archive of `pack`: plain files in one directory. Raises WblabError for anything else."""
    if not archive:
        return
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as members:
            for member in members:
                content = members.extractfile(member) if member.isfile() else None
                if content is None or member.name in ("", ".", "..") or "/" in member.name:
                    raise WblabError(f"the worker sent {member.name!r}, which is not a file of a run")
                with content, (directory / member.name).open("xb") as file:
                    shutil.copyfileobj(content, file)
    except (tarfile.TarError, OSError, EOFError) as error:
        raise WblabError(f"the archive of the worker cannot be unpacked: {error}") from None


def _fill(directory: Path, left: Path | bytes) -> None:
    """Move the files of a run into an empty directory. left: a directory on this filesystem, or an archive."""
    if isinstance(left, bytes):
        unpack(left, directory)
    else:
        os.rename(left, directory)


def _content(path: Path) -> dict[str, Any]:
    """Read study.json, and the cells beside it if rows are kept. Raises InputError."""
    content = STUDY.read(path / STUDY_FILE)
    apart = content.get("keep", "traces") != "traces"
    return content | ({"cells": read_cells(path / CELLS)} if apart else {})


def _write_content(path: Path, content: dict[str, Any]) -> None:
    """Write study.json, and the cells beside it if rows are kept. Raises OSError."""
    if content["keep"] != "traces":
        write_cells(path / CELLS, content["cells"])
        content = {key: value for key, value in content.items() if key != "cells"}
    write_json(path / STUDY_FILE, content)


def _kernels(value: object, plan: Plan) -> dict[str, dict[str, Any]]:
    """Return the kernels of a study. Raises InputError unless all kernels of its cells are described."""
    kernels = value if isinstance(value, dict) else {}
    for name in {cell.spec.kernel.build for cell in plan.cells}:
        kernel = kernels.get(name)
        if not isinstance(kernel, dict) or not isinstance(kernel.get("build_id"), str):
            raise InputError(f"the build of kernel {name!r} is not recorded")
    return {name: kernel for name, kernel in kernels.items() if isinstance(kernel, dict)}


def _rename(path: Path, wanted: Path) -> Path:
    """Rename a directory; -2, -3 and so on distinguish it from existing ones."""
    path.chmod(0o755)  # temporary directories are private
    names = (wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}") for number in range(1, 10_000))
    for name in names:
        if os.path.lexists(name):
            continue
        try:
            os.rename(path, name)
        except OSError:
            if not os.path.lexists(name):
                raise
        else:
            return name
    raise WblabError(f"no free name for {wanted}")
