"""What a folder of the cache or of results takes on the disk, and whether a process works in it."""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from wblab.core.units import Bytes


def size_bytes(path: Path) -> Bytes:
    """Return the space that the files of a folder take on the disk; files that vanish meanwhile take none."""
    return Bytes(sum(_sizes(path)))


def is_held(path: Path) -> bool:
    """Whether a process, this one included, holds the lock on `path`, a file or a folder; False if it is not there."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _sizes(path: Path) -> Iterator[int]:
    for folder, _, files in os.walk(path):
        for name in files:
            try:
                yield os.lstat(os.path.join(folder, name)).st_blocks * 512
            except OSError:  # removed in the meantime
                continue
