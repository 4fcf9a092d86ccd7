"""What a process and its descendants take of the host. Source: proc(5)."""

import fcntl
import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

# The scratch directory of a run: made, locked for as long as it is in use, and removed whatever a guest made in it.

KERNEL = "kernel"  # what the guest's kernel has for itself: its memory is a file in there
COPIES = "copies"  # what copies of the guest have in the place of what it has

_LOCK = "lock"
_ENDING_LIMIT_S = 5.0
_POLL_S = 0.01


def make_scratch(directory: Path) -> int:
    """Make a scratch directory for us alone and return a descriptor that keeps it, until it is closed. Raises OSError.

    Those that nobody keeps any more, as all who could remove them were killed, are removed now.
    """
    _sweep(directory.parent)
    directory.mkdir(mode=0o700)
    kept = os.open(directory / "new", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    fcntl.flock(kept, fcntl.LOCK_EX)
    os.rename(directory / "new", directory / _LOCK)  # whoever sees it sees it locked
    return kept


def remove_scratch(directory: Path) -> None:
    """Remove a directory with all that is in it; it may be gone already.

    By rm(1): directories of a guest can be nested deeper than Python goes down, and than a path can be long.
    """
    if directory.exists():
        os.waitpid(os.posix_spawnp("rm", ["rm", "-rf", "--", str(directory)], {"PATH": os.defpath}), 0)


def reclaim(directory: Path) -> None:
    """Remove a directory whose keeper was killed, if it is there, and end whoever still has the guest's memory.

    A guest and its processes end with their keeper, except a process forked at that instant: it misses its parent's
    death.
    """
    if not directory.exists():
        return
    deadline_s = time.monotonic() + _ENDING_LIMIT_S
    while (users := _users(directory / KERNEL)) and time.monotonic() < deadline_s:
        for pid in users:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_POLL_S)
    remove_scratch(directory)


def _users(directory: Path) -> list[int]:
    """Return the processes that have a file of this directory open or mapped, even a removed one; see proc(5).

    A guest's process maps its file before it closes it, so open files are read before mappings.
    """
    mark = f"{directory.resolve()}/"
    return [
        int(process.name)
        for process in Path("/proc").glob("[0-9]*")
        if any(mark in name for name in _open_files(process)) or mark in _mapped(process)
    ]


def _open_files(process: Path) -> list[str]:
    found = []
    with suppress(OSError):  # another user's, or gone
        for file in (process / "fd").iterdir():
            with suppress(OSError):  # closed meanwhile, or its path is longer than a path may be
                found.append(os.readlink(file))
    return found


def _mapped(process: Path) -> str:
    with suppress(OSError):
        return os.fsdecode((process / "maps").read_bytes())
    return ""


def _sweep(room: Path) -> None:
    for left in room.glob(f"wblab-*/{_LOCK}"):
        with suppress(OSError):  # another user's, or in use
            lock = os.open(left, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if os.fstat(lock).st_uid == os.geteuid() == os.lstat(left.parent).st_uid:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    reclaim(left.parent)
            finally:
                os.close(lock)


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
