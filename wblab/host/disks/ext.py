"""Where the parts of an ext2, ext3 or ext4 filesystem lie, read from its image: it has just been made, and lies idle.

The format is that of Documentation/filesystems/ext4 and fs/ext4/ext4.h of the kernel. All numbers are little-endian.
Its options are the user's: what is not understood has no layout, and that is no error.
"""

import os
import struct
from collections.abc import Iterable, Iterator

from wblab.lab.layouts import ITABLE, Layout, Region

_SUPER_AT, _SUPER_BYTES, _MAGIC = 1024, 1024, 0xEF53
_META_BG, _WIDE = 0x10, 0x80  # incompatible features: descriptors elsewhere, and of 64 bits
_SPARSE = 0x1  # a feature for which reading needs nothing: copies of the superblock in few groups
_SPARSE2 = 0x200  # a compatible feature: copies in no group but two
_ROOT, _JOURNAL = 2, 8  # inodes
_EXTENTS, _EXTENT_MAGIC, _DEEPEST = 0x80000, 0xF30A, 5
_POINTERS = 12  # of an inode to blocks themselves; three more lead to blocks of pointers
_MOST_GROUPS, _MOST_RUNS = 4096, 1024  # of a disk in memory


def ext_layout(disk_fd: int) -> Layout | None:
    """Return the layout of the filesystem on a disk; None for another one, and for what is not understood."""
    try:
        return _layout(_Image(disk_fd))
    except (struct.error, ValueError, OverflowError):
        return None


class _Image:
    """A filesystem's image, and the numbers of its superblock. Raises ValueError where it is none of ext."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.super = os.pread(fd, _SUPER_BYTES, _SUPER_AT)
        self.inodes, low = struct.unpack_from("<II", self.super)
        self.first, log_block = struct.unpack_from("<II", self.super, 20)
        self.group_blocks, _, self.group_inodes = struct.unpack_from("<III", self.super, 32)
        (magic,) = struct.unpack_from("<H", self.super, 56)
        (self.inode_bytes,) = struct.unpack_from("<H", self.super, 88)
        self.compat, self.incompat, self.ro_compat = struct.unpack_from("<III", self.super, 92)
        (self.reserved,) = struct.unpack_from("<H", self.super, 206)
        (described,) = struct.unpack_from("<H", self.super, 254)
        (high,) = struct.unpack_from("<I", self.super, 336)
        if magic != _MAGIC or self.incompat & _META_BG or log_block > 6:
            raise ValueError("no filesystem that is understood")
        self.block_bytes = 1024 << log_block
        self.blocks = low | (high << 32 if self.incompat & _WIDE else 0)
        self.described = described if self.incompat & _WIDE else 32
        if not (self.group_blocks and self.group_inodes and self.inode_bytes >= 128 and self.described >= 32):
            raise ValueError("a damaged superblock")
        self.groups = -(-(self.blocks - self.first) // self.group_blocks)
        if not 0 < self.groups <= _MOST_GROUPS:
            raise ValueError("too many groups")

    def block(self, number: int) -> bytes:
        return os.pread(self.fd, self.block_bytes, number * self.block_bytes)

    def descriptor(self, group: int) -> tuple[int, int, int]:
        """Return where a group's block bitmap, inode bitmap and inode table begin."""
        at = (self.first + 1) * self.block_bytes + group * self.described
        raw = os.pread(self.fd, self.described, at)
        low = struct.unpack_from("<III", raw)
        high = struct.unpack_from("<III", raw, 32) if len(raw) >= 64 else (0, 0, 0)
        blocks, inodes, table = (one | two << 32 for one, two in zip(low, high, strict=True))
        return blocks, inodes, table

    def has_copy(self, group: int) -> bool:
        """Whether a group begins with a copy of superblock and descriptors."""
        if self.compat & _SPARSE2:
            return group == 0 or group in struct.unpack_from("<II", self.super, 588)
        return group <= 1 or not self.ro_compat & _SPARSE or any(_is_power(group, base) for base in (3, 5, 7))

    def inode(self, number: int) -> bytes:
        group, place = divmod(number - 1, self.group_inodes)
        table = self.descriptor(group)[2]
        return os.pread(self.fd, self.inode_bytes, table * self.block_bytes + place * self.inode_bytes)


