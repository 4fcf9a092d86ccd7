"""Disks below /sys, and their I/O schedulers."""

import os
from pathlib import Path

from wblab.machine.changes import SCHEDULED, Scheduler, WayBack

NUMBERS = Path("/sys/dev/block")


def find_disk(name: str) -> Path:
    """Return the disk that a device is or is part of, below /sys: sda, /dev/sda1. Raises OSError."""
    number = os.stat(Path("/dev", name)).st_rdev
    return whole_disk((NUMBERS / f"{os.major(number)}:{os.minor(number)}").resolve(strict=True))


def whole_disk(device: Path) -> Path:
    """Return the disk of a partition; of another device, itself."""
    return device.parent if (device / "partition").exists() else device


def number(disk: Path) -> str:
    """Return the number of a disk as the kernel's files have it, major:minor. Raises OSError."""
    return (disk / "dev").read_text().strip()


def built_on(disk: Path) -> list[Path]:
    """Return a disk and the devices that are made of nothing but it and its parts (LUKS, LVM), below /sys."""
    found = [disk]
    for device in found:  # which grows meanwhile
        parts = [device, *(flag.parent for flag in device.glob("*/partition"))]
        for holder in sorted(link.resolve() for part in parts for link in part.glob("holders/*")):
            below = {whole_disk(link.resolve()) for link in holder.glob("slaves/*")}
            if holder not in found and below <= set(found):
                found.append(holder)
    return found


def schedulers(disk: Path) -> list[str]:
    """Return the I/O schedulers that a disk can have, as far as they are loaded, that in use first. Raises OSError."""
    words = (disk / "queue" / "scheduler").read_text().split()
    return [word.strip("[]") for word in sorted(words, key=lambda word: not word.startswith("["))]


def scheduler(disk: Path) -> str:
    """Return a disk's I/O scheduler. Raises OSError where it has none."""
    return next(iter(schedulers(disk)), "")


def set_scheduler(disk: Path, name: str, way_back: WayBack) -> None:
    """Give a disk another I/O scheduler. Raises OSError."""
    queue = disk / "queue"
    had = {each: path.read_text().strip() for each in SCHEDULED if (path := queue / each).exists()}
    way_back.note(Scheduler(disk=str(disk), old=scheduler(disk), **had))
    (disk / "queue" / "scheduler").write_text(name)
