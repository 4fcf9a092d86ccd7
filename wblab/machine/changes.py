"""Changes to a machine as data, and how to undo each.

A change is noted before it is made, by a guard process (`wblab.machine.undo`) or in a file
(`wblab.live.changes.journal`). So undoing must be harmless if the change was never made, or is undone already. A
setting that somebody else has changed since is left alone.
"""

import os
import shutil
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from errno import ENOTEMPTY
from pathlib import Path
from typing import Any, ClassVar, Protocol, get_args

from wblab.core.drivers import FEWEST_REQUESTS
from wblab.core.errors import InputError
from wblab.core.syscalls import umount
from wblab.core.tables import from_table, to_table
from wblab.machine.processes import get_ioprio, identify, set_ioprio

_BUSY_LIMIT_S = 5.0
_HANGING_LIMIT_S = 60.0
_POLL_S = 0.02
SCHEDULED = ("nr_requests", "wbt_lat_usec")  # attributes of a queue that a new scheduler resets


@dataclass(frozen=True, kw_only=True)
class IoPriority:
    """The I/O priority of thread `tid` (started at `start_ticks`) of process `pid` in session `session`."""

    kind: ClassVar[str] = "I/O priority"
    tid: int
    pid: int
    session: int
    start_ticks: int
    old: int
    new: int

    def undo(self) -> None:
        """Raises OSError."""
        with suppress(ProcessLookupError):
            if _is(self.tid, self.start_ticks) and get_ioprio(self.tid) == self.new:
                set_ioprio(self.tid, self.old)


