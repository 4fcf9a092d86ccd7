"""Sets a new filesystem's UUIDs by the seed, where its mkfs draws them at random and has no option for them.

exFAT: the volume's serial number. btrfs: all UUIDs but the filesystem's own, and the times of its making. The formats
are Microsoft's "exFAT file system specification", sections 3.1 and 3.4, and include/uapi/linux/btrfs_tree.h.
"""

import mmap
import struct
from collections.abc import Iterator

from wblab.core.errors import WblabError

CHANCE_BYTES = 8 * 16  # more UUIDs than a new btrfs has
TIME_S = 1_700_000_000  # when everything was made: the guest's clock begins there when time is virtual
_SECTOR = 512
_BOOT_SECTORS, _SERIAL, _VOLATILE = 12, 100, (106, 107, 112)  # an exFAT boot region; what its checksum leaves out
_SUPER, _SUPERS, _SUPER_BYTES = 0x10000, (0x10000, 0x4000000, 0x4000000000), 4096
_MAGIC, _DEVICE_UUID = slice(64, 72), slice(267, 283)  # of a btrfs superblock
_FSID, _CHUNK_UUID = slice(32, 48), slice(64, 80)  # of a node; the first also of a superblock
_HEADER_BYTES, _KEY_BYTES = 101, 25
_INODE_ITEM, _ROOT_ITEM, _UUID_KEY = 1, 132, b"\xfb"
_INODE_TIMES = (112, 124, 136, 148)
_ROOT_UUID, _ROOT_TIMES = slice(247, 263), (*_INODE_TIMES, 327, 339)  # a root begins with an inode
_TIME = struct.Struct("<QI")


def make_reproducible(filesystem: str, disk_fd: int, chance: bytes) -> None:
    """Change a filesystem that has just been made on the disk. Raises WblabError for one that is not understood.

    chance: CHANCE_BYTES of the seed's randomness.
    """
    change = {"exfat": _exfat, "btrfs": _btrfs}.get(filesystem)
    if not change:
        return
    with mmap.mmap(disk_fd, 0) as disk:
        try:
            change(disk, chance)
        except (struct.error, IndexError, ValueError):
            raise WblabError(
                f"mkfs.{filesystem} made a filesystem that the lab cannot read: use another filesystem"
            ) from None


def _exfat(disk: mmap.mmap, chance: bytes) -> None:
    serial = chance[:4]
    for begin in (0, _BOOT_SECTORS * _SECTOR):  # the main boot region and its backup
        if disk[begin + 3 : begin + 11] != b"EXFAT   " or disk[begin + 108] != 9:
            raise ValueError("no exFAT with sectors of 512 bytes")
        disk[begin + _SERIAL : begin + _SERIAL + 4] = serial
        last = begin + (_BOOT_SECTORS - 1) * _SECTOR
        checksum = 0
        for place, byte in enumerate(disk[begin:last]):
            if place not in _VOLATILE:
                checksum = ((checksum >> 1 | checksum << 31) + byte) & 0xFFFFFFFF
        disk[last : last + _SECTOR] = checksum.to_bytes(4, "little") * (_SECTOR // 4)


def _btrfs(disk: mmap.mmap, chance: bytes) -> None:
    first = disk[_SUPER : _SUPER + _SUPER_BYTES]
    node_bytes = int.from_bytes(first[148:152], "little")
    if first[_MAGIC] != b"_BHRfS_M" or not 4096 <= node_bytes <= 65536:
        raise ValueError("no btrfs")
    nodes = list(_nodes(disk, first[_FSID], node_bytes))
    found = {first[_DEVICE_UUID]: None}  # in the order in which they lie on the disk
    for node in (disk[begin : begin + node_bytes] for begin in nodes):
        found |= dict.fromkeys((node[_CHUNK_UUID], *(data[_ROOT_UUID] for data in _items(node, _ROOT_ITEM))))
    given = [uuid for uuid in found if any(uuid)]
    names = dict(zip(given, (chance[16 * place :][:16] for place in range(len(given))), strict=True))
    if not all(names.values()):
        raise ValueError("more UUIDs than there is chance for")
    supers = [begin for begin in _SUPERS if begin + _SUPER_BYTES <= len(disk)]
    for begin, length in (*((begin, _SUPER_BYTES) for begin in supers), *((begin, node_bytes) for begin in nodes)):
        block = bytearray(disk[begin : begin + length])
        if begin not in supers:
            _set_times(block)
        for old, new in names.items():
            block = block.replace(old, new)
            block = block.replace(old[:8] + _UUID_KEY + old[8:], new[:8] + _UUID_KEY + new[8:])  # the key of a UUID
        block[:4] = crc32c(block[32:]).to_bytes(4, "little")
        disk[begin : begin + length] = bytes(block)


def _nodes(disk: mmap.mmap, fsid: bytes, node_bytes: int) -> Iterator[int]:
    """Yield where tree nodes begin, also those that are not used any more: they carry the filesystem's UUID."""
    found = disk.find(fsid)
    while found >= 0:
        begin = found - _FSID.start
        if begin % 4096 == 0 and begin not in _SUPERS and begin + node_bytes <= len(disk):
            yield begin
        found = disk.find(fsid, found + 1)


def _items(node: bytes, kind: int) -> Iterator[bytes]:
    """Yield the data of a leaf's items of one kind."""
    return (node[begin:end] for found, begin, end in _places(node) if found == kind)


def _places(node: bytes | bytearray) -> Iterator[tuple[int, int, int]]:
    """Yield kind, begin and end of a leaf's items."""
    number, level = struct.unpack_from("<IB", node, 96)
    for place in range(0 if level else number):
        kind, offset, length = struct.unpack_from("<8xB8xII", node, _HEADER_BYTES + _KEY_BYTES * place)
        yield kind, _HEADER_BYTES + offset, _HEADER_BYTES + offset + length


def _set_times(node: bytearray) -> None:
    for kind, begin, _ in _places(node):
        times = {_INODE_ITEM: _INODE_TIMES, _ROOT_ITEM: _ROOT_TIMES}.get(kind, ())
        for place in (begin + offset for offset in times):
            if any(node[place : place + _TIME.size]):
                _TIME.pack_into(node, place, TIME_S, 0)


def _table() -> Iterator[int]:
    """Yield the table of CRC-32C by bytes: Castagnoli's polynomial, reflected."""
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        yield value


_CRC = tuple(_table())


def crc32c(data: bytes | bytearray) -> int:
    """Return the checksum that btrfs writes by default."""
    value = 0xFFFFFFFF
    for byte in data:
        value = _CRC[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF
