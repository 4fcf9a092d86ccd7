"""Disks made of other disks: which rests on which, how large, and what the host has to make for them.

The device mapper's `linear`, `delay`, `flakey` and `dust` lie on one disk and `raid1` on several, byte for byte: their
filesystem is made on the disks below. `loop` is a file on the filesystem of another disk, `ram` memory of the guest:
what their filesystem begins with comes to the guest on a disk of its own, and is copied.
"""

from wblab.core.spec import Disk, Spec

MAPPED = ("linear", "delay", "flakey", "dust")  # the kernel's own names of these targets
MIRROR, LOOP, RAM = "raid1", "loop", "ram"


def part_of(spec: Spec, name: str) -> str:
    """Return the name of the disk that a disk is a part of, byte for byte; empty, of none."""
    users = (user for user, disk in spec.disk.items() if name in disk.on and disk.model != LOOP)
    return next(users, "")


def top(spec: Spec, name: str) -> str:
    """Return the disk that a disk is a part of in the end; itself, if of none."""
    above = part_of(spec, name)
    return top(spec, above) if above else name


def images(spec: Spec) -> dict[str, Disk]:
    """Return the disks for which the host makes a device, in the order of these."""
    return {name: disk for name, disk in spec.disk.items() if disk.is_hardware or is_copied(disk)}


def is_copied(disk: Disk) -> bool:
    """Whether the guest copies what the disk's filesystem begins with."""
    return disk.model in (LOOP, RAM) and disk.filesystem != "none"


def size_bytes(spec: Spec, name: str) -> int:
    """Return how large a disk is."""
    disk = spec.disk[name]
    return disk.size if disk.size else min((size_bytes(spec, part) for part in disk.on), default=0)


def write_bps(spec: Spec, name: str) -> int:
    """Return the rate of the slowest disk below, in bytes/s; 0 where there is none."""
    disk = spec.disk[name]
    return disk.write_bps if disk.is_hardware else min((write_bps(spec, part) for part in disk.on), default=0)
