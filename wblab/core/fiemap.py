"""Where a file's bytes are on the disk, by FIEMAP: Documentation/filesystems/fiemap.rst."""

import os
import struct
from collections.abc import Iterator
from fcntl import ioctl
from typing import NamedTuple

_FS_IOC_FIEMAP = 0xC020660B  # include/uapi/linux/fiemap.h and fs.h, with all below
_SYNC = 0x1  # write the file's dirty data first
_LAST = 0x1
# Flags of an extent without a place of its own: unknown, not allocated yet, or inside a metadata block.
_NOWHERE = 0x2 | 0x4 | 0x200
_HEAD = struct.Struct("<QQIIII")  # start, length, flags, mapped extents, room for extents, reserved
_EXTENT = struct.Struct("<QQQ16xI12x")  # logical, physical, length, flags
_AT_ONCE = 256
_ALL = (1 << 64) - 1


class Extent(NamedTuple):
    """A contiguous range of a file: its offset in the file, its offset on the disk, and its length, in bytes."""

    logical: int
    physical: int
    length: int


def extents(fd: int) -> tuple[Extent, ...]:
    """Return the extents of a file in its order, up to its end; its dirty data is written first.

    Allocated but unwritten blocks count; blocks beyond the file's end, as XFS keeps them, do not.
    Raises OSError; EOPNOTSUPP if the filesystem has no FIEMAP, such as FAT and exFAT.
    """
    status = os.fstat(fd)
    block = os.fstatvfs(fd).f_frsize
    end = -(-status.st_size // block) * block
    return tuple(
        Extent(logical, physical, min(length, end - logical))
        for logical, physical, length, flags in _mapped(fd)
        if logical < end and not flags & _NOWHERE
    )


def _mapped(fd: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield all extents of a file, with their flags."""
    start = 0
    while True:
        buffer = bytearray(_HEAD.size + _AT_ONCE * _EXTENT.size)
        _HEAD.pack_into(buffer, 0, start, _ALL - start, _SYNC, 0, _AT_ONCE, 0)
        ioctl(fd, _FS_IOC_FIEMAP, buffer)
        count = _HEAD.unpack_from(buffer)[3]
        found = list(_EXTENT.iter_unpack(buffer[_HEAD.size :][: count * _EXTENT.size]))
        yield from found
        if not found or found[-1][3] & _LAST:
            return
        start = found[-1][0] + found[-1][2]
