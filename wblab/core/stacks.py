"""Disks made of other disks: their parts, their sizes, and the images that the host makes for them.

The device mapper's `linear`, `delay`, `flakey` and `dust` map one disk, and `raid1` several, byte for byte: mkfs runs
on the disks below. `loop` is a file on another disk's filesystem, `file` one to swap to, without a device. `ram` is the
guest's memory, and `zram` that memory compressed. The guest gets their initial filesystem as the image of a separate
disk, and copies it.
"""

from wblab.core.spec import Disk, Spec

MAPPED = ("linear", "delay", "flakey", "dust")  # the kernel's names of these targets
MIRROR, LOOP, FILE, RAM, ZRAM = "raid1", "loop", "file", "ram", "zram"
IN_FILES = (LOOP, FILE)  # their data are in a file of another disk


def part_of(spec: Spec, name: str) -> str:
    """Return the name of the disk that maps this one byte for byte; empty if none does."""
    users = (user for user, disk in spec.disk.items() if name in disk.on and disk.model not in IN_FILES)
    return next(users, "")


def top(spec: Spec, name: str) -> str:
    """Return the topmost disk that maps this one; the disk itself if none does."""
    above = part_of(spec, name)
    return top(spec, above) if above else name


def images(spec: Spec) -> dict[str, Disk]:
    """Return the disks for which the host makes an image, in the order of the images."""
    return {name: disk for name, disk in spec.disk.items() if disk.is_hardware or is_copied(disk)}


def is_copied(disk: Disk) -> bool:
    """Whether the guest copies the disk's initial filesystem from an image."""
    return disk.model in (LOOP, RAM, ZRAM) and disk.has_files


def size_bytes(spec: Spec, name: str) -> int:
    """Return the size of a disk."""
    disk = spec.disk[name]
    return disk.size if disk.size else min((size_bytes(spec, part) for part in disk.on), default=0)


def write_bps(spec: Spec, name: str) -> int:
    """Return the write rate of the slowest disk below, in bytes/s; 0 if there is none."""
    disk = spec.disk[name]
    return disk.write_bps if disk.is_hardware else min((write_bps(spec, part) for part in disk.on), default=0)
