import pytest

from wblab.core.drivers import DRIVERS, SHORT_BYTES, short_queue
from wblab.machine.block import (
    backing_devices,
    built_on,
    driver_of,
    queue_settings,
    scheduler,
    schedulers,
    set_scheduler,
    shortened,
)
from wblab.machine.undo import Undo


@pytest.fixture
def disk(tmp_path):
    """Return a copy of a disk's directory below /sys with these schedulers."""

    def make(shown):
        (tmp_path / "queue").mkdir()
        (tmp_path / "queue" / "scheduler").write_text(f"{shown}\n")
        return tmp_path

    return make


@pytest.mark.parametrize(
    ("shown", "known"),
    [
        ("none mq-deadline [bfq]", ["bfq", "none", "mq-deadline"]),
        ("[none] mq-deadline", ["none", "mq-deadline"]),
        ("none", ["none"]),  # of a device without a queue
    ],
)
def test_the_scheduler_in_use_is_the_one_in_brackets(disk, shown, known):
    place = disk(shown)
    assert (schedulers(place), scheduler(place)) == (known, known[0])


@pytest.mark.parametrize(
    ("requests", "request_kb", "most_kb", "found"),
    [
        (256, 1280, 50 << 10, (40, 1280)),  # fewer requests are enough
        (64, 4096, 512, (4, 128)),  # four of SATA's are 16 MiB
        (64, 4096, 8 << 10, (4, 2048)),
        (2, 1024, 512, (2, 256)),  # a stick's two are too large
        (2, 120, 512, (2, 120)),
        (128, 127, 128, (4, 127)),  # neither gets smaller than is good for a disk
        (256, 4096, 0, (4, 128)),
        (256, 512, 2 << 20, (256, 512)),  # it holds less already
    ],
)
def test_a_queue_gets_fewer_requests_then_smaller_ones(requests, request_kb, most_kb, found):
    fewer, smaller = shortened(requests, request_kb << 10, most_kb << 10)
    assert (fewer, smaller >> 10) == found


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_short_queue_is_the_one_that_specs_have(driver):
    queue, wanted = DRIVERS[driver], short_queue(driver)
    kept = wanted.get("nr_requests", queue.requests), wanted.get("max_sectors_kb", queue.request_bytes / 1024) * 1024
    assert shortened(queue.requests, queue.request_bytes, SHORT_BYTES) == kept


def test_a_scheduler_is_restored_at_the_end(disk):
    file = (place := disk("none [bfq]")) / "queue" / "scheduler"
    with Undo() as undo:
        set_scheduler(place, "none", undo)
        assert file.read_text() == "none"
    assert (file.read_text(), undo.failures) == ("bfq", ())


def test_the_queue_settings_of_a_scheduler_are_restored_with_it(disk):
    queue = (place := disk("none [bfq]")) / "queue"
    (queue / "nr_requests").write_text("64\n")
    (queue / "wbt_lat_usec").write_text("0\n")
    with Undo() as undo:
        set_scheduler(place, "none", undo)
        (queue / "nr_requests").write_text("256\n")  # as the kernel does
    assert [(queue / name).read_text() for name in ("scheduler", "nr_requests", "wbt_lat_usec")] == ["bfq", "64", "0\n"]


PCI = "devices/pci0000:00/0000:00:14.0"
USB = f"{PCI}/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0"
# Of each disk: its device below /sys, and what is linked from there or from above as its driver. As on real machines.
DEVICES = {
    "usb-storage": (USB, {f"{PCI}/usb2/2-1/2-1:1.0": "usb-storage", PCI: "xhci_hcd", USB: "sd"}),
    "uas": (USB, {f"{PCI}/usb2/2-1/2-1:1.0": "uas", PCI: "xhci_hcd", USB: "sd"}),
    "sata": (f"{PCI}/ata1/host0/target0:0:0/0:0:0:0", {PCI: "ahci"}),
    "sd": (f"{PCI}/mmc_host/mmc0/mmc0:aaaa", {f"{PCI}/mmc_host/mmc0/mmc0:aaaa": "mmcblk", PCI: "sdhci-pci"}),
    "nvme": (f"{PCI}/nvme/nvme0", {PCI: "nvme"}),
    "virtio": (f"{PCI}/virtio1", {f"{PCI}/virtio1": "virtio_blk", PCI: "virtio-pci"}),
    None: (f"{PCI}/virtio0/host0/target0:0:0/0:0:0:0", {f"{PCI}/virtio0": "virtio_scsi", PCI: "virtio-pci"}),
}


