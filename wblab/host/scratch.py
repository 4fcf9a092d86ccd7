"""The scratch directory of a run: made, locked for as long as it is in use, and removed whatever a guest made in it."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

_LOCK = "lock"


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


def _sweep(room: Path) -> None:
    for left in room.glob(f"wblab-*/{_LOCK}"):
        with suppress(OSError):  # another user's, or in use
            lock = os.open(left, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if os.fstat(lock).st_uid == os.geteuid() == os.lstat(left.parent).st_uid:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    remove_scratch(left.parent)
            finally:
                os.close(lock)
