"""What a process and its descendants take of the host. Source: proc(5)."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def descendants(pid: int) -> list[int]:
    """Return a process and all that came of it; only itself without CONFIG_PROC_CHILDREN."""
    found = [pid]
    for parent in found:
        for children in _files_of_children(parent):
            with suppress(OSError):  # the thread has ended
                found += [int(child) for child in children.read_text().split()]
    return found


def _files_of_children(pid: int) -> list[Path]:
    """Return the files that name a process's children, one a thread; none where it has ended, at whatever moment."""
    tasks = Path("/proc", str(pid), "task")
    with suppress(OSError):
        return [tasks / thread / "children" for thread in os.listdir(tasks)]
    return []


def private_bytes(pids: Iterable[int]) -> int:
    """Return the memory of processes that is theirs alone: not of files, not shared, as the guest's own is."""
    pages = 0
    for pid in pids:
        try:
            _, resident, shared = Path("/proc", str(pid), "statm").read_text().split()[:3]
        except (OSError, ValueError):
            continue
        pages += int(resident) - int(shared)
    return pages * _PAGE_BYTES


def waited_ns(pids: Iterable[int]) -> int:
    """Return for how long processes were ready to run and no processor was free, in ns; 0 without CONFIG_SCHED_INFO.

    See Documentation/scheduler/sched-stats.rst.
    """
    waited = 0
    for pid in pids:
        with suppress(OSError, ValueError, IndexError):
            waited += int(Path("/proc", str(pid), "schedstat").read_text().split()[1])
    return waited
