import os

import pytest

from wblab.core.errors import WblabError
from wblab.core.layout import DISK_FD
from wblab.host.mkfs import DISK_PATH, Mkfs, format_disk
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
    before = os.listdir("/proc/self/fd")
    format_disk(Mkfs([tool_path("mke2fs"), "-q", "-F", DISK_PATH], SIZE), disk)
    assert os.pread(disk, 2, 1024 + 56) == b"\x53\xef"  # s_magic of the superblock
    assert os.fstat(disk).st_blocks * 512 == SIZE  # no holes
    assert os.listdir("/proc/self/fd") == before


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
