"""Names of disks by their BDIs, on a machine made of files."""

import pytest

from wblab.live.monitor.disks import Bdis, Files

ZEROS = " 0" * 14
DISKSTATS = """\
   8 0 sda
   8 1 sda1
   8 2 sda2
   8 16 sdb
   8 17 sdb1
   8 32 sdc
 253 0 dm-0
 253 1 dm-1
   9 0 md0
"""
SLAVES = {"dm-0": ["sda2"], "dm-1": ["dm-0"], "md0": ["sda1", "sdb1"]}
MOUNTS = "30 1 0:53 / /mnt rw - nfs4 server:/files rw\n31 1 8:1 / / rw - ext4 /dev/sda1 rw\n"


@pytest.fixture
def machine(tmp_path):
    for name, below in SLAVES.items():
        for part in below:
            (tmp_path / "block" / name / "slaves" / part).mkdir(parents=True)
    for number, parts in ((1, ["sdc"]), (2, ["sda1", "sdb1"])):
        for part in parts:
            (tmp_path / f"btrfs/uuid{number}/devices" / part).mkdir(parents=True)
        (tmp_path / f"btrfs/uuid{number}/bdi").symlink_to(f"/devices/virtual/bdi/btrfs-{number}")
    (tmp_path / "btrfs/features").mkdir()
    (tmp_path / "diskstats").write_text("".join(line + ZEROS + "\n" for line in DISKSTATS.splitlines()))
    (tmp_path / "mountinfo").write_text(MOUNTS)
    return Files(tmp_path / "diskstats", tmp_path / "block", tmp_path / "btrfs", tmp_path / "mountinfo")


@pytest.mark.parametrize(
    ("bdi", "disk"),
    [
        ("8:16", "sdb"),
        ("253:0", "sda"),  # a logical volume in a partition
        ("253:1", "sda"),  # an encrypted one in that
        ("9:0", "md0"),  # made of two
        ("btrfs-1", "sdc"),
        ("btrfs-2", "btrfs-2"),  # on two
        ("0:53", "server:/files"),
        ("0:99", "0:99"),
        ("8:32", "stick"),
    ],
)
def test_a_bdi_of_a_disk_is_named_after_the_disk(machine, bdi, disk):
    assert Bdis({"sdc": "stick"} if disk == "stick" else {}, machine).disk(bdi) == disk


def test_a_reused_number_gets_its_new_name(machine):
    names = Bdis({}, machine)
    assert names.disk("8:32") == "sdc"
    machine.diskstats.write_text(f"8 32 sdx{ZEROS}\n")
    assert names.disk("8:32") == "sdc"
    names.forget()
    assert names.disk("8:32") == "sdx"


def test_without_information_the_kernel_s_names_are_used(machine):
    machine.diskstats.unlink()
    assert Bdis({}).disk("8:0") == "8:0"
