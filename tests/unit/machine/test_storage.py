import os
import tempfile
from pathlib import Path

import pytest

from wblab.core.errors import InputError
from wblab.machine.block import find_disk, scheduler
from wblab.machine.storage import find_storage, traffic


def test_a_tmpfs_has_no_device():
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        place = find_storage(Path(directory))
    assert (place.filesystem, place.device, place.disks, place.schedulers()) == ("tmpfs", None, (), "")
    assert "rw" in place.mount_options


def test_the_innermost_mount_counts():
    assert find_storage(Path("/proc/self")).filesystem == "proc"
    assert find_storage(Path("/dev/shm")).filesystem == "tmpfs"


def test_a_missing_directory_is_an_oserror():
    with pytest.raises(FileNotFoundError):
        find_storage(Path("/nonexistent"))


def test_a_path_without_a_mount_is_reported_on_one_line(tmp_path):
    mounts = tmp_path / "mountinfo"
    mounts.write_text("22 25 0:20 / /proc rw - proc proc rw\n")
    with pytest.raises(InputError, match="under no mount visible here"):
        find_storage(tmp_path, mounts)


@pytest.fixture
def on_disk(disk_path):
    place = find_storage(disk_path)
    if place.device is None or not place.disks:
        pytest.skip("no directory here is on a disk")
    return place


def test_writes_appear_in_the_traffic_of_the_device(on_disk, disk_path):
    before = traffic(on_disk.device)
    with open(disk_path / "file", "wb") as file:
        file.write(os.urandom(4 << 20))
        file.flush()
        os.fsync(file.fileno())
    after = traffic(on_disk.device)
    assert after.written_bytes - before.written_bytes >= 4 << 20
    assert after.read_bytes >= before.read_bytes


def test_a_disk_is_found_by_its_name_and_has_a_scheduler(on_disk):
    disk = on_disk.disks[0]
    if not Path("/dev", disk.name).exists():
        pytest.skip("the disk has no node in /dev")
    assert find_disk(disk.name) == find_disk(f"/dev/{disk.name}") == disk
    assert scheduler(disk) in (disk / "queue" / "scheduler").read_text()
