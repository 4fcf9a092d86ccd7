"""Facts about files, cached as long as the status of the files stays the same.

Every change of a file sets the time of its last change (st_ctime, see inode(7)). A file may change twice within one
tick of that clock, so facts about files that have just changed are not cached. A user who can change these facts can
also change the kernels beside them.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from wblab.core.errors import WblabError
from wblab.lab import cache

_SETTLED_NS = 2 * 10**9  # the coarsest time stamps of any filesystem (FAT: 2 s)

# Returns a fact as a JSON value, and the files and directories that it depends on.
Find: TypeAlias = Callable[[], tuple[Any, Iterable[Path | str]]]


def fact(about: str, find: Find) -> Any:
    """Return the cached fact, or else find and cache it. about: all its inputs except the files."""
    known = recall(about)
    return keep(about, find) if known is None else known


def recall(about: str) -> Any:
    """Return a cached fact that still holds, or None. Raises WblabError if other users may write there."""
    try:
        cache.check_own()
        kept = cache.read_json(_place(about))
        return kept["known"] if kept and all(_status(path) == was for path, was in kept["files"].items()) else None
    except (OSError, KeyError, AttributeError):  # a file is gone, or we may not read the cache
        return None


def keep(about: str, find: Find) -> Any:
    """Find a fact. Cache it unless a file that it depends on has changed recently or meanwhile."""
    settled_ns = time.time_ns() - _SETTLED_NS
    known, files = find()
    with suppress(OSError, WblabError):  # a file is gone, or there is no space: not cached
        kept = {os.path.abspath(path): _status(path) for path in files}
        if all(changed_ns < settled_ns for *_, changed_ns in kept.values()):
            cache.room("facts")
            cache.write_json(_place(about), {"about": about, "files": kept, "known": known})
    return known


def sha256(path: Path | str) -> str:
    """Return the digest of a file. Raises OSError."""

    def digest() -> tuple[str, list[Path | str]]:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest(), [path]

    return str(fact(f"sha256 {os.path.abspath(path)}", digest))


def _status(path: Path | str) -> list[int]:
    """Return values that differ between any two files or states of one; the last is the time of the last change."""
    status = os.stat(path)
    return [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _place(about: str) -> Path:
    return cache.home() / "facts" / f"{hashlib.sha256(about.encode(errors='surrogateescape')).hexdigest()[:32]}.json"
