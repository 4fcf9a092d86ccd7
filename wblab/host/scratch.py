"""The scratch directory of a run: made, locked for as long as it is in use, and removed whatever a guest made in it."""

import fcntl
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

KERNEL = "kernel"  # what the guest's kernel has for itself: its memory is a file in there

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

    A guest ends with its keeper, and its processes with it, but for one that was being made in that instant: it asks
    for a signal at the death of a parent that is dead already, and then waits for it for ever.
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
