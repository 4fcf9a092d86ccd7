"""The disk under test: its queue, its throttle, its filesystem."""

import os
from pathlib import Path

from wblab.core import layout
from wblab.core.errors import WblabError
from wblab.core.spec import Disk
from wblab.core.syscalls import MS_SYNCHRONOUS, mount, umount
from wblab.guest.cgroups import BLKIO
from wblab.guest.settings import put

_FLAGS = {"sync": MS_SYNCHRONOUS}
# The ext4 driver would fill inode tables and read block bitmaps in the background, which is no part of the experiment,
# at times that in Linux 6.1 differ from run to run. An option of the spec comes later, and so wins.
_EXT = ("noinit_itable", "no_prefetch_block_bitmaps")


def set_up_disk(disk: Disk) -> None:
    """Set the scheduler, the attributes of queue and bdi, and the throttle, then mount the filesystem."""
    device = Path("/sys/block", layout.DISK_DEVICE.name)
    put(device / "queue" / "scheduler", disk.scheduler, "disk.scheduler")
    for group, attributes in (("queue", disk.queue), ("bdi", disk.bdi)):
        for key, value in attributes.items():
            put(device / group / key, value, f"disk.{group}.{key}")
    if disk.model == "throttle":
        _throttle(disk.write_bps)
    layout.DISK.mkdir(parents=True)
    flags = sum(_FLAGS.get(option, 0) for option in disk.mount_options)
    defaults = _EXT if disk.filesystem.startswith("ext") else ()
    options = ",".join((*defaults, *(option for option in disk.mount_options if option not in _FLAGS)))
    try:
        mount(str(layout.DISK_DEVICE), layout.DISK, _driver(disk.filesystem), flags, options)
    except OSError as error:
        raise WblabError(f"cannot mount the {disk.filesystem} disk in the guest: {error.strerror}") from None


def release_disk(disk: Disk) -> None:
    """Lift the throttle, so that what is still dirty is written at once, and unmount."""
    if disk.model == "throttle":
        _throttle(0)
    umount(layout.DISK)


def _driver(filesystem: str) -> str:
    """ext2 and ext3 are mounted by the ext4 driver, without a journal or with one."""
    return "ext4" if filesystem == "ext3" else filesystem


def _throttle(write_bps: int) -> None:
    """Cap the writes of the root group, which writeback is part of; 0 lifts the cap (block/blk-throttle.c)."""
    device = os.stat(layout.DISK_DEVICE).st_rdev
    rule = f"{os.major(device)}:{os.minor(device)} {write_bps}"
    put(BLKIO / "blkio.throttle.write_bps_device", rule, "disk.write_bps")
