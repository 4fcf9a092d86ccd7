"""FIEMAP replies of a filesystem, invented byte by byte."""

import os
import struct
from errno import EOPNOTSUPP

import pytest

from wblab.core import fiemap

KIB = 1024
UNKNOWN, DELALLOC, INLINE, UNWRITTEN = 0x2, 0x4, 0x200, 0x800


@pytest.fixture
def disk(monkeypatch):
    """Return a list of extents, (logical, physical, length, flags), for the next call to return."""
    said: list[tuple[int, int, int, int]] = []

    def ioctl(fd, request, buffer):
        start, _, flags, _, room, _ = struct.unpack_from("<QQIIII", buffer)
        assert (request, flags) == (0xC020660B, 1)
        found = [item for item in said if item[0] + item[2] > start][:room]
        struct.pack_into("<I", buffer, 20, len(found))
        for place, (logical, physical, length, own) in enumerate(found):
            last = (logical, physical, length, own) == said[-1]
            struct.pack_into("<QQQ16xI12x", buffer, 32 + 56 * place, logical, physical, length, own | last)

    monkeypatch.setattr(fiemap, "ioctl", ioctl)
    return said


@pytest.fixture
def file(tmp_path):
    fd = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    os.ftruncate(fd, 10 * KIB)
    yield fd
    os.close(fd)


def test_an_empty_file_has_no_extents(disk, file):
    assert fiemap.extents(file) == ()


def test_extents_beyond_the_end_of_the_file_do_not_count(disk, file):
    block = os.fstatvfs(file).f_frsize
    end = -(-10 * KIB // block) * block
    disk += [(0, 1 << 30, block, 0), (block, 1 << 20, 1 << 20, UNWRITTEN), (2 << 20, 1 << 40, block, 0)]
    assert fiemap.extents(file) == ((0, 1 << 30, block), (block, 1 << 20, end - block))


@pytest.mark.parametrize("flag", [UNKNOWN, DELALLOC, INLINE])
def test_extents_without_a_physical_place_do_not_count(disk, file, flag):
    disk += [(0, 0, 4 * KIB, flag), (4 * KIB, 8 * KIB, 4 * KIB, 0)]
    assert fiemap.extents(file) == ((4 * KIB, 8 * KIB, 4 * KIB),)


def test_many_extents_are_requested_in_parts(disk, file):
    os.ftruncate(file, 4 * KIB * 1000)
    disk += [(4 * KIB * place, 8 * KIB * place, 4 * KIB, 0) for place in range(1000)]
    assert fiemap.extents(file) == tuple(item[:3] for item in disk)


def test_a_filesystem_without_fiemap_is_an_error(monkeypatch, file):
    def ioctl(*arguments):
        raise OSError(EOPNOTSUPP, os.strerror(EOPNOTSUPP))

    monkeypatch.setattr(fiemap, "ioctl", ioctl)
    with pytest.raises(OSError, match="not supported"):
        fiemap.extents(file)
