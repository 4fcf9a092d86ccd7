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
        for thread in threads(parent):
            with suppress(OSError):  # it has ended
                found += [int(child) for child in (thread / "children").read_text().split()]
    return found


def threads(pid: int) -> list[Path]:
    """Return the directories of a process's threads; none where it has ended, at whatever moment.

    Each may have children and files of its own, and the first one may have ended.
    """
    tasks = Path("/proc", str(pid), "task")
    with suppress(OSError):
        return [tasks / thread for thread in os.listdir(tasks)]
    return []


def private_bytes(pids: Iterable[int]) -> int:
    """Return the memory of processes that is theirs alone: not of files, not shared, as the guest's own is."""
    return sum(map(_private_pages, pids)) * _PAGE_BYTES


def _private_pages(pid: int) -> int:
    """Return those of a process, of whichever thread says: the first one may have ended, and has no memory then."""
    for thread in threads(pid):
        with suppress(OSError, ValueError):
            _, resident, shared = (thread / "statm").read_text().split()[:3]
            if int(resident):
                return int(resident) - int(shared)
    return 0


def page_table_bytes(pids: Iterable[int]) -> int:
    """Return the memory of the host's kernel that the page tables of processes take."""
    return sum(map(_page_table_kib, pids)) << 10


def _page_table_kib(pid: int) -> int:
    """Return those of a process, of whichever thread says, as above."""
    for thread in threads(pid):
        with suppress(OSError, ValueError, IndexError):
            return int((thread / "status").read_bytes().split(b"\nVmPTE:", 1)[1].split(None, 1)[0])
    return 0


def waited_ns(pids: Iterable[int]) -> int:
    """Return for how long processes were ready to run and no processor was free, in ns; 0 without CONFIG_SCHED_INFO.

    See Documentation/scheduler/sched-stats.rst.
    """
    waited = 0
    for pid in pids:
        with suppress(OSError, ValueError, IndexError):
            waited += int(Path("/proc", str(pid), "schedstat").read_text().split()[1])
    return waited
