import pytest

from wblab.machine.block import backing_devices


@pytest.fixture
def sys(tmp_path):
    """A /sys with two disks, and a btrfs on one or on both."""
    for disk, number in (("sda", "8:0"), ("sdb", "8:16")):
        (tmp_path / "class/bdi" / number).mkdir(parents=True)
        (tmp_path / "block" / disk).mkdir(parents=True)
        (tmp_path / "block" / disk / "bdi").symlink_to(tmp_path / "class/bdi" / number)

    def btrfs(*disks):
        (tmp_path / "class/bdi/btrfs-1").mkdir()
        (devices := tmp_path / "fs/btrfs/0000/devices").mkdir(parents=True)
        (devices.parent / "bdi").symlink_to(tmp_path / "class/bdi/btrfs-1")
        for disk in disks:
            (devices / disk).symlink_to(tmp_path / "block" / disk)

    return btrfs


@pytest.fixture
def names(tmp_path):
    """Return a function that names the backing devices of a disk."""
    return lambda disk: [place.name for place in backing_devices(disk, tmp_path)]


def test_each_disk_has_its_own_bdi(sys, names):
    assert (names("sda"), names("sdb")) == (["8:0"], ["8:16"])


def test_btrfs_has_its_own_bdi(sys, names):
    sys("sda")
    assert (names("sda"), names("sdb")) == (["8:0", "btrfs-1"], ["8:16"])


def test_the_bdi_of_btrfs_on_two_disks_belongs_to_neither(sys, names):
    sys("sda", "sdb")
    assert (names("sda"), names("sdb")) == (["8:0"], ["8:16"])


def test_a_removed_disk_has_no_bdi(sys, names):
    assert names("sdc") == []
