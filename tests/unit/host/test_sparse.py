"""Sparse files keep their holes, and disks of 64 GiB take little memory."""

import os
import subprocess
from random import Random

import pytest
from support.disks import formatted

from wblab.core.errors import WblabError
from wblab.core.spec import Disk
from wblab.host import mkfs as sparse
from wblab.host.disk import made_disk
from wblab.host.limits import OverLimitError, check_disks
from wblab.host.mkfs import DISK_PATH, Mkfs, format_disk
from wblab.lab.packages import tool_path

MIB, GIB = 1 << 20, 1 << 30


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
    sparse.copy(one, two)
    content = os.pread(one, 64 * MIB, 0)
    assert os.pread(two, 64 * MIB, 0) == content
    sparse.dig(one)
    assert os.pread(one, 64 * MIB, 0) == content
    assert sparse.taken_bytes(one) <= sparse.taken_bytes(two) + 64 * 4096
    assert sparse.taken_bytes(two) < 20 * (300_000 + 2 * (1 << 16))


def test_empty_files_take_no_memory(files):
    one, two = files
    sparse.copy(one, two)
    assert os.fstat(two).st_size == 0
    os.ftruncate(one, 1 << 40)
    sparse.copy(one, two)
    assert (os.fstat(two).st_size, sparse.taken_bytes(two)) == (1 << 40, 0)


@pytest.mark.parametrize(("filesystem", "check"), [("ext4", "e2fsck -f -n"), ("xfs", "xfs_repair -n -f")])
def test_a_disk_of_64_gib_takes_little_memory(filesystem, check):
    disk = Disk(size=64 * GIB, resident=128 * MIB, filesystem=filesystem, write_bps=1)
    with formatted(disk, 1) as fd:
        assert os.fstat(fd).st_size == 64 * GIB
        assert sparse.taken_bytes(fd) < 16 * MIB
        if tool := tool_path(check.split()[0]):
            command = [tool, *check.split()[1:], f"/proc/self/fd/{fd}"]
            assert subprocess.run(command, pass_fds=[fd], capture_output=True, check=False).returncode == 0


def test_a_tool_over_its_memory_limit_is_ended():
    command = [tool_path("mke2fs"), "-q", "-F", "-E", "lazy_itable_init=0", DISK_PATH]
    mkfs = Mkfs(command, 4 * GIB, resident_bytes=1 * MIB)
    with (
        made_disk(4 * GIB) as fd,
        pytest.raises(WblabError, match=r"mke2fs took more than 1 MiB .* raise disk\.resident"),
    ):
        format_disk(mkfs, fd)


def test_a_guest_over_its_memory_limit_is_ended(files):
    disk = Mkfs((), MIB, key="disk.fast", resident_bytes=8192)
    os.pwrite(files[0], bytes(8192), 0)
    check_disks({files[0]: disk})
    os.pwrite(files[0], b"x", 8192)
    with pytest.raises(OverLimitError, match=r"a disk took more than 8 KiB of memory: raise disk\.fast\.resident"):
        check_disks({files[0]: disk})
