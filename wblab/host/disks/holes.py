"""Files with holes: where their data is, how much memory or disk they take, and copies that keep the holes.

A guest cannot tell a hole from zeros: it reads the same, and takes as long when time is virtual.
"""

import os
from collections.abc import Iterator
from ctypes import c_int64
from errno import ENXIO

from wblab.core.syscalls import checked, libc

_PIECE_BYTES = 1 << 20
_LEAST_HOLE_BYTES = 1 << 16
_PUNCH = 0x3  # FALLOC_FL_PUNCH_HOLE with FALLOC_FL_KEEP_SIZE, see fallocate(2)
_ZEROS = bytes(_LEAST_HOLE_BYTES)


def taken_bytes(fd: int) -> int:
    """Return how much a file takes, without its holes."""
    return os.fstat(fd).st_blocks * 512


def dig(fd: int) -> None:
    """Make holes of what is zero in a file. Raises OSError."""
    for at, piece in _data(fd):
        for begin in range(0, len(piece), _LEAST_HOLE_BYTES):
            part = piece[begin : begin + _LEAST_HOLE_BYTES]
            if part == _ZEROS[: len(part)]:
                checked(libc.fallocate(fd, _PUNCH, c_int64(at + begin), c_int64(len(part))))


def copy(source: int, target: int) -> None:
    """Copy a file to an empty one: what is zero becomes a hole. Raises OSError."""
    os.ftruncate(target, os.fstat(source).st_size)
    for at, piece in _data(source):
        for begin in range(0, len(piece), _LEAST_HOLE_BYTES):
            part = piece[begin : begin + _LEAST_HOLE_BYTES]
            if part != _ZEROS[: len(part)]:
                os.pwrite(target, part, at + begin)


def _data(fd: int) -> Iterator[tuple[int, bytes]]:
    """Yield what is in a file, in pieces, and where each begins; no holes of it."""
    at, size = 0, os.fstat(fd).st_size
    while at < size:
        try:
            at = os.lseek(fd, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno == ENXIO:  # nothing but a hole up to the end
                return
            raise
        end = os.lseek(fd, at, os.SEEK_HOLE)
        while at < end:
            piece = os.pread(fd, min(_PIECE_BYTES, end - at), at)
            yield at, piece
            at += len(piece)
