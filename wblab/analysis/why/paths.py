"""Files that programs named in system calls: which they looked for, changed, opened and locked.

Kernels since 6.19 trace the names; with others there is nothing here.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import tracecmd
from tracecmd.sequence import Sequence

LOOKS = ("newfstatat", "access", "faccessat2", "openat", "mkdir")
CHANGES = {
    "unlink": "removed",
    "unlinkat": "removed",
    "rmdir": "removed",
    "rename": "renamed",
    "renameat2": "renamed",
    "mkdir": "made",
    "openat": "made",
}
LOCKS = ("flock", "fcntl")
DUP, OPENED = "dup2", "sys_exit_openat"
_ENTER = "sys_enter_"
_NAME = "_val"  # the end of a field with the text behind an argument


class FileChange(NamedTuple):
    """A task's change of a file: `did`, in words."""

    rank: int
    pid: int
    did: str
    path: str


@dataclass(frozen=True)
class Paths:
    """What tasks named, in the order of the trace.

    opens: by task, each descriptor that it got, and the file or the descriptor that it stands for. locks: those asked.
    """

    looks: tuple[tuple[int, int, str], ...] = ()
    changes: tuple[FileChange, ...] = ()
    opens: Mapping[int, list[tuple[int, int, str | int]]] = field(default_factory=dict)
    locks: Mapping[int, list[tuple[int, int]]] = field(default_factory=dict)

    def changed(self, first: int, last: int) -> list[FileChange]:
        """Return what tasks changed between two places in the trace, in order."""
        return [change for change in self.changes if first <= change.rank <= last]

    def looked(self, pids: set[int], first: int, last: int) -> dict[str, int]:
        """Return how often tasks looked for each file between two places in the trace."""
        found: dict[str, int] = defaultdict(int)
        for rank, pid, path in self.looks:
            if first <= rank <= last and pid in pids:
                found[path] += 1
        return found

    def locked(self, pid: int, rank: int, parents: Mapping[int, int]) -> str:
        """Return the file whose lock a task asked for last before a place in the trace; empty if unknown."""
        asked = [fd for at, fd in self.locks.get(pid, ()) if at < rank]
        fd, seen = (asked[-1] if asked else -1), set[int]()
        while fd >= 0 and pid not in seen:
            made = [(at, old) for at, new, old in self.opens.get(pid, ()) if new == fd and at < rank]
            if not made:
                seen.add(pid)
                pid = parents.get(pid, -1)
                continue
            rank, old = made[-1]
            if isinstance(old, str):
                return old
            fd = old
        return ""


def read_paths(trace: tracecmd.TraceFile, sequence: Sequence) -> Paths:
    """Read the files that system calls named. Raises TraceError for a damaged trace."""
    looks, changes = [], []
    opens: dict[int, list[tuple[int, int, str | int]]] = defaultdict(list)
    locks: dict[int, list[tuple[int, int]]] = defaultdict(list)
    opening: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for call in dict.fromkeys((*LOOKS, *CHANGES)):
        for rank, pid, path in _named(trace, sequence, call):
            if call in LOOKS:
                looks.append((rank, pid, path))
            if call in CHANGES:
                changes.append(FileChange(rank, pid, CHANGES[call], path))
            if call == "openat":
                opening[pid].append((rank, path))
    for rank, pid, fd in _numbers(trace, sequence, OPENED, "ret"):
        before = [each for each in opening.get(pid, ()) if each[0] < rank]
        if before and 0 <= fd < 1 << 31:
            opens[pid].append((rank, fd, before[-1][1]))
    for rank, pid, old, new in _numbers(trace, sequence, _ENTER + DUP, "oldfd", "newfd"):
        opens[pid].append((rank, new, old))
    for call in LOCKS:
        for rank, pid, fd in _numbers(trace, sequence, _ENTER + call, "fd"):
            locks[pid].append((rank, fd))
    in_order = {pid: sorted(rows, key=lambda row: row[0]) for pid, rows in opens.items()}
    asked = {pid: sorted(rows) for pid, rows in locks.items()}
    return Paths(tuple(sorted(looks)), tuple(sorted(changes)), in_order, asked)


def _named(trace: tracecmd.TraceFile, sequence: Sequence, call: str) -> list[tuple[int, int, str]]:
    if (name := _ENTER + call) not in trace.names:
        return []
    events = trace.events(name)
    texts = [key for key in events if key.endswith(_NAME)]
    ranks, pids = sequence.ranks(events).tolist(), events.pid.tolist()
    return [
        (rank, pid, path)
        for text in texts
        for rank, pid, path in zip(ranks, pids, events[text].tolist(), strict=True)
        if path
    ]


def _numbers(trace: tracecmd.TraceFile, sequence: Sequence, name: str, *keys: str) -> list[tuple[Any, ...]]:
    if name not in trace.names:
        return []
    events = trace.events(name)
    columns = (events[key].tolist() for key in keys)
    return list(zip(sequence.ranks(events).tolist(), events.pid.tolist(), *columns, strict=True))
