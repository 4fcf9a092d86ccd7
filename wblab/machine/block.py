"""Disks in /sys, and their I/O schedulers."""

import os
from pathlib import Path

from wblab.machine.changes import SCHEDULED, Scheduler, WayBack

NUMBERS = Path("/sys/dev/block")


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


def queue_settings(disk: Path) -> dict[str, str]:
    """Return what a disk's queue is set to, as far as this kernel has it: requests, their size, and WBT."""
    paths = [disk / "queue" / name for name in ("nr_requests", "max_sectors_kb", "wbt_lat_usec", "rotational")]
    return {path.name: path.read_text().strip() for path in paths if path.exists()}


def set_scheduler(disk: Path, name: str, way_back: WayBack) -> None:
    """Set a disk's I/O scheduler. Raises OSError."""
    queue = disk / "queue"
    had = {each: path.read_text().strip() for each in SCHEDULED if (path := queue / each).exists()}
    way_back.note(Scheduler(disk=str(disk), old=scheduler(disk), **had))
    (disk / "queue" / "scheduler").write_text(name)
