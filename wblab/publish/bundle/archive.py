"""The outer form of a bundle: a ZIP archive in which every byte has one permitted value.

All headers follow from the names, sizes and checksums of the members. So a reader builds them again and compares, which
refuses links, folders, encryption, comments, ZIP64, gaps, overlaps, and data before or after the archive. The first
member is stored as it is, the others are compressed by deflate.
"""

import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from wblab.core.units import format_bytes

if TYPE_CHECKING:
    from hashlib import _Hash

MOST_MEMBERS = 20_000
MOST_BYTES = (2 << 30) - 1  # of the file: offsets stay below 31 bits
MOST_NAME_BYTES = 512
_MOST_RATIO, _FREE_BYTES = 200, 1 << 20  # a member may grow 200-fold, or to 1 MiB

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_STORED, _DEFLATED = 0, 8
_VERSION, _UNIX = 20, 3 << 8
_MODE = 0o100644 << 16  # a regular file
_TIME, _DATE = 0, 1 << 5 | 1  # 1980-01-01: the same run gives the same bytes
_CHUNK = 1 << 18
_RAW = -zlib.MAX_WBITS  # deflate without a header of its own


@dataclass(frozen=True)
class ArchiveMember:
    """A member: its name in ASCII, its CRC-32, and its sizes in bytes: as it is packed, and unpacked."""

    name: str
    crc: int
    packed: int
    size: int


def local(entry: ArchiveMember, *, first: bool) -> bytes:
    """Return the header that stands before a member's data."""
    name = entry.name.encode("ascii")
    return _LOCAL.pack(b"PK\3\4", _VERSION, 0, *_form(entry, first), len(name), 0) + name


def directory(entries: Sequence[ArchiveMember]) -> bytes:
    """Return what stands behind the last member: the central directory and its end."""
    parts, at = [], 0
    for entry in entries:
        name, form = entry.name.encode("ascii"), _form(entry, not at)
        parts.append(
            _CENTRAL.pack(b"PK\1\2", _UNIX | _VERSION, _VERSION, 0, *form, len(name), 0, 0, 0, 0, _MODE, at) + name
        )
        at += _LOCAL.size + len(name) + entry.packed
    content, count = b"".join(parts), len(entries)
    return content + _END.pack(b"PK\5\6", 0, 0, count, count, len(content), at, 0)


def _form(entry: ArchiveMember, first: bool) -> tuple[int, ...]:
    return _STORED if first else _DEFLATED, _TIME, _DATE, entry.crc, entry.packed, entry.size


def read_entries(file: BinaryIO) -> list[ArchiveMember]:
    """Return the members of an archive, and leave the file at its beginning. Raises ValueError with the reason."""
    size = file.seek(0, os.SEEK_END)
    if size > MOST_BYTES:
        raise ValueError(f"it is larger than {format_bytes(MOST_BYTES + 1)}")
    file.seek(max(0, size - _END.size))
    end = file.read(_END.size)
    if len(end) < _END.size or end[:4] != b"PK\5\6":
        raise ValueError(
            "it does not end as a bundle does: it is cut off, or another kind of file (wblab why FILE says which)"
        )
    _, _, _, count, _, length, at, _ = _END.unpack(end)
    if not 1 <= count <= MOST_MEMBERS:
        raise ValueError(f"it has {count} members: permitted are 1 to {MOST_MEMBERS:,}")
    if at + length + _END.size != size or length > count * (_CENTRAL.size + MOST_NAME_BYTES):
        raise ValueError("its directory is not where it should be: data is missing, or there is more")
    file.seek(at)
    content = file.read(length)
    entries = list(_parse(content, count))
    filled = sum(_LOCAL.size + len(entry.name) + entry.packed for entry in entries)
    if filled != at or directory(entries) != content + end:
        raise ValueError("its directory is not that of a bundle: other members, sizes, places, kinds or times")
    if len({entry.name for entry in entries}) < count:
        raise ValueError("two of its members have the same name")
    file.seek(0)
    return entries


