"""Keep what was opened as an ordinary directory: nothing is ever overwritten."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from wblab.analysis.runs.run import guest_spec
from wblab.core.errors import InputError
from wblab.core.files import open_file
from wblab.kernels import Kernel
from wblab.lab.formats import RUNS
from wblab.lab.held import held, through
from wblab.lab.progress import bar
from wblab.publish.bundle.about import kernel_for
from wblab.publish.bundle.read import Opened, opened
from wblab.publish.bundle.words import chosen, reworded
from wblab.study.made import Made
from wblab.study.store import Store

_CHUNK = 1 << 18


def keep_as(found: Opened, target: Path) -> Path:
    """Move the files of a bundle to a new directory. Raises InputError if something is there."""
    if os.path.lexists(target):
        raise InputError(f"{str(target)!r} exists: give --to the name of a new directory")
    return _move(found, target)


def keep_in(found: Opened, results: Path) -> Path:
    """Return the bundle's directory among the results, under its own name, or that name with -2, -3 and so on.

    One that has the same files is returned as it is. Raises InputError.
    """
    for target in _names(results / found.name):
        if not os.path.lexists(target):
            return _move(found, target)
        if _is_same(found, target):
            return target
    raise InputError(f"no free name for {found.name} in {results}: remove what you no longer need (wblab runs --clean)")


def room_in(directory: Path) -> Path:
    """Return a directory in which a bundle is to be kept, made if it is not there. Raises InputError."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write in {str(directory)!r}: {error.strerror}: give another directory") from None
    return directory


def open_packed(file: Path, to: Path | None, results: Path) -> Path:
    """Keep what a packed file holds in a new directory, or among the results; return where. Raises InputError."""
    room = room_in(to.absolute().parent if to else results)
    with opened(file, room) as found:
        kept = keep_as(found, to) if to else keep_in(found, room)
    return kept.absolute()


@dataclass(frozen=True)
class KeptRun:
    """A run of a packed file that was kept. place: its directory, or the row of a study. kernel: as it had.

    notes: what to say of it.
    """

    place: Path | Made
    kernel: Kernel | None
    notes: tuple[str, ...]


def keep_run(file: Path, results: Path, name: str | None, *, own_kernel: bool) -> KeptRun:
    """Keep what a packed file holds among the results, and choose a run of it. Raises InputError.

    name: of the run; by default the first that measured something. own_kernel: find the same build, if that is here,
    else one of the run's series.
    """
    with ExitStack() as stack:
        with bar(file.name) as report:
            found = stack.enter_context(opened(file, room_in(results), report))
        name, item = chosen(found, name)
        if isinstance(item, Made):
            spec, made = item.cell.spec, item.store.kernels[item.cell.spec.kernel.build]
        else:
            if (run := item.read()) is None:
                raise InputError(f"{name} measured nothing, so there is nothing to compare with: give --run another")
            spec, made = guest_spec(run), run.record.get("kernel") or {}
        kernel = kernel_for(spec, made) if own_kernel else None
        kept = keep_in(found, results)
    notes = (*reworded(found), f"what {file.name} holds is kept as {kept}")
    if isinstance(item, Made):
        return KeptRun(replace(item, store=Store(kept, item.store.plan, item.store.kernels)), kernel, notes)
    return KeptRun(kept / found.path(name), kernel, notes)


def _names(path: Path) -> Iterator[Path]:
    yield path
    yield from (path.with_name(f"{path.name}-{number}") for number in range(2, 1000))


def _move(found: Opened, target: Path) -> Path:
    """Move it in one step, when it is complete: a study gets its rows first, and all folders."""
    if found.kind == "study":
        (found.directory / RUNS).mkdir(exist_ok=True)
        Store.open(found.directory).settle()
    try:
        with held(target.parent) as parent:
            os.rename(found.directory, through(parent) / target.name)
    except OSError as error:
        raise InputError(f"cannot write {str(target)!r}: {error.strerror}: give another place") from None
    return target


def _is_same(found: Opened, target: Path) -> bool:
    return all(_sha256(target / member.name) == member.sha256 for member in found.files)


def _sha256(path: Path) -> str:
    """Return the digest of a regular file; empty if there is none."""
    whole = sha256()
    try:
        with open_file(path) as file:
            while piece := file.read(_CHUNK):
                whole.update(piece)
    except OSError:
        return ""
    return whole.hexdigest()