def _layout(image: _Image) -> Layout:
    table_blocks = -(-image.group_inodes * image.inode_bytes // image.block_bytes)
    described = -(-image.groups * image.described // image.block_bytes)
    found = []
    for group in range(image.groups):
        begin = image.first + group * image.group_blocks
        if image.has_copy(group):
            name = "copy of the " if group else ""
            found.append(Region(f"{name}superblock", -1, begin, 1))
            found.append(Region(f"{name}group descriptors", -1, begin + 1, described))
            found.append(Region("room for group descriptors", -1, begin + 1 + described, image.reserved))
        blocks, inodes, table = image.descriptor(group)
        found.append(Region("block bitmap", group, blocks, 1))
        found.append(Region("inode bitmap", group, inodes, 1))
        found.append(Region(ITABLE, group, table, table_blocks))
    (journal,) = struct.unpack_from("<I", image.super, 224)
    if journal == _JOURNAL:
        found += [Region("journal", -1, *run) for run in _runs(_blocks(image, image.inode(_JOURNAL)))]
    found += [Region("root directory", -1, *run) for run in _runs(_blocks(image, image.inode(_ROOT)))]
    kept = sorted((region for region in found if region.count), key=lambda region: region.first)
    return Layout(image.block_bytes, image.inode_bytes, image.group_inodes, tuple(kept))


def _blocks(image: _Image, inode: bytes) -> Iterator[tuple[int, int]]:
    """Yield the blocks of a file by extents: the first, and how many."""
    (flags,) = struct.unpack_from("<I", inode, 32)
    content = inode[40:100]
    if flags & _EXTENTS:
        yield from _extents(image, content, _DEEPEST)
        return
    pointers = struct.unpack("<15I", content)
    yield from ((block, 1) for block in pointers[:_POINTERS] if block)
    for depth, block in enumerate(pointers[_POINTERS:], 1):
        yield from _pointed(image, block, depth)


def _extents(image: _Image, node: bytes, room: int) -> Iterator[tuple[int, int]]:
    magic, count, _, depth = struct.unpack_from("<HHHH", node)
    if magic != _EXTENT_MAGIC or depth > room:
        raise ValueError("a damaged extent tree")
    for place in range(count):
        at = 12 * (place + 1)
        if depth:
            low, high = struct.unpack_from("<4xIH", node, at)
            yield from _extents(image, image.block(low | high << 32), depth - 1)
        else:
            length, high, low = struct.unpack_from("<4xHHI", node, at)
            yield low | high << 32, length


def _pointed(image: _Image, block: int, depth: int) -> Iterator[tuple[int, int]]:
    """Yield the blocks to which a block of pointers leads, and that one itself: it is a part of the file too."""
    if not block:
        return
    yield block, 1
    for pointer in struct.unpack(f"<{image.block_bytes // 4}I", image.block(block)):
        if depth > 1:
            yield from _pointed(image, pointer, depth - 1)
        elif pointer:
            yield pointer, 1


def _runs(pieces: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return pieces with those that adjoin joined. Raises ValueError for more than a file that was just made has."""
    found: list[tuple[int, int]] = []
    for first, count in sorted(pieces):
        if found and sum(found[-1]) == first:
            found[-1] = (found[-1][0], found[-1][1] + count)
        else:
            found.append((first, count))
        if len(found) > _MOST_RUNS:
            raise ValueError("too many pieces")
    return found


def _is_power(number: int, base: int) -> bool:
    while number % base == 0:
        number //= base
    return number == 1
