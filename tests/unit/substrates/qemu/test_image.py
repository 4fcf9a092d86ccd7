"""A disk's first content is carried in pieces, and put together is a whole filesystem."""

import json
import subprocess

import pytest

from wblab.core.errors import WblabError
from wblab.core.spec import Spec
from wblab.lab.packages import tool_path
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.substrates.qemu.run import disk_contents

SMALL = ("disk.slow.size=64MiB", "disk.fast.size=16MiB", "disk.fast.filesystem=ext2")


def spec(*settings: str) -> Spec:
    return read_spec(SPECS.find("two-disks"), [*SMALL, *settings])


@pytest.mark.skipif(tool_path("mkfs.ext4") is None, reason="what makes a filesystem is not installed: mkfs.ext4")
def test_the_pieces_are_a_filesystem_without_faults(tmp_path):
    contents = disk_contents(spec())
    assert [len(content) < 8 << 20 for content in contents] == [True, True]  # far less than the disks
    for number, (content, size) in enumerate(zip(contents, (64 << 20, 16 << 20), strict=True)):
        index, _, data = content.partition(b"\n")
        pieces = json.loads(index)
        assert sum(length for _, length in pieces) == len(data)
        image = tmp_path / str(number)
        with image.open("wb") as file:
            file.truncate(size)
            for offset, length in pieces:
                file.seek(offset)
                file.write(data[:length])
                data = data[length:]
        assert image.stat().st_size == size
        done = subprocess.run(
            [tool_path("e2fsck") or "e2fsck", "-fn", str(image)], capture_output=True, text=True, check=False
        )
        assert (done.returncode, "clean" in done.stdout or "Pass 5" in done.stdout) == (0, True), done.stdout


@pytest.mark.skipif(tool_path("mkfs.ext4") is None, reason="what makes a filesystem is not installed: mkfs.ext4")
def test_the_same_spec_gives_the_same_bytes():
    assert disk_contents(spec()) == disk_contents(spec())


def test_a_disk_without_a_filesystem_has_no_pieces():
    assert disk_contents(spec("disk.fast.filesystem=none"))[1] == b"[]\n"


def test_options_that_mkfs_refuses_are_a_reason_in_one_line():
    with pytest.raises(WblabError, match=r"mkfs") as raised:
        disk_contents(spec("disk.fast.mkfs_options=['-Onosuch']"))
    assert "\n" not in str(raised.value)