@pytest.mark.parametrize("driver", DEVICES)
def test_a_disk_s_driver_is_that_of_what_carries_it(tmp_path, driver):
    device, drivers = DEVICES[driver]
    disk = tmp_path / device / "block/disk"
    (disk / "queue").mkdir(parents=True)
    (disk / "device").symlink_to("../..")
    for place, name in drivers.items():
        (tmp_path / place / "driver").symlink_to(f"/nowhere/bus/drivers/{name}")
    (disk / "queue/nr_requests").write_text("64\n")
    (tmp_path / "block").mkdir()
    (tmp_path / "block/disk").symlink_to(disk)
    assert driver_of(tmp_path / "block/disk") == driver
    assert queue_settings(disk) == {"nr_requests": "64"} | ({"driver": driver} if driver else {})


def test_a_disk_of_several_paths_or_of_others_or_with_a_broken_link_has_its_own_or_none(tmp_path):
    def disk(name, device):
        (tmp_path / name).mkdir()
        if device:
            (tmp_path / name / "device").symlink_to(device)
        return tmp_path / name

    (tmp_path / "virtual/nvme-subsystem/nvme-subsys0").mkdir(parents=True)
    assert driver_of(disk("nvme0n1", tmp_path / "virtual/nvme-subsystem/nvme-subsys0")) == "nvme"
    assert driver_of(disk("loop0", "")) is None
    assert driver_of(disk("gone", "../nowhere")) is None
    assert driver_of(disk("round", "../round/device")) is None
    (tmp_path / "file").write_text("")
    assert driver_of(disk("odd", "../file")) is None
    assert driver_of(tmp_path / "unplugged") is None


@pytest.fixture
def devices(tmp_path):
    """Return a function that makes devices as in /sys, with the holders of each disk or partition."""

    def make(holders):
        for part in {*holders, *(holder for above in holders.values() for holder in above)}:
            for name in ("holders", "slaves"):
                (tmp_path / part / name).mkdir(parents=True)
            if "/" in part:
                (tmp_path / part / "partition").touch()
        for part, above in holders.items():
            for holder in above:
                (tmp_path / part / "holders" / holder).symlink_to(tmp_path / holder)
                (tmp_path / holder / "slaves" / part.split("/")[-1]).symlink_to(tmp_path / part)
        return lambda disk: [device.name for device in built_on(tmp_path / disk)]

    return make


def test_devices_built_on_a_disk_are_found(devices):
    """An encrypted partition with two volumes; another disk has none of them."""
    of = devices({"sda/sda1": [], "sda/sda2": ["dm-0"], "dm-0": ["dm-1", "dm-2"], "sdb": []})
    assert of("sda") == ["sda", "dm-0", "dm-1", "dm-2"]
    assert of("sdb") == ["sdb"]


def test_a_device_built_on_several_disks_belongs_to_none(devices):
    of = devices({"sda/sda1": ["md0"], "sdb/sdb1": ["md0", "dm-0"], "md0": ["dm-1"]})
    assert of("sda") == ["sda"]
    assert of("sdb") == ["sdb", "dm-0"]


def test_a_volume_over_two_partitions_of_one_disk_belongs_to_it(devices):
    of = devices({"sda/sda1": ["dm-0"], "sda/sda2": ["dm-1"], "dm-0": ["dm-2"], "dm-1": ["dm-2"]})
    assert of("sda") == ["sda", "dm-0", "dm-1", "dm-2"]


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
