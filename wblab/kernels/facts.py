"""What was found out about files, kept in the cache for as long as their status stays the same.

A file that changes gets another status: whatever is done to it, the kernel sets the time of its last change (st_ctime,
see inode(7)). A file may change twice within one tick of that clock, so that nothing is kept about one that has just
changed. Who could change what is kept here could as well change the kernels beside it.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from wblab.core.errors import WblabError
from wblab.kernels import cache

_SETTLED_NS = 2 * 10**9  # no filesystem's clock ticks more slowly (FAT: 2 s)

# Finds something out: what, as JSON has it, and the files and directories that it follows from.
Find: TypeAlias = Callable[[], tuple[Any, Iterable[Path | str]]]


def fact(about: str, find: Find) -> Any:
    """Return what is known, else what is found out and kept. `about` says all that decides it beside the files."""
    known = recall(about)
    return keep(about, find) if known is None else known


def recall(about: str) -> Any:
    """Return what is known and still holds; None without that. Raises WblabError where others may write there."""
    try:
        cache.check_own()
        kept = cache.read_json(_place(about))
        return kept["known"] if kept and all(_status(path) == was for path, was in kept["files"].items()) else None
    except (OSError, KeyError, AttributeError):  # a file is gone, or the cache is not for us to read
        return None


def keep(about: str, find: Find) -> Any:
    """Find something out and keep it, where all files that it follows from were left alone before and meanwhile."""
    settled_ns = time.time_ns() - _SETTLED_NS
    known, files = find()
    with suppress(OSError, WblabError):  # a file is gone, or no room: found out again the next time
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
    """Return what differs between two files, and between two states of one; last the time of the last change."""
    status = os.stat(path)
    return [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _place(about: str) -> Path:
    return cache.home() / "facts" / f"{hashlib.sha256(about.encode(errors='surrogateescape')).hexdigest()[:32]}.json"
