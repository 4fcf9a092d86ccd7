"""The plan of the disks in the guest, against what the kernel calls them."""

from pathlib import Path

import pytest

from wblab.core.check import check_spec
from wblab.core.spec import Spec
from wblab.core.tables import from_table
from wblab.guest.devices import guest_disks, places

RAW = {"size": "64M", "write_bps": "1M", "filesystem": "none"}
DISKS = {
    "a": RAW,
    "r": {"model": "ram", "size": "8M"},
    "b": RAW | {"model": "device"},
    "s": {"model": "delay", "on": ["a"], "delay": "10ms", "filesystem": "none"},
    "t": {"model": "linear", "on": ["b"], "filesystem": "none"},
    "m": {"model": "raid1", "on": ["s", "t"]},
    "l": {"model": "loop", "on": ["m"], "size": "16M"},
    "k": {"model": "loop", "on": ["m"], "size": "16M", "filesystem": "none"},
}
LOADS = {
    name: {"kind": "load", "disk": name, "file": "f", "size": "4K", "block": "4K", "wait": "1s"} for name in ("m", "l")
}
LOADS["k"] = {"kind": "rawload", "disk": "k", "size": "4K", "block": "4K", "wait": "1s"}


@pytest.fixture
def spec():
    made = from_table(Spec, {"name": "x", "memory": "64M", "disk": DISKS, "load": LOADS})
    check_spec(made)
    return made


def test_devices_have_the_kernel_s_numbers_of_their_models_in_the_order_of_the_spec(spec):
    disks = guest_disks(spec)
    nodes = {name: (disk.device.name, disk.image and disk.image.name) for name, disk in disks.items()}
    assert nodes == {
        "a": ("ubda", "ubda"),
        "r": ("ram0", "ubdb"),
        "b": ("ubdc", "ubdc"),
        "s": ("dm-0", None),
        "t": ("dm-1", None),
        "m": ("md0", None),
        "l": ("loop0", "ubdd"),
        "k": ("loop1", None),
    }
    assert places(spec, disks) == {"m": Path("/mnt/m"), "l": Path("/mnt/l"), "k": Path("/dev/loop1")}


def test_a_disk_knows_what_is_below_it_and_whether_it_is_a_part(spec):
    disks = guest_disks(spec)
    assert [part.name for part in disks["m"].parts] == ["s", "t"]
    assert disks["m"].size_bytes == 64 << 20
    assert [name for name, disk in disks.items() if disk.is_part] == ["a", "b", "s", "t"]
    assert [name for name, disk in disks.items() if disk.is_throttled] == ["a", "s", "m", "l", "k"]
