"""Age a disk: fill it and fragment its free space. The host keeps the result for later runs."""

import os
from collections.abc import Callable
from ctypes import c_int64
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.core.freespace import UNTOUCHED, holes
from wblab.core.spec import Spec
from wblab.core.syscalls import checked, libc
from wblab.guest.cgroups import mount_cgroups
from wblab.guest.devices import guest_disks
from wblab.guest.disk import set_up_disk, unmount_disks

_USED, _FILLER = "used", "filler"  # files in the root directory
_FILLED = 99  # the filler's share of the available space in per cent, as in Chopper
_PUNCH = 0x3  # FALLOC_FL_PUNCH_HOLE with FALLOC_FL_KEEP_SIZE, see fallocate(2)
_OFTEN = 10_000  # holes between two calls of `progress`


def age_disks(spec: Spec, progress: Callable[[], None]) -> None:
    """Age each disk of the spec; call `progress` from time to time. Raises WblabError or OSError."""
    mount_cgroups(spec)
    disks = guest_disks(spec).values()
    for disk in disks:
        set_up_disk(disk, progress)
        try:
            _age(disk.mount_point, disk.size_bytes * disk.spec.used // 100, disk.spec.layout, progress)
        except OSError as error:
            raise WblabError(
                f"cannot age {disk.key} by {disk.key}.used and {disk.key}.layout: {error.strerror}"
            ) from None
    unmount_disks(disks)


def _age(mount: Path, used_bytes: int, free_layout: int, progress: Callable[[], None]) -> None:
    block = os.statvfs(mount).f_frsize
    if used_bytes:
        os.close(_allocated(mount / _USED, used_bytes // block * block))
        progress()
    if free_layout != UNTOUCHED:
        blocks = os.statvfs(mount).f_bavail * _FILLED // 100
        fd = _allocated(mount / _FILLER, blocks * block)
        at = 0
        for number, hole in enumerate(holes(free_layout, blocks)):
            checked(libc.fallocate(fd, _PUNCH, c_int64(at * block), c_int64(hole * block)))
            at += hole + 1
            if number % _OFTEN == 0:
                os.fsync(fd)  # else XFS searches all freed blocks that are not in its log yet, for each block
                progress()
        os.close(fd)


def _allocated(path: Path, length: int) -> int:
    """Make a file of this length with allocated but unwritten blocks; return its descriptor."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
    checked(libc.fallocate(fd, 0, c_int64(0), c_int64(length)))
    return fd