def _parse(content: bytes, count: int) -> Iterator[ArchiveMember]:
    """Yield the members in a central directory, read without checks: its bytes are compared later."""
    at = 0
    for _ in range(count):
        if at + _CENTRAL.size > len(content):
            raise ValueError("its directory is cut off")
        values = _CENTRAL.unpack_from(content, at)
        crc, packed, size, length = values[7:11]
        at += _CENTRAL.size
        try:
            name = content[at : at + length].decode("ascii")
        except UnicodeDecodeError:
            raise ValueError("the name of a member is not ASCII") from None
        if size > _FREE_BYTES and size > packed * _MOST_RATIO:
            raise ValueError(f"its {name[:80]!r} would unpack to more than {_MOST_RATIO} times its size")
        yield ArchiveMember(name, crc, packed, size)
        at += length


def read_content(file: BinaryIO, entry: ArchiveMember, total: "_Hash | None") -> Iterator[bytes]:
    """Yield the content of the next member in pieces. total: gets the packed data. Raises ValueError.

    total is None for the first member, which is not compressed. Never more than `entry.size` bytes are yielded.
    """
    if file.read(len(head := local(entry, first=total is None))) != head:
        raise ValueError(f"the header of its {entry.name!r} differs from the directory")
    crc = left = 0
    for piece in _stored(file, entry) if total is None else _inflated(file, entry, total):
        left += len(piece)
        crc = zlib.crc32(piece, crc)
        if left > entry.size:
            raise ValueError(f"its {entry.name!r} is longer than it says")
        yield piece
    if left != entry.size or crc != entry.crc:
        raise ValueError(f"its {entry.name!r} is damaged: length or checksum are wrong")


def _stored(file: BinaryIO, entry: ArchiveMember) -> Iterator[bytes]:
    if entry.packed != entry.size:
        raise ValueError(f"its {entry.name!r} has two sizes")
    yield from _pieces(file, entry)


def _pieces(file: BinaryIO, entry: ArchiveMember) -> Iterator[bytes]:
    left = entry.packed
    while left:
        piece = file.read(min(left, _CHUNK))
        if not piece:
            raise ValueError(f"its {entry.name!r} is cut off")
        left -= len(piece)
        yield piece


def _inflated(file: BinaryIO, entry: ArchiveMember, total: "_Hash") -> Iterator[bytes]:
    unpacking = zlib.decompressobj(_RAW)
    try:
        for packed in _pieces(file, entry):
            total.update(packed)
            if unpacking.eof:
                raise ValueError(f"its {entry.name!r} has data after its end")
            waiting = packed
            while True:
                piece = unpacking.decompress(waiting, _CHUNK)
                yield piece
                waiting = unpacking.unconsumed_tail
                if not waiting and len(piece) < _CHUNK:
                    break
    except zlib.error:
        raise ValueError(f"its {entry.name!r} is damaged: it cannot be unpacked") from None
    if not unpacking.eof or unpacking.unused_data:
        raise ValueError(f"its {entry.name!r} is cut off, or has data after its end")


def deflated(pieces: Iterator[bytes], target: BinaryIO, total: "_Hash", content: "_Hash", name: str) -> ArchiveMember:
    """Compress a member's content to the end of a file and return its entry. total: gets the packed data.

    content: gets the content itself. Raises ValueError for one that no reader takes.
    """
    packing, crc, size, packed = zlib.compressobj(9, zlib.DEFLATED, _RAW), 0, 0, 0

    def put(data: bytes) -> int:
        total.update(data)
        return target.write(data)

    for piece in pieces:
        crc, size = zlib.crc32(piece, crc), size + len(piece)
        content.update(piece)
        packed += put(packing.compress(piece))
    packed += put(packing.flush())
    if size > _FREE_BYTES and size > packed * _MOST_RATIO:
        raise ValueError(f"{name!r} compresses to less than 1/{_MOST_RATIO} of its size, which no reader accepts")
    return ArchiveMember(name, crc, packed, size)


def stored(content: bytes, name: str) -> ArchiveMember:
    """Return the entry of the first member."""
    return ArchiveMember(name, zlib.crc32(content), len(content), len(content))
