"""Unfinished kernel builds. Their trees and objects are kept for the next attempt and take space."""

import fcntl
import os
from pathlib import Path

from wblab.kernels import cache


def unfinished() -> list[tuple[Path, int]]:
    """Return the directories of unfinished builds, with their sizes in bytes, except builds in progress."""
    found = []
    for path in sorted(cache.home().glob("**/*.work")):
        if path.is_dir() and not path.is_symlink() and not _is_running(path.with_name(f"{path.name}.lock")):
            found.append((path, _size(path)))
    return found


def _is_running(lock: Path) -> bool:
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _size(path: Path) -> int:
    return sum(
        os.lstat(os.path.join(folder, name)).st_blocks * 512 for folder, _, files in os.walk(path) for name in files
    )
