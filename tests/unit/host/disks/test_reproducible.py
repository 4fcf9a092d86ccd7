import os
import subprocess

import pytest
from support.disks import formatted

from wblab.core.errors import WblabError
from wblab.core.spec import Disk
from wblab.host.disks.disk import made_disk
from wblab.host.disks.reproducible import CHANCE_BYTES, crc32c, make_reproducible
from wblab.lab.packages import tool_path

MIB = 1 << 20
# The filesystem's own tool checks the consistency.
CHECKS = {"btrfs": ("btrfs", "check", "--readonly"), "exfat": ("fsck.exfat", "-n"), "f2fs": ("fsck.f2fs", "--dry-run")}


def test_the_checksum_agrees_with_the_rfc():
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA  # RFC 3720, appendix B.4


@pytest.mark.parametrize("filesystem", CHECKS)
def test_reproducible_identifiers_leave_a_consistent_filesystem(filesystem, tmp_path):
    checker, *options = CHECKS[filesystem]
    for tool in (f"mkfs.{filesystem}", checker):
        if tool_path(tool) is None:
            pytest.skip(f"what makes a filesystem is not installed: {tool}")
    disk = Disk(size=192 * MIB, filesystem=filesystem, write_bps=1)
    image = tmp_path / "image"
    with formatted(disk, seed=1) as fd:
        image.write_bytes(os.pread(fd, disk.size, 0))
    done = subprocess.run([tool_path(checker), *options, str(image)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mismatch" not in done.stdout + done.stderr


@pytest.mark.parametrize("filesystem", ["btrfs", "exfat"])
def test_a_disk_with_another_filesystem_is_a_failure(filesystem):
    with made_disk(4 * MIB) as fd, pytest.raises(WblabError, match=f"mkfs.{filesystem} made a filesystem that"):
        make_reproducible(filesystem, fd, bytes(CHANCE_BYTES))


def test_filesystems_with_uuid_options_are_left_alone():
    with made_disk(MIB) as fd:
        make_reproducible("ext4", fd, bytes(CHANCE_BYTES))
        assert os.pread(fd, MIB, 0) == bytes(MIB)
