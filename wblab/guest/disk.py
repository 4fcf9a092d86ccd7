"""The disks under test: their queues, throttles and filesystems."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from wblab.core import layout
from wblab.core.child import fork_child
from wblab.core.cycles import Stamps
from wblab.core.errors import WblabError
from wblab.core.rundir import DiskRecord
from wblab.core.spec import Spec
from wblab.core.stacks import LOOP, part_of
from wblab.core.syscalls import MOUNT_FLAGS, MS_REMOUNT, mount, syncfs, umount
from wblab.guest.cgroups import BLKIO
from wblab.guest.devices import device, device_number, place
from wblab.guest.settings import put, set_attributes
from wblab.guest.stacks import detach, make_disk

# The ext4 driver would fill inode tables and read block bitmaps in the background, which is no part of the experiment,
# at times that in Linux 6.1 differ from run to run. An option of the spec comes later, and so wins.
_EXT = ("noinit_itable", "no_prefetch_block_bitmaps")


def set_up_disk(spec: Spec, name: str, progress: Callable[[], None]) -> None:
    """Make the disk, set scheduler, the attributes of queue and bdi, and the throttle, then mount the filesystem."""
    make_disk(spec, name, progress)
    disk, key, node = spec.disk[name], spec.disk_key(name), device(spec, name)
    if disk.is_hardware:
        put(Path("/sys/block", node.name, "queue", "scheduler"), disk.scheduler, f"{key}.scheduler")
    set_attributes(node, disk, key)
    if disk.model == "throttle":
        _throttle(node, disk.write_bps, key)
    if disk.filesystem == "none":
        return
    mount_point = layout.mount_point(name)
    mount_point.mkdir(parents=True)
    defaults = _EXT if disk.filesystem.startswith("ext") else ()
    flags, options = _mount_options((*defaults, *disk.mount_options))
    try:
        mount(str(node), mount_point, _driver(disk.filesystem), flags, options)
    except OSError as error:
        raise WblabError(f"cannot mount {key}, {disk.filesystem}, in the guest: {error.strerror}") from None


def remount(name: str, mount_options: Sequence[str], key: str) -> None:
    """Mount the filesystem of a disk anew with these options; `key` is where the spec has them. Raises WblabError."""
    flags, options = _mount_options(mount_options)
    try:
        mount("none", layout.mount_point(name), "none", MS_REMOUNT | flags, options)
    except OSError as error:
        said = ",".join(mount_options)
        raise WblabError(f"cannot set {key}.mount_options to {said!r} in the guest: {error.strerror}") from None


def write_out(spec: Spec) -> dict[str, DiskRecord]:
    """Write all that is dirty, on all disks at once, and return when each had it.

    Nobody waits for a throttle in real time, which would be the user's: it is lifted after this. Of a
    disk that fails, and of one that is a part of another, it is not known.
    """
    stamps = {name: Stamps(1) for name in spec.disk}
    tasks = [
        partial(_write_out, place(spec, name), stamps[name])
        for name in spec.disk
        if not part_of(spec, name) and (spec.clock.mode == "virtual" or not _is_throttled(spec, name))
    ]
    writers = [fork_child(task) for task in tasks[:-1]]
    for task in tasks[-1:]:  # a process less
        task()
    for writer in writers:
        os.waitpid(writer, 0)
    times_ns = {name: next(iter(stamp.times_ns()), 0) for name, stamp in stamps.items()}
    return {name: DiskRecord(device_number(device(spec, name)), time_ns) for name, time_ns in times_ns.items()}


def _write_out(where: Path, stamps: Stamps) -> None:
    write = syncfs if where.is_dir() else os.fsync
    with suppress(OSError), _opened(where) as fd:
        write(fd)
        stamps.append(time.monotonic_ns())


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Yield a descriptor to read a file or a directory by. Raises OSError."""
    fd = os.open(path, os.O_RDONLY)
    try:
        yield fd
    finally:
        os.close(fd)


def lift_throttles(spec: Spec) -> None:
    """Have disks write as fast as they can, so that what is still dirty is written at once."""
    for name, disk in spec.disk.items():
        if disk.model == "throttle":
            _throttle(device(spec, name), 0, spec.disk_key(name))


def unmount_disks(spec: Spec) -> None:
    """Unmount the disks from above to below."""
    for name in reversed(spec.disk):
        if spec.disk[name].filesystem != "none":
            umount(layout.mount_point(name))
        if spec.disk[name].model == LOOP:
            detach(device(spec, name))


def _mount_options(options: Sequence[str]) -> tuple[int, str]:
    """Return mount options as mount(2) takes them: its flags, and all others."""
    flags = sum(MOUNT_FLAGS.get(option, 0) for option in options)
    return flags, ",".join(option for option in options if option not in MOUNT_FLAGS)


def _is_throttled(spec: Spec, name: str) -> bool:
    disk = spec.disk[name]
    return disk.model == "throttle" or any(_is_throttled(spec, part) for part in disk.on)


def _driver(filesystem: str) -> str:
    """ext2 and ext3 are mounted by the ext4 driver, without a journal or with one."""
    return "ext4" if filesystem == "ext3" else filesystem


def _throttle(node: Path, write_bps: int, key: str) -> None:
    """Cap the writes of the root group, which writeback is part of; 0 lifts the cap (block/blk-throttle.c)."""
    put(BLKIO / "blkio.throttle.write_bps_device", f"{device_number(node)} {write_bps}", f"{key}.write_bps")
