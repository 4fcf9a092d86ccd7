"""Stop or kill a process with all its descendants."""

import os
import signal
from contextlib import suppress
from pathlib import Path

_PARENT = 1  # index of ppid among the fields after the name in /proc/PID/stat, see proc_pid_stat(5)


def descendants(pid: int) -> list[int]:
    """Return the children of a process, their children, and so on."""
    children: dict[int, list[int]] = {}
    for path in sorted(Path("/proc").glob("[0-9]*/stat")):
        with suppress(OSError):  # it has ended meanwhile
            parent = int(path.read_bytes().rpartition(b")")[2].split()[_PARENT])
            children.setdefault(parent, []).append(int(path.parent.name))
    found, left = [], [pid]
    while left:
        left += children.get(each := left.pop(), ())
        found.append(each)
    return found[1:]


def stop(pid: int) -> None:
    """Stop a process and its descendants: none of them returns from the kernel any more."""
    _send(signal.SIGSTOP, [pid])  # first, so that it starts no more children
    _send(signal.SIGSTOP, descendants(pid))


def end(pid: int) -> None:
    """Kill a child and its descendants, and wait for the child."""
    _send(signal.SIGKILL, [pid, *descendants(pid)])
    os.waitpid(pid, 0)


def _send(number: signal.Signals, pids: list[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
