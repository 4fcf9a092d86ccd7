import os
import re
import resource
import subprocess
import time
import uuid
from dataclasses import replace
from hashlib import sha256

import pytest
from support.descriptors import nothing_stays_open
from support.disks import formatted, streams

from wblab.core.child import fork_child
from wblab.core.diskcheck import MIN_DISK
from wblab.core.errors import WblabError
from wblab.core.spec import Disk
from wblab.host.disks.disk import made_disk, made_disks, mkfs_for, mkfs_of, mkfs_tool
from wblab.host.disks.mkfs import Mkfs, format_disk
from wblab.lab.packages import tool_path
from wblab.lab.places import PRESETS
from wblab.lab.specfile import read_spec

MIB = 1 << 20
BASE = read_spec(PRESETS / "base.toml")


def xfs_version():
    """The version of xfsprogs; (0, 0) if it is missing."""
    path = tool_path("mkfs.xfs")
    said = subprocess.run([path, "-V"], capture_output=True, text=True, check=True).stdout if path else ""
    version = re.search(r"version (\d+)\.(\d+)", said)
    return (int(version[1]), int(version[2])) if version else (0, 0)


def needs(tool):
    """The mark of a test that needs an optional program."""
    return pytest.mark.skipif(tool_path(tool) is None, reason=f"what makes a filesystem is not installed: {tool}")


REPEATS_XFS = pytest.mark.skipif(xfs_version() < (6, 18), reason="mkfs.xfs is repeatable since xfsprogs 6.18")
OPTIONAL = {name: MIN_DISK[name] for name in ("btrfs", "f2fs", "vfat", "exfat")}
FILESYSTEMS = [
    ("ext2", 16 * MIB),
    ("ext3", 16 * MIB),
    ("ext4", 16 * MIB),
    pytest.param("xfs", 300 * MIB, marks=REPEATS_XFS),
    *(pytest.param(name, size, marks=needs(f"mkfs.{name}")) for name, size in OPTIONAL.items()),
]


@pytest.fixture(autouse=True)
def _nothing_is_left(shm):
    with nothing_stays_open():
        yield


def digest(disk, seed):
    with formatted(disk, seed) as fd, open(fd, "rb", closefd=False) as file:
        assert os.fstat(fd).st_size == disk.size
        content = sha256()
        while chunk := file.read(MIB):
            content.update(chunk)
        return content.hexdigest()


@pytest.mark.parametrize(("filesystem", "size"), FILESYSTEMS)
def test_the_seed_decides_the_bytes_of_a_filesystem(filesystem, size):
    disk = Disk(size=size, filesystem=filesystem, write_bps=1)
    first = digest(disk, 1)
    assert digest(disk, 1) == first
    assert digest(disk, 2) != first


@pytest.mark.parametrize("filesystem", [pytest.param(name, marks=needs(f"mkfs.{name}")) for name in OPTIONAL])
def test_the_bytes_do_not_depend_on_the_time_of_day(filesystem):
    disk = Disk(size=OPTIONAL[filesystem], filesystem=filesystem, write_bps=1)
    first = digest(disk, 1)
    time.sleep(1.1)  # times on disks are in seconds
    assert digest(disk, 1) == first


@needs("mkfs.vfat")
@pytest.mark.parametrize(("size", "kind"), [(16 * MIB, b"FAT16"), (40 * MIB, b"FAT32")])
def test_a_stick_gets_fat32_from_its_minimum_size_on(size, kind):
    with formatted(Disk(size=size, filesystem="vfat", write_bps=1), 1) as fd:
        assert kind in os.pread(fd, 512, 0)


