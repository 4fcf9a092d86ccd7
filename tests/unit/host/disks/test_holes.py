import os
from random import Random

import pytest

from wblab.host.disks import holes

MIB = 1 << 20


@pytest.fixture
def files():
    """Two empty files."""
    fds = [os.memfd_create(name) for name in ("one", "two")]
    yield fds
    for fd in fds:
        os.close(fd)


@pytest.mark.parametrize("seed", range(5))
def test_a_copy_is_identical_and_keeps_its_holes(files, seed):
    draw, (one, two) = Random(seed), files
    os.ftruncate(one, 64 * MIB - 7)
    for _ in range(20):
        os.pwrite(one, draw.randbytes(draw.choice((1, 4096, 300_000))), draw.randrange(63 * MIB))
    os.pwrite(one, bytes(8 * MIB), 16 * MIB)
    holes.copy(one, two)
    content = os.pread(one, 64 * MIB, 0)
    assert os.pread(two, 64 * MIB, 0) == content
    holes.dig(one)
    assert os.pread(one, 64 * MIB, 0) == content
    assert holes.taken_bytes(one) <= holes.taken_bytes(two) + 64 * 4096
    assert holes.taken_bytes(two) < 20 * (300_000 + 2 * (1 << 16))


def test_empty_files_take_no_memory(files):
    one, two = files
    holes.copy(one, two)
    assert os.fstat(two).st_size == 0
    os.ftruncate(one, 1 << 40)
    holes.copy(one, two)
    assert (os.fstat(two).st_size, holes.taken_bytes(two)) == (1 << 40, 0)
