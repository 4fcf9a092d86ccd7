"""Disks that are aged before a run: what lies on them, by the word of other tools, and that each is made once."""

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
from wblab.host import aging
from wblab.host.run import RunFailedError
from wblab.kernels import cache
from wblab.lab.named import SPECS
from wblab.lab.specfile import read_spec
from wblab.lab.tools import tool_path

LOADS = "load={l1={kind='chunks', file='f', wait='1s', size='64KiB'}}"
DISKS = {
    "ext4": ("disk.filesystem=ext4", "disk.mkfs_options=['-b', '4096']"),
    "xfs": ("disk.filesystem=xfs", "disk.mkfs_options=[]"),
}
FILES = ("used", "filler")  # of an aged disk, in its root
LARGE = ("trace.events=[]", "disk.size=1GiB", "disk.resident=256MiB", LOADS)


@pytest.fixture
def room(monkeypatch):
    """The place in the cache that aged disks have for this test alone."""
    name = f"disks-test-{secrets.token_hex(4)}"
    monkeypatch.setattr(aging, "_ROOM", name)
    yield cache.room(name)
    shutil.rmtree(cache.room(name))


def images(room):
    return sorted(room.glob("*.img"))


def said(*command):
    done = subprocess.run([tool_path(command[0]), *command[1:]], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def free_runs(filesystem, image):
    """Return how many runs of free blocks there are."""
    if filesystem == "xfs":
        _, text = said("xfs_db", "-r", "-c", "freesp", str(image))
        return sum(int(line.split()[2]) for line in text.splitlines()[1:])
    _, text = said("dumpe2fs", str(image))
    return sum(len(re.findall(r"\d+(?:-\d+)?", line)) for line in re.findall(r"Free blocks: (.*)", text))


@pytest.mark.parametrize("filesystem", DISKS)
def test_an_aged_disk_is_sound_used_and_fragmented(shared_lab, room, filesystem):
    shared_lab.run("base-device", *LARGE, *DISKS[filesystem], "disk.used=40", "disk.layout=3")
    (image,) = images(room)
    status, text = said(*(("e2fsck", "-f", "-n") if filesystem == "ext4" else ("xfs_repair", "-n", "-f")), str(image))
    assert status == 0, text
    # What the filesystem has itself, its reserve and one per cent are not cut up.
    most = len(holes(3, (1 << 18) * 6 // 10))
    assert 0.75 * most < free_runs(filesystem, image) < most
    if filesystem == "ext4":
        sizes = [re.search(r"Size: (\d+)", said("debugfs", "-R", f"stat {file}", str(image))[1]) for file in FILES]
        used, filler = (int(size[1]) // 4096 for size in sizes)
        assert used == (1 << 18) * 40 // 100
        assert 0 <= free_runs(filesystem, image) - len(holes(3, filler)) < 30
    assert image.stat().st_blocks * 512 < 32 << 20


def test_it_is_made_once_and_anew_the_same(shared_lab, room):
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


def test_two_that_want_it_at_once_make_it_once(shared_lab, room):
    settings = (*LARGE, *DISKS["ext4"], "disk.layout=4")
    with ThreadPoolExecutor(2) as runs:
        one, two = runs.map(
            lambda size: shared_lab.run("base-device", *settings, f"load.l1.size={size}"), ("8K", "16K")
        )
    assert len(images(room)) == 1
    assert one.files["l1"]["f"].size < two.files["l1"]["f"].size
    assert [path.suffix for path in room.iterdir() if path.suffix != ".lock"] == [".img"]


def test_a_file_lies_in_the_holes(shared_lab, room):
    """In free space in pieces of one to a few blocks, a file that is written at once cannot lie in one piece."""
    settings = (*LARGE, *DISKS["ext4"], "load.l1.size=8MiB", "load.l1.wait=1s")
    whole = shared_lab.run("base-device", *settings).files["l1"]["f"].extents
    cut = shared_lab.run("base-device", *settings, "disk.used=60", "disk.layout=1").files["l1"]["f"].extents
    assert len(whole) < 5
    assert len(cut) > len(whole)


def test_what_does_not_fit_is_said_and_not_kept(shared_lab, room):
    spec = read_spec(SPECS.find("base-device"))
    assert spec.disk[DISK].filesystem == "ext4"
    with pytest.raises(RunFailedError, match=r"cannot age disk by disk\.used and disk\.layout: No space left"):
        shared_lab.run("base-device", "trace.events=[]", "disk.size=9MiB", "disk.used=90", "load.l1.size=1MiB",
                       "load.l2.size=1MiB")  # fmt: skip
    assert os.listdir(room) == [path.name for path in room.glob("*.lock")]
