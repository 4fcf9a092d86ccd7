import os
import subprocess

import pytest
from support.descriptors import nothing_stays_open
from support.disks import formatted

from wblab.core.errors import WblabError
from wblab.core.layout import DISK_FD
from wblab.core.spec import Disk
from wblab.host.disks import holes
from wblab.host.disks.disk import made_disk
from wblab.host.disks.mkfs import DISK_PATH, Mkfs, format_disk
from wblab.host.process.limits import OverLimitError, check_disks
from wblab.host.sandbox import landlock_version
from wblab.lab.packages import tool_path

SIZE = 8 << 20
needs_landlock = pytest.mark.skipif(landlock_version() == 0, reason="the host's kernel has no Landlock")


@pytest.fixture
def disk():
    fd = os.memfd_create("disk")
    os.ftruncate(fd, SIZE)
    yield fd
    os.close(fd)


def test_a_tool_formats_its_disk_and_no_descriptor_is_left(disk):
    with nothing_stays_open():
        format_disk(Mkfs([tool_path("mke2fs"), "-q", "-F", DISK_PATH], SIZE), disk)
    assert os.pread(disk, 2, 1024 + 56) == b"\x53\xef"  # s_magic of the superblock
    assert os.fstat(disk).st_blocks * 512 == SIZE  # no holes


def test_a_tool_formats_its_disk_whichever_descriptors_are_free(disk):
    """A second disk was not found: its copied descriptor happened to have the number that the tool expected."""
    mkfs = Mkfs([tool_path("mke2fs"), "-q", "-F", DISK_PATH], SIZE)
    held = [os.open(os.devnull, os.O_RDONLY)]
    try:
        while held[-1] < DISK_FD + 1:  # in each round the next number is the first free one
            format_disk(mkfs, disk)
            held.append(os.open(os.devnull, os.O_RDONLY))
    finally:
        for descriptor in held:
            os.close(descriptor)


@needs_landlock
def test_a_tool_can_touch_no_other_file(disk, tmp_path):
    """A real attack: an option was the path of a file of the host, which was formatted."""
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious" * (1 << 17))
    before = victim.read_bytes()
    with pytest.raises(WblabError, match="Permission denied"):
        format_disk(Mkfs([tool_path("mke2fs"), "-q", "-F", str(victim)], SIZE), disk)
    assert victim.read_bytes() == before


@needs_landlock
def test_a_tool_reads_no_file_of_the_user_and_runs_no_other_program(disk, tmp_path):
    (tmp_path / "secret").write_text("secret")
    with pytest.raises(WblabError, match=r"secret: Permission denied$"):
        format_disk(Mkfs(["/bin/cat", str(tmp_path / "secret")], SIZE), disk)
    with pytest.raises(WblabError, match=r"Permission denied$"):
        format_disk(Mkfs(["/usr/bin/env", "/bin/sh", "-c", "exit 0"], SIZE), disk)


def test_a_tool_that_takes_too_long_is_ended(disk):
    endless = [tool_path("mke2fs"), "-q", "-F", "-t", "ext4", "-E", f"offset={1 << 40}", DISK_PATH]
    with pytest.raises(WblabError, match=r"mke2fs took more than 1 s of processor time: check disk\.mkfs_options"):
        format_disk(Mkfs(endless, SIZE, longest_s=1), disk)


def test_a_missing_tool_is_named(disk):
    with pytest.raises(WblabError, match=r"mke2fs failed on the disk.*cannot execute /nonexistent/mke2fs"):
        format_disk(Mkfs(["/nonexistent/mke2fs"], SIZE), disk)


MIB, GIB = 1 << 20, 1 << 30


@pytest.mark.parametrize(("filesystem", "check"), [("ext4", "e2fsck -f -n"), ("xfs", "xfs_repair -n -f")])
def test_a_disk_of_64_gib_takes_little_memory(filesystem, check):
    disk = Disk(size=64 * GIB, resident=128 * MIB, filesystem=filesystem, write_bps=1)
    with formatted(disk, 1) as fd:
        assert os.fstat(fd).st_size == 64 * GIB
        assert holes.taken_bytes(fd) < 16 * MIB
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


def test_a_guest_over_its_memory_limit_is_ended():
    disk = Mkfs((), MIB, key="disk.fast", resident_bytes=8192)
    with made_disk(MIB) as fd:
        os.pwrite(fd, bytes(8192), 0)
        check_disks({fd: disk})
        os.pwrite(fd, b"x", 8192)
        with pytest.raises(OverLimitError, match=r"a disk took more than 8 KiB of memory: raise disk\.fast\.resident"):
            check_disks({fd: disk})
