"""Changes made and not yet undone, in a file that survives a killed daemon."""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import TypeVar

from wblab.core.errors import InputError, WblabError
from wblab.core.files import read_json
from wblab.lab.held import replace_file
from wblab.machine.cgroup import cgroup_root
from wblab.machine.changes import (
    Change,
    Controller,
    IoPriority,
    MadeGroup,
    Membership,
    Setting,
    from_row,
    to_row,
    undo_all,
)
from wblab.machine.processes import ProcessIdentity

# Which changes the daemon can have made. Only those are undone from its file.
#
# Anything else in the file (another group, another setting, an impossible number) was put there by somebody who wants
# root to "undo" what was never done.

# Find the held process that another one descends from: a process born held gets back that one's earlier setting.

Held = TypeVar("Held", IoPriority, Membership)


def origin_of(held: list[Held], pid: int, identity: ProcessIdentity) -> Held | None:
    """Return the change of the held process that `pid` descends from; None if no process is held.

    That is the process itself, or else its parent, or else the oldest held process of its session. A daemon that lost
    its parent and left its session has no trace of its origin: it gets the most frequent earlier setting.
    """
    for is_origin in (
        lambda change: change.pid == pid,
        lambda change: change.pid == identity.parent,
        lambda change: change.session == identity.session,
    ):
        if found := list(filter(is_origin, held)):
            return min(found, key=lambda change: change.start_ticks)
    counts = Counter(change.old for change in held)
    return max(held, key=lambda change: counts[change.old], default=None)


GROUP = "wblab-mitigate"
CONTROLLERS = ("io", "memory")
# A file that is set, then a space and the file that restores it: itself, or its counterpart.
_SETTING = re.compile(
    r"(/sys/block/[A-Za-z0-9][^/\0\n ]*/queue/nr_requests) \1"
    r"|(/sys/class/bdi/[A-Za-z0-9][^/\0\n ]*/(?:max_ratio_fine|strict_limit)) \2"
    r"|/proc/sys/vm/(dirty_(?:background_)?)bytes /proc/sys/vm/\3(?:bytes|ratio)"
)
_NUMBER = re.compile(r"[0-9]{1,19}")
_MOST_TASKS, _MOST_TICKS, _MOST_PRIORITY = 1 << 22, 1 << 63, 1 << 16


def is_possible(change: Change, root: Path | None) -> bool:
    """Whether the daemon can have made a change. `root` is where cgroup v2 is mounted, or None."""
    match change:
        case IoPriority():
            numbers = ((change.tid, change.pid), _MOST_TASKS), ((change.old, change.new), _MOST_PRIORITY)
            return all(0 <= number < most for values, most in numbers for number in values) and _is_born(change)
        case Membership():
            return _is_below(change.old, root) and _is_group(change.new, root) and _is_process(change)
        case Setting():
            numeric = all(_NUMBER.fullmatch(text) for text in (change.new, change.back))
            return numeric and bool(_SETTING.fullmatch(f"{change.path} {change.back_path}"))
        case Controller():
            return root is not None and change.path == str(root) and change.name in CONTROLLERS
        case MadeGroup():
            return _is_group(change.path, root)
        case _:
            return False


def _is_group(path: str, root: Path | None) -> bool:
    return root is not None and path == str(root / GROUP)


def _is_below(path: str, root: Path | None) -> bool:
    pure = PurePosixPath(path)
    return root is not None and pure.is_relative_to(root) and ".." not in pure.parts and "\0" not in path


def _is_process(change: Membership) -> bool:
    return 0 < change.pid < _MOST_TASKS and _is_born(change)


def _is_born(change: IoPriority | Membership) -> bool:
    return 0 <= change.start_ticks < _MOST_TICKS and 0 <= change.session < _MOST_TASKS


Possible = Callable[[Change, Path | None], bool]
_MOST_BYTES = 64 << 20
_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Journal:
    """The changes, oldest first. Each is written to the file before it is made, and removed after it was undone.

    The file is replaced as a whole, so a kill at any moment leaves the old or the new one. It is not synced: it lives
    on a tmpfs, and a reboot reverts all changes anyway. After a reboot it is void.
    """

    def __init__(
        self,
        path: Path,
        possible: Possible = is_possible,
        who: str = "a daemon",
        root: Callable[[], Path | None] | None = None,
    ) -> None:
        """Read what an earlier daemon, named `who` in messages, left. `ignored` describes invalid entries.

        possible: whether the daemon can have made a change; gets the mount point of cgroup v2, which `root` returns.
        """
        self._path = path
        self._possible, self._who, self._root = possible, who, root or cgroup_root
        self._boot = _BOOT.read_text().strip()
        self.ignored = ""
        self.changes: list[Change] = self._read()

    def note(self, *changes: Change) -> None:
        """Note changes about to be made. Raises WblabError if that fails: then do not make them."""
        if changes:
            self._write([*self.changes, *changes])

    def undo(self, changes: Sequence[Change]) -> list[str]:
        """Undo these changes, last first. Return descriptions of failures, which are not tried again."""
        failures = undo_all(changes)
        undone = set(changes)
        self._write([change for change in self.changes if change not in undone])
        return failures

    def forget(self, change: Change) -> None:
        """Drop a change that another one has replaced."""
        self._write([other for other in self.changes if other != change])

    def _read(self) -> list[Change]:
        try:
            table = read_json(self._path, _MOST_BYTES)
            boot, rows = table["boot"], list(table["changes"])
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError) as error:
            self._set_aside(error.strerror or "" if isinstance(error, OSError) else f"not a journal ({error})")
            return []
        if boot != self._boot:
            return []
        root = self._root()
        changes = [change for row in rows if (change := self._change(row, root))]
        if strange := len(rows) - len(changes):
            self.ignored = f"{strange} entries of the journal {self._path} that {self._who} cannot have written"
        return changes

    def _set_aside(self, reason: str) -> None:
        """Keep an invalid file for inspection. Raises WblabError."""
        aside = self._path.with_suffix(".ignored")
        try:
            os.replace(self._path, aside)
        except OSError as error:
            raise WblabError(f"cannot set the journal {self._path} aside: {error.strerror}: remove it") from None
        self.ignored = f"the journal, now {aside}: {reason}"

    def _change(self, row: object, root: Path | None) -> Change | None:
        """Return the change that a row describes; None if it describes none that can have been made."""
        try:
            change = from_row(row)
        except InputError:
            return None
        return change if self._possible(change, root) else None

    def _write(self, changes: list[Change]) -> None:
        rows = [to_row(change) for change in changes]
        try:
            if changes:
                with replace_file(self._path) as file:
                    file.write(json.dumps({"boot": self._boot, "changes": rows}).encode())
            else:
                self._path.unlink(missing_ok=True)
        except OSError as error:
            raise WblabError(f"cannot write the journal {self._path}: {error.strerror}: nothing was changed") from None
        self.changes = changes
