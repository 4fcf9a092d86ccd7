"""Changes to a machine as data, and how each is undone.

A change is noted before it is made: by a guard process (`wblab.machine.undo`), or in a file (`wblab.mitigate.journal`).
So undoing a change does no harm where it was never made, and where it was undone already. What has a value of ours to
compare with is left alone where somebody else has changed it since.
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

from wblab.core.errors import InputError
from wblab.core.syscalls import umount
from wblab.core.tables import from_table, to_table
from wblab.machine.ioprio import get_ioprio, set_ioprio
from wblab.machine.processes import identify

_BUSY_LIMIT_S = 5.0
_HANGING_LIMIT_S = 60.0
_POLL_S = 0.02
SCHEDULED = ("nr_requests", "wbt_lat_usec")  # attributes of a queue that a new scheduler sets anew


@dataclass(frozen=True, kw_only=True)
class IoPriority:
    """The I/O priority of thread `tid`, which began at `start_ticks`, of process `pid` in session `session`."""

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
        """Raises OSError. If the old group was removed, which can happen to an empty one, it is made again."""
        if not _is(self.pid, self.start_ticks) or str(self.pid) not in _members(Path(self.new)):
            return
        with suppress(ProcessLookupError):
            Path(self.old).mkdir(parents=True, exist_ok=True)
            Path(self.old, "cgroup.procs").write_text(str(self.pid))


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A file of the kernel in which `new` was written; to undo that, `back` is written to `back_path`.

    The paths differ where two files show one setting, as vm.dirty_bytes and vm.dirty_ratio do.
    """

    kind: ClassVar[str] = "setting"
    path: str
    new: str
    back_path: str
    back: str

    def undo(self) -> None:
        """Raises OSError. What has gone with its device, a stick that was pulled out, has nothing to get back."""
        with suppress(FileNotFoundError):
            if Path(self.path).read_text().strip() == self.new:
                Path(self.back_path).write_text(self.back)


@dataclass(frozen=True, kw_only=True)
class Scheduler:
    """The I/O scheduler of a disk, a directory below /sys.

    The new one is not compared with: the kernel knows some by two names, and shows only one of them. nr_requests,
    wbt_lat_usec: what the queue had with the old one; empty, nothing. Each scheduler begins with a queue of its own.
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
    """A controller that was enabled for the children of the control group at `path`."""

    kind: ClassVar[str] = "controller"
    path: str
    name: str

    def undo(self) -> None:
        """Raises OSError."""
        Path(self.path, "cgroup.subtree_control").write_text(f"-{self.name}")


@dataclass(frozen=True, kw_only=True)
class Group:
    """A control group that was made."""

    kind: ClassVar[str] = "group"
    path: str

    def undo(self) -> None:
        """Raises OSError. Processes that are still in it go to its parent; one that is just ending is waited for."""
        group = Path(self.path)

        def remove() -> None:
            for pid in _members(group):
                with suppress(ProcessLookupError):
                    (group.parent / "cgroup.procs").write_text(pid)
            group.rmdir()

        _patiently(remove)


@dataclass(frozen=True, kw_only=True)
class Directory:
    """A directory or a trace instance that was made. held: the descriptor of the directory in which `path` is a name.

    One that is still in use is waited for: its users may just be ending.
    """

    kind: ClassVar[str] = "directory"
    path: str
    held: int | None = None

    def undo(self) -> None:
        """Raises OSError."""
        _patiently(lambda: os.rmdir(self.path, dir_fd=self.held))


@dataclass(frozen=True, kw_only=True)
class Contents:
    """All that is in a directory, held by its descriptor. One who still writes there, or a slow disk, is waited for."""

    kind: ClassVar[str] = "contents"
    held: int

    def undo(self) -> None:
        """Raises OSError."""
        listed = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=self.held)
        _patiently(lambda: _empty(self.held, listed), _HANGING_LIMIT_S)


@dataclass(frozen=True, kw_only=True)
class Mount:
    """A filesystem that was mounted."""

    kind: ClassVar[str] = "mount"
    path: str

    def undo(self) -> None:
        """Raises OSError. One that is still in use is waited for."""
        if os.path.ismount(self.path):
            _patiently(lambda: umount(self.path))


@dataclass(frozen=True, kw_only=True)
class ProcessGroup:
    """All processes of a group. Nobody may reap its leader before this is undone: else the number may be another's."""

    kind: ClassVar[str] = "process group"
    leader: int

    def undo(self) -> None:
        """Raises OSError."""
        with suppress(ProcessLookupError):
            os.killpg(self.leader, signal.SIGKILL)


Change = (
    IoPriority | Membership | Setting | Scheduler | Controller | Group | Directory | Contents | Mount | ProcessGroup
)
KINDS: dict[str, type[Change]] = {kind.kind: kind for kind in get_args(Change)}


class WayBack(Protocol):
    """Whoever keeps changes, to undo them later."""

    def note(self, *changes: Change) -> None:
        """Keep changes that are made next. Raises WblabError if that fails: they must then not be made."""


def to_row(change: Change) -> dict[str, Any]:
    """Return a change as a JSON object."""
    return {"kind": change.kind, **to_table(change)}


def from_row(row: object) -> Change:
    """Return the change that `to_row` made this of. Raises InputError where it cannot have."""
    if not isinstance(row, dict) or not isinstance(kind := row.get("kind"), str) or kind not in KINDS:
        raise InputError("this is no change")
    return from_table(KINDS[kind], {key: value for key, value in row.items() if key != "kind"}, exact=True)


def undo_all(changes: Sequence[Change]) -> list[str]:
    """Undo changes, the last one first, and return what failed, in words."""
    failures = []
    for change in reversed(changes):
        try:
            change.undo()
        except OSError as error:
            words = [str(getattr(change, field.name)) for field in fields(change)]
            failures.append(f"cannot undo {' '.join([change.kind, *words])}: {error.strerror}")
    return failures


def _is(task: int, start_ticks: int) -> bool:
    identity = identify(task)
    return identity is not None and identity.start_ticks == start_ticks


def _members(group: Path) -> list[str]:
    try:
        return (group / "cgroup.procs").read_text().split()
    except OSError:
        return []


def _empty(directory: int, listed: int) -> None:
    """Remove all that is in a directory, which is held by two descriptors: `listed` can be read."""
    for name in os.listdir(listed):
        with suppress(FileNotFoundError):
            try:
                os.unlink(name, dir_fd=directory)
            except IsADirectoryError:
                shutil.rmtree(name, dir_fd=directory)
    if left := os.listdir(listed):
        raise OSError(ENOTEMPTY, os.strerror(ENOTEMPTY), left[0])


def _patiently(do: Callable[[], None], limit_s: float = _BUSY_LIMIT_S) -> None:
    """Do something again and again, until it succeeds or what it is about is gone. Raises OSError after the limit."""
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
