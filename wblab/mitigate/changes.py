"""The changes that the daemon makes, and how each is undone. A change is data, so that it can be noted in a file.

Undoing is safe to repeat, and leaves alone what is not as the daemon left it: somebody else has decided since. What is
read back from a file is undone only where it names what the daemon can have changed: `is_possible`, given where cgroup
v2 is mounted.
"""

import errno
import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar

from wblab.machine.ioprio import get_ioprio, set_ioprio
from wblab.mitigate.processes import identify

GROUP = "wblab-mitigate"
CONTROLLERS = ("io", "memory")
# A file that is set, and after a space the one by which it is put back: itself, or its other face.
_SETTING = re.compile(
    r"(/sys/block/[A-Za-z0-9][^/\0\n ]*/queue/nr_requests) \1"
    r"|/proc/sys/vm/(dirty_(?:background_)?)bytes /proc/sys/vm/\2(?:bytes|ratio)"
)
_NUMBER = re.compile(r"[0-9]{1,19}")
_MOST_TASKS, _MOST_TICKS, _MOST_PRIORITY = 1 << 22, 1 << 63, 1 << 16
_TRIES, _PAUSE_S = 50, 0.02


@dataclass(frozen=True, kw_only=True)
class IoPriority:
    """The I/O priority of one thread, of process `pid` and session `session`, that began at `start_ticks`."""

    kind: ClassVar[str] = "I/O priority"
    tid: int
    pid: int
    session: int
    start_ticks: int
    old: int
    new: int

    def is_possible(self, root: Path | None) -> bool:
        """See above."""
        numbers = ((self.tid, self.pid), _MOST_TASKS), ((self.old, self.new), _MOST_PRIORITY)
        return all(0 <= number < most for values, most in numbers for number in values) and _is_born(self)

    def undo(self) -> None:
        """Raises OSError."""
        with suppress(ProcessLookupError):
            if _is(self.tid, self.start_ticks) and get_ioprio(self.tid) == self.new:
                set_ioprio(self.tid, self.old)


@dataclass(frozen=True, kw_only=True)
class Membership:
    """The control group of a process: directories of cgroup v2."""

    kind: ClassVar[str] = "control group"
    pid: int
    session: int
    start_ticks: int
    old: str
    new: str

    def is_possible(self, root: Path | None) -> bool:
        """See above."""
        old = PurePosixPath(self.old)
        below = root is not None and old.is_relative_to(root) and ".." not in old.parts and "\0" not in self.old
        return below and self.new == str(root and root / GROUP) and 0 < self.pid < _MOST_TASKS and _is_born(self)

    def undo(self) -> None:
        """Raises OSError. A group that was removed while it had no process is made again."""
        if not _is(self.pid, self.start_ticks) or str(self.pid) not in _members(self.new):
            return
        with suppress(ProcessLookupError):
            Path(self.old).mkdir(parents=True, exist_ok=True)
            Path(self.old, "cgroup.procs").write_text(str(self.pid))


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A file of the kernel in which `new` was written; `back` in `back_path` undoes that.

    The paths differ where two files are two faces of one setting, as vm.dirty_bytes and vm.dirty_ratio are.
    """

    kind: ClassVar[str] = "setting"
    path: str
    new: str
    back_path: str
    back: str

    def is_possible(self, root: Path | None) -> bool:
        """See above."""
        numbers = all(_NUMBER.fullmatch(text) for text in (self.new, self.back))
        return numbers and bool(_SETTING.fullmatch(f"{self.path} {self.back_path}"))

    def undo(self) -> None:
        """Raises OSError."""
        if Path(self.path).read_text().strip() == self.new:
            Path(self.back_path).write_text(self.back)


@dataclass(frozen=True, kw_only=True)
class Controller:
    """A controller that was enabled for the children of the control group at `path`."""

    kind: ClassVar[str] = "controller"
    path: str
    name: str

    def is_possible(self, root: Path | None) -> bool:
        """See above."""
        return root is not None and self.path == str(root) and self.name in CONTROLLERS

    def undo(self) -> None:
        """Raises OSError."""
        Path(self.path, "cgroup.subtree_control").write_text(f"-{self.name}")


@dataclass(frozen=True, kw_only=True)
class Group:
    """A control group that was made."""

    kind: ClassVar[str] = "group"
    path: str

    def is_possible(self, root: Path | None) -> bool:
        """See above."""
        return root is not None and self.path == str(root / GROUP)

    def undo(self) -> None:
        """Raises OSError. Processes that are left in it (born of others as these were put back) go to its parent."""
        group = Path(self.path)
        with suppress(FileNotFoundError):
            for pid in _members(self.path):
                with suppress(ProcessLookupError):
                    (group.parent / "cgroup.procs").write_text(pid)
            _remove(group)


PROCESS_CHANGES = (IoPriority, Membership)  # the others are made for all
Change = IoPriority | Membership | Setting | Controller | Group
KINDS: dict[str, type[Change]] = {kind.kind: kind for kind in (IoPriority, Membership, Setting, Controller, Group)}


def _is_born(change: IoPriority | Membership) -> bool:
    return 0 <= change.start_ticks < _MOST_TICKS and 0 <= change.session < _MOST_TASKS


def _is(task: int, start_ticks: int) -> bool:
    identity = identify(task)
    return identity is not None and identity.start_ticks == start_ticks


def _remove(group: Path) -> None:
    """Remove a control group; a process that is just ending may keep it for a moment."""
    for left in reversed(range(_TRIES)):
        try:
            os.rmdir(group)
        except OSError as error:
            if error.errno != errno.EBUSY or not left:
                raise
            time.sleep(_PAUSE_S)
        else:
            return


def _members(group: str) -> list[str]:
    try:
        return Path(group, "cgroup.procs").read_text().split()
    except OSError:
        return []
