"""Disks that are aged before a run: their contents, according to other tools, and that each is made only once."""

import os
import re
import secrets
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from wblab.analysis.runs.difference import first_differences
from wblab.core.freespace import holes
from wblab.core.spec import DISK
from wblab.host import agedimage
from wblab.host.recorded import RunFailedError
from wblab.lab import cache
from wblab.lab.packages import tool_path
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec

LOADS = "load={l1={kind='chunks', file='f', wait='1s', size='64KiB'}}"
DISKS = {
    "ext4": ("disk.filesystem=ext4", "disk.mkfs_options=['-b', '4096']"),
    "xfs": ("disk.filesystem=xfs", "disk.mkfs_options=[]"),
}
FILES = ("used", "filler")  # of an aged disk, in its root
LARGE = ("trace.events=[]", "disk.size=1GiB", "disk.resident=256MiB", LOADS)


@pytest.fixture
def room(monkeypatch):
    """A cache of aged disks for this test alone."""
    name = f"disks-test-{secrets.token_hex(4)}"
    monkeypatch.setattr(agedimage, "_ROOM", name)
    yield cache.room(name)
    shutil.rmtree(cache.room(name))


def images(room):
    return sorted(room.glob("*.img"))


def said(*command):
    done = subprocess.run([tool_path(command[0]), *command[1:]], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def free_runs(filesystem, image):
    """Return the number of runs of free blocks."""
    if filesystem == "xfs":
        _, text = said("xfs_db", "-r", "-c", "freesp", str(image))
        return sum(int(line.split()[2]) for line in text.splitlines()[1:])
    _, text = said("dumpe2fs", str(image))
    return sum(len(re.findall(r"\d+(?:-\d+)?", line)) for line in re.findall(r"Free blocks: (.*)", text))


@pytest.mark.parametrize("filesystem", DISKS)
def test_an_aged_disk_is_consistent_partly_used_and_fragmented(shared_lab, room, filesystem):
    shared_lab.run("base-device", *LARGE, *DISKS[filesystem], "disk.used=40", "disk.layout=3")
    (image,) = images(room)
    status, text = said(*(("e2fsck", "-f", "-n") if filesystem == "ext4" else ("xfs_repair", "-n", "-f")), str(image))
    assert status == 0, text
    # The filesystem's own blocks, its reserve and one per cent are not fragmented.
    most = len(holes(3, (1 << 18) * 6 // 10))
    assert 0.75 * most < free_runs(filesystem, image) < most
    if filesystem == "ext4":
        sizes = [re.search(r"Size: (\d+)", said("debugfs", "-R", f"stat {file}", str(image))[1]) for file in FILES]
        used, filler = (int(size[1]) // 4096 for size in sizes)
        assert used == (1 << 18) * 40 // 100
        assert 0 <= free_runs(filesystem, image) - len(holes(3, filler)) < 30
    assert image.stat().st_blocks * 512 < 32 << 20


def test_an_aged_disk_is_cached_and_reproducible(shared_lab, room):
    settings = (*LARGE, *DISKS["ext4"], "disk.used=20", "disk.layout=2")
    first = shared_lab.run("base-device", *settings)
    (image,) = images(room)
    made_ns, content = image.stat().st_mtime_ns, image.read_bytes()
    second = shared_lab.run("base-device", *settings)
    assert [path.stat().st_mtime_ns for path in images(room)] == [made_ns]
    image.unlink()
    third = shared_lab.run("base-device", *settings)
    assert images(room)[0].read_bytes() == content
    assert first_differences(first, second) == first_differences(first, third) == []
    assert first.files == second.files == third.files


def test_two_runs_at_once_age_the_disk_once(shared_lab, room):
    settings = (*LARGE, *DISKS["ext4"], "disk.layout=4")
    with ThreadPoolExecutor(2) as runs:
        one, two = runs.map(
            lambda size: shared_lab.run("base-device", *settings, f"load.l1.size={size}"), ("8K", "16K")
        )
    assert len(images(room)) == 1
    assert one.files["l1"]["f"].size < two.files["l1"]["f"].size
    assert [path.suffix for path in room.iterdir() if path.suffix != ".lock"] == [".img"]


def test_a_new_file_fills_the_holes(shared_lab, room):
    """Free space consists of pieces of a few blocks, so even a file that is written at once is fragmented."""
    settings = (*LARGE, *DISKS["ext4"], "load.l1.size=8MiB", "load.l1.wait=1s")
    whole = shared_lab.run("base-device", *settings).files["l1"]["f"].extents
    cut = shared_lab.run("base-device", *settings, "disk.used=60", "disk.layout=1").files["l1"]["f"].extents
    assert len(whole) < 5
    assert len(cut) > len(whole)


def test_an_aged_layout_that_does_not_fit_is_reported_and_not_cached(shared_lab, room):
    spec = read_spec(SPECS.find("base-device"))
    assert spec.disk[DISK].filesystem == "ext4"
    with pytest.raises(RunFailedError, match=r"cannot age disk by disk\.used and disk\.layout: No space left"):
        shared_lab.run("base-device", "trace.events=[]", "disk.size=9MiB", "disk.used=90", "load.l1.size=1MiB",
                       "load.l2.size=1MiB")  # fmt: skip
    assert os.listdir(room) == [path.name for path in room.glob("*.lock")]
