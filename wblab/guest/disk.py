"""The disks under test: their queues, rate limits and filesystems."""

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
from wblab.guest.settings import GROUPS, OWN_BDI, put, set_attributes
from wblab.guest.stacks import detach, make_disk

# Otherwise the ext4 driver initialises inode tables and reads block bitmaps in the background. This is not part of the
# experiment, and in Linux 6.1 its times differ between runs. The spec's options come later and take precedence.
_EXT = ("noinit_itable", "no_prefetch_block_bitmaps")


def set_up_disk(spec: Spec, name: str, progress: Callable[[], None]) -> None:
    """Make the disk, set its scheduler, attributes and rate limit, then mount its filesystem. Raises WblabError."""
    make_disk(spec, name, progress)
    disk, key, node = spec.disk[name], spec.disk_key(name), device(spec, name)
    if disk.is_hardware:
        put(Path("/sys/block", node.name, "queue", "scheduler"), disk.elevator, f"{key}.scheduler")
    has_own = disk.filesystem in OWN_BDI  # which exists once it is mounted
    set_attributes(node, disk, key, disk.filesystem, ("queue", "md") if has_own else GROUPS)
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
    if has_own:
        set_attributes(node, disk, key, disk.filesystem, ("bdi",))


def remount(name: str, mount_options: Sequence[str], key: str) -> None:
    """Remount a disk's filesystem with these options; `key` is their place in the spec. Raises WblabError."""
    flags, options = _mount_options(mount_options)
    try:
        mount("none", layout.mount_point(name), "none", MS_REMOUNT | flags, options)
    except OSError as error:
        given = ",".join(mount_options)
        raise WblabError(f"cannot set {key}.mount_options to {given!r} in the guest: {error.strerror}") from None


def write_out(spec: Spec) -> dict[str, DiskRecord]:
    """Write all dirty data to all disks at once; return each disk's number and the time when its data was written.

    In real time it does not wait for throttled disks, as the user would wait too: their limit is lifted afterwards. The
    time of a disk that fails, or is a part of another, is not known (0).
    """
    stamps = {name: Stamps(1) for name in spec.disk}
    tasks = [
        partial(_write_out, place(spec, name), stamps[name])
        for name in spec.disk
        if not part_of(spec, name) and (spec.clock.mode == "virtual" or not _is_throttled(spec, name))
    ]
    writers = [fork_child(task) for task in tasks[:-1]]
    for task in tasks[-1:]:  # in this process, which saves a fork
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
    """Open a file or a directory for reading; yield its descriptor. Raises OSError."""
    fd = os.open(path, os.O_RDONLY)
    try:
        yield fd
    finally:
        os.close(fd)


def lift_throttles(spec: Spec) -> None:
    """Lift the rate limits of all disks, so that the remaining dirty data is written at once."""
    for name, disk in spec.disk.items():
        if disk.model == "throttle":
            _throttle(device(spec, name), 0, spec.disk_key(name))


def unmount_disks(spec: Spec) -> None:
    """Unmount the disks, the topmost first."""
    for name in reversed(spec.disk):
        if spec.disk[name].filesystem != "none":
            umount(layout.mount_point(name))
        if spec.disk[name].model == LOOP:
            detach(device(spec, name))


def _mount_options(options: Sequence[str]) -> tuple[int, str]:
    """Return mount options as mount(2) takes them: its flags, and the filesystem's options."""
    flags = sum(MOUNT_FLAGS.get(option, 0) for option in options)
    return flags, ",".join(option for option in options if option not in MOUNT_FLAGS)


def _is_throttled(spec: Spec, name: str) -> bool:
    disk = spec.disk[name]
    return disk.model == "throttle" or any(_is_throttled(spec, part) for part in disk.on)


def _driver(filesystem: str) -> str:
    """Return the type for mount(2). The ext4 driver also mounts ext2, under that name, and ext3."""
    return "ext4" if filesystem == "ext3" else filesystem


def _throttle(node: Path, write_bps: int, key: str) -> None:
    """Limit the writes of the root group, which include writeback; 0 lifts the limit (block/blk-throttle.c)."""
    put(BLKIO / "blkio.throttle.write_bps_device", f"{device_number(node)} {write_bps}", f"{key}.write_bps")
