"""Disks in /sys, and their I/O schedulers."""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from wblab.core.check import DIRTY_SYSCTLS
from wblab.core.drivers import FEWEST_REQUESTS, SHORT_BYTES, Driver
from wblab.core.units import Bytes
from wblab.machine.changes import SCHEDULED, Scheduler, WayBack

# Mount points of kernel filesystems, which differ between machines.


def mounted(filesystem: str) -> list[Path]:
    """Return the mount points of a filesystem type, in the order of /proc/self/mounts; see proc_pid_mounts(5)."""
    lines = Path("/proc/self/mounts").read_text()
    return [Path(place) for place in re.findall(rf"^\S+ (\S+) {re.escape(filesystem)} ", lines, re.MULTILINE)]


NUMBERS = Path("/sys/dev/block")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def find_disk(name: str) -> Path:
    """Return the disk in /sys that a device is, or is part of: sda, /dev/sda1. Raises OSError."""
    number = os.stat(Path("/dev", name)).st_rdev
    return whole_disk((NUMBERS / f"{os.major(number)}:{os.minor(number)}").resolve(strict=True))


def whole_disk(device: Path) -> Path:
    """Return the disk of a partition; any other device itself."""
    return device.parent if (device / "partition").exists() else device


def number(disk: Path) -> str:
    """Return the number of a disk in the kernel's form, major:minor. Raises OSError."""
    return (disk / "dev").read_text().strip()


def names_by_number() -> dict[str, str]:
    """Return the kernel's name of each block device by its number, major:minor."""
    return {link.name: link.resolve().name for link in sorted(NUMBERS.glob("*"))}


def built_on(disk: Path) -> list[Path]:
    """Return a disk and the devices made only of it and its partitions (LUKS, LVM), in /sys."""
    found = [disk]
    for device in found:  # the list grows in the loop
        parts = [device, *(flag.parent for flag in device.glob("*/partition"))]
        for holder in sorted(link.resolve() for part in parts for link in part.glob("holders/*")):
            below = {whole_disk(link.resolve()) for link in holder.glob("slaves/*")}
            if holder not in found and below <= set(found):
                found.append(holder)
    return found


def schedulers(disk: Path) -> list[str]:
    """Return the loaded I/O schedulers of a disk, the present one first. Raises OSError."""
    words = (disk / "queue" / "scheduler").read_text().split()
    return [word.strip("[]") for word in sorted(words, key=lambda word: not word.startswith("["))]


def scheduler(disk: Path) -> str:
    """Return a disk's I/O scheduler. Raises OSError if it has none."""
    return next(iter(schedulers(disk)), "")


# What the kernel calls the drivers that the lab knows; all of ATA's are libata's. Its `sd` is any disk of SCSI, which
# says nothing of what carries it.
_DRIVERS: dict[str, Driver] = {
    "usb-storage": "usb-storage",
    "uas": "uas",
    "mmcblk": "sd",
    "virtio_blk": "virtio",
    "nvme": "nvme",
    "nvme-subsystem": "nvme",
    "uml-blkdev": "ubd",
}
_ATA = re.compile(r"ata[0-9]+")


def driver_of(disk: Path) -> Driver | None:
    """Return whose queue a disk in /sys has; None for a driver that the lab does not know, and for dm, md and loop.

    It is the device's driver, or that of a device above it: a stick's disk is SCSI's, and hangs on USB's. What /sys
    shows is only compared with names that are known; a link that leads nowhere is none.
    """
    device = Path(os.path.realpath(disk / "device"))

    def steps() -> Iterator[tuple[str, str]]:
        for place in (device, *device.parents):
            try:
                yield place.name, os.path.basename(os.readlink(place / "driver"))
            except OSError:
                yield place.name, ""

    return driver_among(steps())


def driver_among(steps: Iterable[tuple[str, str]]) -> Driver | None:
    """Return whose queue a disk has, by its device and those above it, each with the name of its driver or ""."""
    for name, driver in steps:
        if _ATA.fullmatch(name):
            return "sata"
        if found := _DRIVERS.get(driver) or _DRIVERS.get(name):
            return found
    return None


