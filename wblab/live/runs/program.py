"""Watch a program of this machine while it runs: when one of its threads is blocked, and for how long."""

from dataclasses import dataclass, replace
from pathlib import Path

from wblab.lab.printable import printable
from wblab.live.runs.watch import WatchedPause
from wblab.machine.tasks import PROC, asleep_of, stack_of
from wblab.report.quantities import duration

# At a dirty limit a task sleeps again and again in one call, at most 0.2 s at a time.
_AGAIN = "balance_dirty_pages"


@dataclass(frozen=True)
class _Blocked:
    """A thread that is blocked. since_ns: when it was first seen so; after_ns: the look before that."""

    sleep: int
    after_ns: int
    since_ns: int
    is_again: bool


class WatchedProgram:
    """Looks at a process's threads in /proc. What is blocked in one sleep, or at a dirty limit, is one pause.

    So a program whose every read waits a moment for its disk is not taken for one that is blocked.
    """

    def __init__(self, pid: int, bound_ns: int, proc: Path = PROC) -> None:
        self.name = _name(pid, proc)
        self.count, self.longest_ns = 0, 0
        self._pid, self._bound_ns, self._proc = pid, bound_ns, proc
        self._looked_ns: int | None = None
        self._blocked: dict[int, _Blocked] = {}

    def look(self, now_ns: int) -> list[WatchedPause]:
        """Return the pauses over the threshold that have ended since the last call.

        They begin at the last look that did not see them: what a capture of them must reach back to.
        """
        before, self._blocked = self._blocked, {}
        after_ns = now_ns if self._looked_ns is None else self._looked_ns
        for task in asleep_of(self._pid, self._proc):
            known = before.get(task.tid)
            if known and known.sleep == task.sleep:
                self._blocked[task.tid] = known
                continue
            is_again = _AGAIN in stack_of(task.tid, self._proc)
            if known and known.is_again and is_again:
                self._blocked[task.tid] = replace(known, sleep=task.sleep)
            else:
                self._blocked[task.tid] = _Blocked(task.sleep, after_ns, now_ns, is_again)
        found = []
        for tid, blocked in before.items():
            goes_on = tid in self._blocked and self._blocked[tid].since_ns == blocked.since_ns
            if not goes_on and now_ns - blocked.since_ns > self._bound_ns:
                found.append(WatchedPause(f"{self.name}-{tid}", blocked.after_ns, now_ns))
                self.longest_ns = max(self.longest_ns, now_ns - blocked.since_ns)
        self.count += len(found)
        self._looked_ns = now_ns
        return found

    def paused(self, now_ns: int) -> bool:
        """Whether a pause over the threshold is in progress."""
        return any(now_ns - blocked.since_ns > self._bound_ns for blocked in self._blocked.values())

    def oldest_ns(self, now_ns: int) -> int:
        """Return after what time the thread that is blocked longest began to be, in ns; now if none is."""
        return min([now_ns, *(blocked.after_ns for blocked in self._blocked.values())])

    def has_ended(self) -> bool:
        """Whether the process is gone, or only its parent's to reap."""
        return _state(self._pid, self._proc) in "ZX"

    @property
    def said(self) -> str:
        """What was seen of it, in words."""
        who = f"{self.name}, process {self._pid},"
        if not self.count:
            return f"{who} was not seen to be blocked for over {duration(self._bound_ns)}"
        times = "once" if self.count == 1 else f"{self.count} times"
        return (
            f"{who} was blocked {times} for over {duration(self._bound_ns)}, {duration(self.longest_ns)} at the longest"
        )


def _name(pid: int, proc: Path) -> str:
    """Return a process's name; empty if it is gone."""
    try:
        return printable((proc / str(pid) / "comm").read_text(errors="replace").rstrip("\n")) or "unnamed"
    except OSError:
        return ""


def _state(pid: int, proc: Path) -> str:
    """Return the letter of a process's state; X if it is gone."""
    try:
        return (proc / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return "X"
