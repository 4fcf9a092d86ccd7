"""Layouts agree with dumpe2fs and debugfs."""

import os
import re
import subprocess
from itertools import pairwise

import pytest
from support.disks import formatted

from wblab.core.spec import Disk
from wblab.host.disks.ext import ext_layout
from wblab.lab.packages import tool_path

MIB = 1 << 20
SUPER = 1024  # where the superblock is
DISKS = [
    ("ext2", ()),
    ("ext3", ()),
    ("ext4", ()),
    ("ext4", ("-b", "4096")),
    ("ext4", ("-O", "^flex_bg,^64bit")),
    ("ext4", ("-O", "sparse_super2", "-J", "size=4")),
    ("ext4", ("-O", "^has_journal")),
]


def asked(tool, fd, *words):
    path = f"/proc/self/fd/{fd}"
    done = subprocess.run(
        [tool_path(tool), *words, path], pass_fds=[fd], capture_output=True, text=True, check=True
    )  # which has the image without a name
    return done.stdout


def blocks_of(layout, what, group=-1):
    found = [item for item in layout.regions if item.what == what and item.group == group]
    return sorted(block for item in found for block in range(item.first, item.first + item.count))


def spans(text):
    """Return the blocks in texts such as 259-274, 281."""
    pairs = [part.partition("-") for part in re.findall(r"\d+(?:-\d+)?", text)]
    return [block for first, _, last in pairs for block in range(int(first), int(last or first) + 1)]


@pytest.mark.skipif(
    not all(map(tool_path, ("dumpe2fs", "debugfs"))),
    reason="what makes a filesystem is not installed: dumpe2fs and debugfs, which tell what was made",
)
@pytest.mark.parametrize(("filesystem", "options"), DISKS, ids=str)
def test_the_layout_agrees_with_e2fsprogs(filesystem, options):
    disk = Disk(size=130 * MIB, filesystem=filesystem, write_bps=1, mkfs_options=options)
    with formatted(disk, 1) as fd:
        layout, said = ext_layout(fd), asked("dumpe2fs", fd)
        journal = asked("debugfs", fd, "-R", "blocks <8>")
        root = asked("debugfs", fd, "-R", "blocks <2>")
    assert f"Block size:               {layout.block_bytes}\n" in said
    groups = re.split(r"^Group (\d+): ", said, flags=re.MULTILINE)[1:]
    supers, descriptors = [], []
    for number, text in zip(map(int, groups[::2]), groups[1::2], strict=True):
        for what in ("block bitmap", "inode bitmap", "inode table"):
            at = re.search(rf"{what} at (\d+(?:-\d+)?)", text, re.IGNORECASE)
            assert blocks_of(layout, what, number) == spans(at[1])
        if found := re.search(r"(?:Primary|Backup) superblock at (\d+), Group descriptors at ([\d-]+)", text):
            supers += spans(found[1])
            descriptors += spans(found[2])
    assert sorted(blocks_of(layout, "superblock") + blocks_of(layout, "copy of the superblock")) == supers
    names = ("group descriptors", "copy of the group descriptors")
    assert sorted(block for name in names for block in blocks_of(layout, name)) == descriptors
    assert blocks_of(layout, "journal") == sorted(map(int, journal.split()))
    assert blocks_of(layout, "root directory") == list(map(int, root.split()))


def test_regions_do_not_overlap_and_inodes_are_consecutive():
    with formatted(Disk(size=130 * MIB, filesystem="ext4", write_bps=1), 1) as fd:
        layout = ext_layout(fd)
    ends = [(item.first, item.first + item.count) for item in layout.regions]
    assert all(end <= begin for (_, end), (begin, _) in pairwise(ends))
    tables = [item for item in layout.regions if item.what == "inode table"]
    blocks = [block for item in tables for block in range(item.first, item.first + item.count)]
    numbers = [inode for block in blocks for inode in layout.inodes(block)]
    assert sorted(numbers) == list(range(1, len(tables) * layout.group_inodes + 1))
    assert layout.region(blocks[0] + 10**9) is None
    assert not layout.inodes(blocks_of(layout, "inode bitmap", 0)[0])


def test_another_filesystem_or_a_damaged_one_has_no_layout():
    with formatted(Disk(size=16 * MIB, filesystem="ext4", write_bps=1), 1) as fd:
        assert ext_layout(fd)
        for at, bytes_ in (
            (1024 + 56, b"\0\0"),
            (1024 + 40, b"\0" * 4),
            (1024 + 24, b"\xff" * 4),
            (1024, b"\xff" * 512),
        ):
            kept = os.pread(fd, len(bytes_), at)
            os.pwrite(fd, bytes_, at)
            assert ext_layout(fd) is None
            os.pwrite(fd, kept, at)
        os.ftruncate(fd, 1500)
        assert ext_layout(fd) is None
