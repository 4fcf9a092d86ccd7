"""A RAID1 array without superblocks, by ioctls of md (include/uapi/linux/raid/md_u.h). All raise OSError."""

import os
import struct
from collections.abc import Sequence
from fcntl import ioctl
from pathlib import Path

_NEW = Path("/sys/module/md_mod/parameters/new_array")
_ARRAY = struct.Struct("=18i")  # mdu_array_info_t
_DISK = struct.Struct("=5i")  # mdu_disk_info_t
_IOW, _TYPE = 1 << 30, 9 << 8
_ADD_NEW_DISK = _IOW | _DISK.size << 16 | _TYPE | 0x21
_SET_ARRAY_INFO = _IOW | _ARRAY.size << 16 | _TYPE | 0x23
_RUN_ARRAY = _IOW | 12 << 16 | _TYPE | 0x30
_LEVEL, _CLEAN = 1, 1  # RAID1; 1 << MD_SB_CLEAN: its disks are equal and need no resync
_IN_SYNC = 1 << 1 | 1 << 2  # MD_DISK_ACTIVE, MD_DISK_SYNC


def run_mirror(array: Path, parts: Sequence[Path], size_bytes: int) -> None:
    """Make an array of `parts` as this device, and start it."""
    _NEW.write_text(array.name)
    count = len(parts)
    numbers = [os.stat(part).st_rdev for part in parts]
    info = _ARRAY.pack(0, 90, 0, 0, _LEVEL, size_bytes >> 10, count, count, 0, 1, 0, _CLEAN, count, count, 0, 0, 0, 0)
    fd = os.open(array, os.O_RDWR)
    try:
        ioctl(fd, _SET_ARRAY_INFO, info)
        for place, number in enumerate(numbers):
            ioctl(fd, _ADD_NEW_DISK, _DISK.pack(place, os.major(number), os.minor(number), place, _IN_SYNC))
        ioctl(fd, _RUN_ARRAY)
    finally:
        os.close(fd)
