"""/proc/diskstats of a laptop with a stick and encryption, and of this machine."""

import pytest

from wblab.core.errors import InputError
from wblab.live.monitor import disks
from wblab.live.monitor.disks import Bdis, DiskActivity, MachineDisks, counters, find_disk
from wblab.live.monitor.samples import Worked

LINE = "   8       0 {} 10 0 80 5 20 0 {} 9 0 {} 14 0 0 0 0 0 0\n"
S = 10**9


def text(**done):
    """Return the file's text, from the sectors written and the busy milliseconds of each device."""
    return "".join(LINE.format(name.replace("_", "-"), *values) for name, values in done.items()).encode()


@pytest.fixture
def diskstats(tmp_path):
    return tmp_path / "diskstats"


def test_whole_disks_count_once():
    names = dict.fromkeys(
        ("nvme0n1", "nvme0n1p1", "nvme0n1p2", "dm_0", "loop0", "sda", "sda1", "sdb", "mmcblk0"), (8, 3)
    )
    names |= dict.fromkeys(("mmcblk0", "mmcblk0p1", "mmcblk0boot0", "md0", "zram0", "sr0", "ubda", "ubdb"), (8, 3))
    found = counters(text(**names))
    assert list(found) == ["nvme0n1", "sda", "sdb", "mmcblk0", "mmcblk0boot0", "ubda", "ubdb"]
    assert found["sda"] == (4096, 3_000_000)


def test_the_busiest_disks_are_reported_and_new_ones_are_found(diskstats):
    diskstats.write_bytes(text(sda=(0, 0), sdb=(0, 0), sdc=(0, 0)))
    work = DiskActivity(2, (), 0, {}, diskstats)
    diskstats.write_bytes(text(sda=(2048, 100), sdb=(8, 900), sdc=(0, 0)))
    assert work.since_last(S) == (Worked(S, S, "sdb", 4096, 900_000_000), Worked(S, S, "sda", 1 << 20, 100_000_000))
    diskstats.write_bytes(text(sda=(2048, 100), sdb=(8, 900), sdd=(16, 50)))
    assert work.since_last(2 * S) == (Worked(2 * S, S, "sdd", 8192, 50_000_000),)


def test_named_disks_are_always_reported(diskstats):
    diskstats.write_bytes(text(sda=(0, 0), sdb=(0, 0)))
    work = DiskActivity(2, ("sdb",), 0, {"sdb": "stick"}, diskstats)
    diskstats.write_bytes(text(sda=(2048, 100), sdb=(0, 0)))
    assert work.since_last(S) == (Worked(S, S, "stick", 0, 0),)
    diskstats.write_bytes(text(sda=(0, 0)))  # pulled out
    assert work.since_last(2 * S) == ()


def test_a_disk_is_found_by_its_name_or_its_node(diskstats):
    diskstats.write_bytes(text(sda=(0, 0), sda1=(0, 0)))
    assert find_disk("/dev/sda", diskstats) == find_disk("sda", diskstats) == "sda"
    with pytest.raises(InputError, match=r"no disk 'sda1'.*give one of sda"):
        find_disk("sda1", diskstats)


def test_this_machine_s_diskstats_are_read():
    for written, busy_ns in counters(disks.DISKSTATS.read_bytes()).values():
        assert min(written, busy_ns) >= 0


def test_a_stacked_disk_is_reported_on_request(diskstats):
    """Otherwise its bytes would count twice; loop10 is not a partition of loop1."""
    diskstats.write_bytes(text(sda=(0, 0), sda1=(0, 0), loop1=(0, 0), loop1p1=(0, 0), loop10=(0, 0), dm_0=(0, 0)))
    assert [find_disk(name, diskstats) for name in ("/dev/loop1", "loop10", "dm-0")] == ["loop1", "loop10", "dm-0"]
    for name in ("loop1p1", "loop100"):
        with pytest.raises(InputError, match=rf"no disk '{name}'.*give one of sda \(or a disk made of others"):
            find_disk(name, diskstats)
    work = DiskActivity(6, ("loop10",), 0, {}, diskstats)
    diskstats.write_bytes(text(sda=(8, 100), loop1=(8, 100), loop10=(16, 200)))
    assert work.since_last(S) == (Worked(S, S, "loop10", 8192, 200_000_000),)
    everything = DiskActivity(6, (), S, {}, diskstats)
    diskstats.write_bytes(text(sda=(16, 300), loop1=(16, 300), loop10=(32, 400)))
    assert [row.disk for row in everything.since_last(2 * S)] == ["sda"]


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
    return MachineDisks(tmp_path / "diskstats", tmp_path / "block", tmp_path / "btrfs", tmp_path / "mountinfo")


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
