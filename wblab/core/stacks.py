"""Disks made of other disks: their parts, their sizes, and the images that the host makes for them.

The device mapper's `linear`, `delay`, `flakey` and `dust` map one disk, and `raid1` several, byte for byte: mkfs runs
on the disks below. `crypt` maps one disk too, but other bytes. `loop` is a file on another disk's filesystem, `file`
one to swap to, without a device. `ram` is the guest's memory, and `zram` that memory compressed. The guest gets their
initial filesystem as the image of a separate disk, and copies it.
"""

from dataclasses import replace

from wblab.core.spec import Disk, Spec
from wblab.core.units import Bytes

MAPPED = ("linear", "delay", "flakey", "dust")  # the kernel's names of these targets
CRYPT, MIRROR, LOOP, FILE, RAM, ZRAM = "crypt", "raid1", "loop", "file", "ram", "zram"
IN_FILES = (LOOP, FILE)  # their data are in a file of another disk
SERVED, OF_SERVED = "served", "fuse"  # the model of a filesystem that a program serves, and its filesystem


def part_of(spec: Spec, name: str) -> str:
    """Return the name of the disk that maps this one; empty if none does."""
    users = (user for user, disk in spec.disk.items() if name in disk.on and disk.model not in IN_FILES)
    return next(users, "")


def top(spec: Spec, name: str) -> str:
    """Return the topmost disk that maps this one byte for byte; the disk itself if none does."""
    above = part_of(spec, name)
    return top(spec, above) if above and spec.disk[above].model != CRYPT else name


def images(spec: Spec) -> dict[str, Disk]:
    """Return the disks for which the host makes an image, with their sizes, in the order of the images."""
    return {
        name: replace(disk, size=size_bytes(spec, name))
        for name, disk in spec.disk.items()
        if disk.is_hardware or is_copied(disk)
    }


def is_copied(disk: Disk) -> bool:
    """Whether the guest copies the disk's initial filesystem from an image."""
    return disk.model in (CRYPT, LOOP, RAM, ZRAM) and disk.has_files


def size_bytes(spec: Spec, name: str) -> Bytes:
    """Return the size of a disk."""
    disk = spec.disk[name]
    return disk.size if disk.size else min((size_bytes(spec, part) for part in disk.on), default=Bytes(0))


def write_bps(spec: Spec, name: str) -> int:
    """Return the write rate of the slowest disk below, in bytes/s; 0 if there is none."""
    disk = spec.disk[name]
    if disk.is_hardware or disk.model == SERVED:
        return disk.write_bps
    return min((write_bps(spec, part) for part in disk.on), default=0)
