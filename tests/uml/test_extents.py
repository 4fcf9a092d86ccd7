"""The places of files that the guest records, compared with debugfs, xfs_bmap and xfs_db for the same disk."""

import re

import pytest

from wblab.core import layout
from wblab.core.fiemap import Extent

QUIET = ("trace.events=[]", "memory=256MiB")
# Sparse, out of order and synced in between, so that there is more than one extent.
CHUNKS = "{kind='chunks', file='d/f', wait='1s', size='256KiB', order='3012', fsync='1010', sync='0101', density=50}"
TOOL = {
    "ext4": "debugfs -R 'dump_extents d/f' /dev/ubda",
    "xfs": "xfs_bmap -v d/f",
}
DISKS = {
    "ext4": ("disk.size=64MiB", "disk.mkfs_options=['-b', '4096']"),
    "xfs": ("disk.size=320MiB", "disk.filesystem=xfs", "disk.mkfs_options=[]"),
}


def of_debugfs(text, block=4096):
    """Return the leaves of an extent tree."""
    rows = re.findall(r"^ *(\d+)/ *(\d+) +\d+/ *\d+ +(\d+) +- +\d+ +(\d+) +- +\d+ +(\d+)", text, re.MULTILINE)
    return tuple(
        Extent(*(int(number) * block for number in numbers)) for level, depth, *numbers in rows if level == depth
    )


def of_xfs_bmap(text, sector=512):
    """Return all extents that are not holes, in bytes."""
    rows = re.findall(r"^ *\d+: \[(\d+)\.\.(\d+)\]: +(\d+)\.\.", text, re.MULTILINE)
    return tuple(
        Extent(int(first) * sector, int(place) * sector, (int(last) + 1 - int(first)) * sector)
        for first, last, place in rows
    )


@pytest.mark.parametrize("filesystem", TOOL)
def test_recorded_extents_agree_with_the_filesystem_s_own_tool(shared_lab, filesystem):
    words = f"sync && {TOOL[filesystem]} > {layout.SCRATCH}/left/told"
    asks = f"{{kind='command', wait='5s', argv=['sh', '-c', \"{words}\"]}}"
    run = shared_lab.run("base-device", *QUIET, *DISKS[filesystem], f"load={{l1={CHUNKS}, l2={asks}}}")
    told = (run.path / "left" / "told").read_text()
    record = run.files["l1"]["d/f"]
    assert (record.size, record.block) == (256 << 10, 4096)
    assert record.extents == {"ext4": of_debugfs, "xfs": of_xfs_bmap}[filesystem](told)
    assert len(record.extents) == 4


def test_a_filesystem_without_fiemap_records_no_extents(shared_lab):
    loads = "load={l1={kind='chunks', file='f', wait='1s', size='64KiB'}}"
    run = shared_lab.run(
        "base-device", *QUIET, "disk.size=64MiB", "disk.mkfs_options=[]", loads, "disk.filesystem=vfat"
    )
    assert run.files == {}


def test_extents_are_recorded_on_a_throttled_disk_with_the_real_clock(shared_lab):
    loads = "load={l1={kind='chunks', file='f', wait='1s', size='64KiB', sync='0000'}}"
    run = shared_lab.run("base", *QUIET, "disk.size=64MiB", "clock.mode=real", loads)
    (extent,) = run.files["l1"]["f"].extents
    assert (extent.logical, extent.length) == (0, 64 << 10)
