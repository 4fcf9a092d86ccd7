"""The directories of Chopper: a binary tree of depth 4, numbered breadth first from 0, without its levels 0 and 1.

Where a new directory lies is up to its filesystem, and its files lie near it: ext4 spreads those in the root and keeps
others near their parents (fs/ext4/ialloc.c, find_group_orlov).
"""

from pathlib import PurePosixPath

_FIRST, _LAST = 3, 30
DIRECTORIES = range(_FIRST, _LAST + 1)


def directory(number: int) -> PurePosixPath:
    """Return where a directory of the tree lies; the first four lie in the root."""
    parts: list[str] = []
    while number >= _FIRST:
        parts.insert(0, f"dir.{number}")
        number = (number - 1) // 2
    return PurePosixPath(*parts)