_OF_QUEUE = ("nr_requests", "max_sectors_kb", "wbt_lat_usec", "rotational", "write_cache")


def queue_settings(disk: Path) -> dict[str, str]:
    """Return what a disk's queue is set to, as far as this kernel has it, and its driver, if the lab knows it."""
    found = {}
    for name in _OF_QUEUE:
        with suppress(OSError):  # the kernel has none, or the disk was unplugged
            found[name] = (disk / "queue" / name).read_text().strip()
    driver = driver_of(disk)
    return found | ({"driver": driver} if driver else {})


SMALLEST_REQUEST = SHORT_BYTES // FEWEST_REQUESTS  # with smaller ones, what each request costs the disk would count


def shortened(requests: int, request_bytes: int, most_bytes: float) -> tuple[int, int]:
    """Return how many requests of which size make a queue hold `most_bytes`; neither is more than it has now.

    It gets fewer requests first. The kernel has no fewer than `FEWEST_REQUESTS`; where these are still too long, as
    with the 4 MiB that SATA's may have, they get smaller, but no smaller than `SMALLEST_REQUEST`.
    """
    fewer = min(requests, max(FEWEST_REQUESTS, int(most_bytes / request_bytes)))
    smaller = int(most_bytes / fewer) // _PAGE_BYTES * _PAGE_BYTES
    return fewer, min(request_bytes, max(SMALLEST_REQUEST, smaller))


def set_scheduler(disk: Path, name: str, way_back: WayBack) -> None:
    """Set a disk's I/O scheduler. Raises OSError."""
    queue = disk / "queue"
    had = {each: path.read_text().strip() for each in SCHEDULED if (path := queue / each).exists()}
    way_back.note(Scheduler(disk=str(disk), old=scheduler(disk), **had))
    (disk / "queue" / "scheduler").write_text(name)


# What decides a machine's writeback: memory, thresholds and settings.

_SYS = Path("/sys")


def memory_bytes() -> Bytes:
    """Return MemTotal of /proc/meminfo."""
    return Bytes(_table(Path("/proc/meminfo"))["MemTotal:"] * 1024)


def available_bytes() -> Bytes:
    """Return MemAvailable of /proc/meminfo or, where a kernel does not show it, MemFree."""
    found = _table(Path("/proc/meminfo"))
    return Bytes(found.get("MemAvailable:", found["MemFree:"]) * 1024)


def thresholds() -> dict[str, int]:
    """Return the present thresholds of the page cache and its dirty amount, in bytes (/proc/vmstat)."""
    values = _table(Path("/proc/vmstat"))
    names = {
        "background": "nr_dirty_background_threshold",
        "dirty": "nr_dirty_threshold",
        "now_dirty": "nr_dirty",
        "now_writeback": "nr_writeback",
    }
    return {name: values[key] * _PAGE_BYTES for name, key in names.items() if key in values}


def dirty_settings() -> dict[str, int | str]:
    """Return the vm.dirty* settings that this kernel has."""
    paths = {key: Path("/proc/sys", *key.split(".")) for key in DIRTY_SYSCTLS}
    return {key: int(path.read_text()) for key, path in paths.items() if path.exists()}


def backing_devices(disk: str, sys: Path = _SYS) -> list[Path]:
    """Return the directories in /sys/class/bdi that limit a disk's dirty memory.

    There is one for the disk, one for each device built on it alone, and one for each btrfs on nothing else. A page
    counts for the one of its filesystem. sys: the machine's /sys.
    """
    devices = built_on((sys / "block" / disk).resolve())
    found = [device / "bdi" for device in devices]
    for link in sorted((sys / "fs/btrfs").glob("*/bdi")):
        members = {whole_disk(member.resolve()) for member in (link.parent / "devices").iterdir()}
        if members <= set(devices):
            found.append(link)
    return [sys / "class/bdi" / link.resolve().name for link in found if link.exists()]


def _table(path: Path) -> dict[str, int]:
    lines = (line.split() for line in path.read_text().splitlines())
    return {words[0]: int(words[1]) for words in lines if len(words) > 1}