def dumped(fd):
    command = [tool_path("dumpe2fs"), "-h", f"/proc/self/fd/{fd}"]
    return subprocess.run(command, pass_fds=[fd], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(("filesystem", "journal"), [("ext2", False), ("ext3", True), ("ext4", True)])
def test_the_requested_filesystem_is_made(filesystem, journal):
    disk = Disk(size=16 * MIB, filesystem=filesystem, write_bps=1)
    with formatted(disk, 7) as fd:
        text = dumped(fd)
    command = mkfs_for(disk, *streams(7)).command
    assert re.search(r"Filesystem UUID: +(\S+)", text)[1] == command[command.index("-U") + 1]
    assert re.search(r"Directory Hash Seed: +(\S+)", text)[1] in " ".join(command)
    assert ("has_journal" in text) == journal
    assert re.search(r"Filesystem state: +clean", text)


def test_xfs_has_the_seed_s_uuid():
    disk = Disk(size=300 * MIB, filesystem="xfs", write_bps=1)
    with formatted(disk, 7) as fd:
        assert os.pread(fd, 4, 0) == b"XFSB"
        found = uuid.UUID(bytes=os.pread(fd, 16, 32))
    assert f"uuid={found}" in mkfs_for(disk, *streams(7)).command


def test_mkfs_options_are_applied():
    disk = Disk(size=16 * MIB, write_bps=1, mkfs_options=("-O", "^has_journal", "-L", "a label"))
    with formatted(disk, 1) as fd:
        text = dumped(fd)
    assert "has_journal" not in text
    assert "a label" in text


@pytest.mark.parametrize("filesystem", ["ext2", "none"])
def test_unused_blocks_are_zero_and_allocated(filesystem):
    mkfs = mkfs_for(Disk(size=16 * MIB, filesystem="ext2", write_bps=1), *streams(1))
    with made_disk(16 * MIB) as fd:
        format_disk(mkfs if filesystem == "ext2" else Mkfs((), 16 * MIB), fd)
        assert os.pread(fd, 4096, 15 * MIB) == bytes(4096)
        assert os.fstat(fd).st_blocks * 512 == 16 * MIB


@pytest.mark.parametrize(("filesystem", "size"), [item for item in FILESYSTEMS if "btrfs" not in str(item)])
def test_old_contents_do_not_affect_mkfs(filesystem, size):
    made = []
    for filled in (False, True):
        with made_disk(size, filled=filled) as fd:
            format_disk(mkfs_for(Disk(size=size, filesystem=filesystem, write_bps=1), *streams(1)), fd)
            made.append(os.pread(fd, size, 0))
    zeros, ones = (int.from_bytes(content, "little") for content in made)
    assert made[0] != made[1]
    assert zeros & ones == zeros  # only zeros were changed
    differing = (zeros ^ ones).to_bytes(size, "little")
    assert set(differing) == {0, 0xFF}


def test_the_image_of_a_copied_disk_has_no_holes():
    loop = Disk(size=8 * MIB, model="loop", on=("disk",))
    with made_disks([BASE.disk["disk"], loop]) as (disk, copied):
        assert os.pread(disk, 4096, 0) == bytes(4096)
        assert os.pread(copied, 4096, 0) == b"\xff" * 4096


def test_the_disk_file_has_no_name_and_vanishes_at_the_end():
    with made_disk(8 * MIB) as fd:
        assert os.readlink(f"/proc/self/fd/{fd}") == "/memfd:wblab-disk (deleted)"
        assert not os.get_inheritable(fd)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)


@pytest.mark.parametrize("options", [("-O", "no_such_feature"), ("--no-such-option",), ("-b", "777")])
def test_a_failing_mkfs_option_is_named(options):
    with (
        pytest.raises(WblabError, match=r"mke2fs failed on the disk: check disk\.mkfs_options: .") as raised,
        formatted(Disk(size=8 * MIB, write_bps=1, mkfs_options=options), 1),
    ):
        pass
    assert "\n" not in str(raised.value)


def test_a_disk_too_large_for_shared_memory_is_a_failure():
    def task():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4 * MIB, 4 * MIB))
        with (
            pytest.raises(WblabError, match="cannot make the disk in memory: File too large"),
            made_disk(8 * MIB),
        ):
            pass

    assert os.waitpid(fork_child(task), 0)[1] == 0


def test_tools_of_the_system_are_found_without_their_directory_in_the_path(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert os.access(tool_path("mke2fs"), os.X_OK)
    assert tool_path("no-such-program") is None


@pytest.mark.parametrize(
    ("filesystem", "tool"), [("ext2", "mke2fs"), ("ext4", "mke2fs"), ("xfs", "mkfs.xfs"), ("vfat", "mkfs.vfat")]
)
def test_each_filesystem_has_its_tool(filesystem, tool):
    assert mkfs_tool(Disk(size=1, write_bps=1, filesystem=filesystem)) == tool
    assert mkfs_for(Disk(size=1, write_bps=1, filesystem=filesystem), *streams(1)).command[-1] == "/proc/self/fd/12"


def test_each_disk_has_its_own_identifiers_from_the_seed():
    disk = Disk(size=16 * MIB, write_bps=1)
    two = replace(BASE, disk={"slow": disk, "fast": disk})
    slow, fast = mkfs_of(two)
    assert (slow.command != fast.command, slow.key, fast.key) == (True, "disk.slow", "disk.fast")
    assert mkfs_of(two) == [slow, fast]
    assert mkfs_of(replace(BASE, disk={"disk": disk}))[0].command == slow.command


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount a loop device as snap packages do")
@pytest.mark.parametrize("filesystem", [pytest.param("btrfs", marks=needs("mkfs.btrfs")), "ext4", "xfs"])
def test_mounted_loop_devices_do_not_matter(tmp_path, filesystem):
    image, mounted = tmp_path / "image", tmp_path / "mounted"
    mounted.mkdir()
    image.write_bytes(bytes(8 * MIB))
    subprocess.run([tool_path("mke2fs"), "-q", "-F", "-t", "ext2", image], check=True)
    done = subprocess.run(["mount", "-o", "loop", image, mounted], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"cannot mount: {done.stderr.strip()}")  # a container without loop devices
    try:
        with formatted(Disk(size=MIN_DISK[filesystem], filesystem=filesystem, write_bps=1), 1):
            pass
    finally:
        subprocess.run(["umount", mounted], check=True)
