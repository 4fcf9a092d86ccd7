"""Which changes the daemon can have made. Only those are undone from its file.

Anything else in the file (another group, another setting, an impossible number) was put there by somebody who wants
root to "undo" what was never done.
"""

import re
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import TypeVar

from wblab.machine.changes import Change, Controller, Group, IoPriority, Membership, Setting
from wblab.machine.processes import Identity

# Find the held process that another one descends from: a process born held gets back that one's earlier setting.

Held = TypeVar("Held", IoPriority, Membership)


def origin_of(held: list[Held], pid: int, identity: Identity) -> Held | None:
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
        case Group():
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