@dataclass(frozen=True, kw_only=True)
class Membership:
    """The control group of a process: `old` and `new` are directories of cgroup v2."""

    kind: ClassVar[str] = "control group"
    pid: int
    session: int
    start_ticks: int
    old: str
    new: str

    def undo(self) -> None:
        """Raises OSError. Makes the old group again if it was removed, as an empty group may be."""
        if not _is(self.pid, self.start_ticks) or str(self.pid) not in _members(Path(self.new)):
            return
        with suppress(ProcessLookupError):
            Path(self.old).mkdir(parents=True, exist_ok=True)
            Path(self.old, "cgroup.procs").write_text(str(self.pid))


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A kernel file set to `new`; the undo writes `back` to `back_path`.

    The paths differ if two files show one setting, as vm.dirty_bytes and vm.dirty_ratio do.
    """

    kind: ClassVar[str] = "setting"
    path: str
    new: str
    back_path: str
    back: str

    def undo(self) -> None:
        """Raises OSError. A file that vanished with its device, such as an unplugged stick, needs no undo."""
        with suppress(FileNotFoundError):
            if Path(self.path).read_text().strip() == self.new:
                for value in _steps(Path(self.back_path), self.back):
                    Path(self.back_path).write_text(value)


@dataclass(frozen=True, kw_only=True)
class Scheduler:
    """The I/O scheduler of a disk, a directory in /sys.

    The new one is not compared: the kernel knows some by two names, and shows only one. nr_requests, wbt_lat_usec: the
    queue's values under the old one; empty: none. Each scheduler starts with a new queue.
    """

    kind: ClassVar[str] = "scheduler"
    disk: str
    old: str
    nr_requests: str = ""
    wbt_lat_usec: str = ""

    def undo(self) -> None:
        """Raises OSError."""
        queue = Path(self.disk, "queue")
        (queue / "scheduler").write_text(self.old)
        for name in SCHEDULED:
            if (had := getattr(self, name)) and (queue / name).read_text().strip() != had:
                (queue / name).write_text(had)


@dataclass(frozen=True, kw_only=True)
class Controller:
    """A controller enabled for the children of the control group at `path`."""

    kind: ClassVar[str] = "controller"
    path: str
    name: str

    def undo(self) -> None:
        """Raises OSError."""
        Path(self.path, "cgroup.subtree_control").write_text(f"-{self.name}")


@dataclass(frozen=True, kw_only=True)
class MadeGroup:
    """A control group that we made."""

    kind: ClassVar[str] = "group"
    path: str

    def undo(self) -> None:
        """Raises OSError. Moves remaining processes to the parent, and waits for one that is just exiting."""
        group = Path(self.path)

        def remove() -> None:
            for pid in _members(group):
                with suppress(ProcessLookupError):
                    (group.parent / "cgroup.procs").write_text(pid)
            group.rmdir()

        _patiently(remove)


@dataclass(frozen=True, kw_only=True)
class Directory:
    """A directory or trace instance that we made. held: descriptor of the directory that contains `path`.

    The undo waits while it is in use: its users may be exiting.
    """

    kind: ClassVar[str] = "directory"
    path: str
    held: int | None = None

    def undo(self) -> None:
        """Raises OSError."""
        _patiently(lambda: os.rmdir(self.path, dir_fd=self.held))


@dataclass(frozen=True, kw_only=True)
class DirectoryContents:
    """The content of a directory, held by descriptor. The undo waits for remaining writers, and for a slow disk."""

    kind: ClassVar[str] = "contents"
    held: int

    def undo(self) -> None:
        """Raises OSError."""
        listed = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=self.held)
        _patiently(lambda: _empty(self.held, listed), _HANGING_LIMIT_S)


@dataclass(frozen=True, kw_only=True)
class Mount:
    """A filesystem that we mounted."""

    kind: ClassVar[str] = "mount"
    path: str

    def undo(self) -> None:
        """Raises OSError. Waits while it is in use."""
        if os.path.ismount(self.path):
            _patiently(lambda: umount(self.path))


@dataclass(frozen=True, kw_only=True)
class ProcessGroup:
    """All processes of a group. Nobody may reap its leader before the undo, or its number could be reused."""

    kind: ClassVar[str] = "process group"
    leader: int

    def undo(self) -> None:
        """Raises OSError."""
        with suppress(ProcessLookupError):
            os.killpg(self.leader, signal.SIGKILL)


Change = (
    IoPriority
    | Membership
    | Setting
    | Scheduler
    | Controller
    | MadeGroup
    | Directory
    | DirectoryContents
    | Mount
    | ProcessGroup
)
KINDS: dict[str, type[Change]] = {kind.kind: kind for kind in get_args(Change)}


class WayBack(Protocol):
    """Keeps changes in order to undo them later."""

    def note(self, *changes: Change) -> None:
        """Keep changes about to be made. Raises WblabError if that fails: then do not make them."""


def to_row(change: Change) -> dict[str, Any]:
    """Return a change as a JSON object."""
    return {"kind": change.kind, **to_table(change)}


def from_row(row: object) -> Change:
    """Return the change from which `to_row` made this. Raises InputError if there is none."""
    if not isinstance(row, dict) or not isinstance(kind := row.get("kind"), str) or kind not in KINDS:
        raise InputError("not a change")
    return from_table(KINDS[kind], {key: value for key, value in row.items() if key != "kind"}, exact=True)


def undo_all(changes: Sequence[Change]) -> list[str]:
    """Undo changes, last first. Return descriptions of failures."""
    failures = []
    for change in reversed(changes):
        try:
            change.undo()
        except OSError as error:
            words = [str(getattr(change, field.name)) for field in fields(change)]
            failures.append(f"cannot undo {' '.join([change.kind, *words])}: {error.strerror}")
    return failures


def _steps(path: Path, value: str) -> list[str]:
    """Return what to write to a file, one after the other, so that the kernel has this value in force.

    Up to Linux 6.16, mq-deadline bounds writes by what nr_requests was before its last change (dd_depth_updated): after
    64, 4 and 64 again, they would still have 4. Later kernels have that bound elsewhere, or right.
    """
    is_bound = path.name == "nr_requests" and (path.parent / "iosched/async_depth").exists()
    return [str(int(value) - 1), value] if is_bound and value.isdecimal() and int(value) > FEWEST_REQUESTS else [value]


def _is(task: int, start_ticks: int) -> bool:
    identity = identify(task)
    return identity is not None and identity.start_ticks == start_ticks


def _members(group: Path) -> list[str]:
    try:
        return (group / "cgroup.procs").read_text().split()
    except OSError:
        return []


def _empty(directory: int, listed: int) -> None:
    """Remove everything in a directory, held by two descriptors; `listed` is readable."""
    for name in os.listdir(listed):
        with suppress(FileNotFoundError):
            try:
                os.unlink(name, dir_fd=directory)
            except IsADirectoryError:
                shutil.rmtree(name, dir_fd=directory)
    if left := os.listdir(listed):
        raise OSError(ENOTEMPTY, os.strerror(ENOTEMPTY), left[0])


def _patiently(do: Callable[[], None], limit_s: float = _BUSY_LIMIT_S) -> None:
    """Retry until it succeeds, or its object is gone. Raises OSError after the limit."""
    deadline_s = time.monotonic() + limit_s
    while True:
        try:
            do()
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > deadline_s:
                raise
            time.sleep(_POLL_S)
        else:
            return
