"""Chopper's directories: a binary tree of depth 4, numbered breadth first from 0, without its levels 0 and 1.

The filesystem places a new directory, and its files near it. ext4 spreads directories in the root and keeps others near
their parents (fs/ext4/ialloc.c, find_group_orlov).
"""

from pathlib import PurePosixPath

_FIRST, _LAST = 3, 30
DIRECTORIES = range(_FIRST, _LAST + 1)


def directory(number: int) -> PurePosixPath:
    """Return the path of a directory of the tree; the first four are in the root."""
    parts: list[str] = []
    while number >= _FIRST:
        parts.insert(0, f"dir.{number}")
        number = (number - 1) // 2
    return PurePosixPath(*parts)
