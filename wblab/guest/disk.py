"""The disks under test: their queues, rate limits and filesystems."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from wblab.core.child import fork_child
from wblab.core.cycles import Stamps
from wblab.core.errors import WblabError
from wblab.core.rundir import DiskRecord
from wblab.core.spec import ClockMode
from wblab.core.stacks import FILE, LOOP
from wblab.core.syscalls import MOUNT_FLAGS, MS_REMOUNT, mount, swap_header, swap_off, swap_on, syncfs, umount
from wblab.guest.cgroups import BLKIO
from wblab.guest.devices import GuestDisk
from wblab.guest.settings import GROUPS, OWN_BDI, put, set_attributes
from wblab.guest.stacks import detach, make_disk

# Otherwise the ext4 driver initialises inode tables and reads block bitmaps in the background. This is not part of the
# experiment, and in Linux 6.1 its times differ between runs. The spec's options come later and take precedence.
_EXT = ("noinit_itable", "no_prefetch_block_bitmaps")


def set_up_disk(disk: GuestDisk, progress: Callable[[], None]) -> None:
    """Make the disk, set its scheduler, attributes and rate limit, then mount its filesystem. Raises WblabError."""
    make_disk(disk, progress)
    spec, filesystem = disk.spec, disk.spec.filesystem
    if spec.is_hardware:
        put(Path("/sys/block", disk.device.name, "queue", "scheduler"), spec.elevator, f"{disk.key}.scheduler")
    has_own = filesystem in OWN_BDI  # which exists once it is mounted
    set_attributes(disk.device, spec, disk.key, filesystem, ("queue", "md") if has_own else GROUPS)
    if spec.model == "throttle":
        _throttle(disk, spec.write_bps)
    if spec.is_swap:
        _swap_on(disk)
    if not spec.has_files:
        return
    disk.mount_point.mkdir(parents=True)
    defaults = _EXT if filesystem.startswith("ext") else ()
    flags, options = _mount_options((*defaults, *spec.mount_options))
    try:
        if disk.server:
            disk.server.serve(flags, options)
        else:
            mount(str(disk.device), disk.mount_point, _driver(filesystem), flags, options)
    except OSError as error:
        raise WblabError(f"cannot mount {disk.key}, {filesystem}, in the guest: {error.strerror}") from None
    if has_own:
        set_attributes(disk.device, spec, disk.key, filesystem, ("bdi",))


def _swap_on(disk: GuestDisk) -> None:
    try:
        if disk.spec.model == FILE:
            _make_file(disk.device, disk.size_bytes)
        with disk.device.open("r+b", buffering=0) as device:
            device.write(swap_header(disk.size_bytes))
            os.fsync(device.fileno())
        swap_on(disk.device)
    except OSError as error:
        raise WblabError(f"cannot swap to {disk.key} in the guest: {error.strerror}") from None


def _make_file(path: Path, size: int) -> None:
    """Make a file to swap to, which only root may read. Its blocks are allocated, but not written."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.posix_fallocate(file, 0, size)
        os.fsync(file)
    finally:
        os.close(file)


def remount(disk: GuestDisk, mount_options: Sequence[str], key: str) -> None:
    """Remount a disk's filesystem with these options; `key` is their place in the spec. Raises WblabError."""
    flags, options = _mount_options(mount_options)
    try:
        mount("none", disk.mount_point, "none", MS_REMOUNT | flags, options)
    except OSError as error:
        given = ",".join(mount_options)
        raise WblabError(f"cannot set {key}.mount_options to {given!r} in the guest: {error.strerror}") from None


def write_out(disks: Mapping[str, GuestDisk], clock: ClockMode) -> dict[str, DiskRecord]:
    """Write all dirty data to all disks at once; return each disk's number and the time when its data was written.

    In real time it does not wait for throttled disks, as the user would wait too: their limit is lifted afterwards. The
    time of a disk that fails, or is a part of another, is not known (0).
    """
    stamps = {name: Stamps(1) for name in disks}
    tasks = [
        partial(_write_out, disk.place, stamps[name])
        for name, disk in disks.items()
        if not disk.is_part and (clock == "virtual" or not disk.is_throttled)
    ]
    writers = [fork_child(task) for task in tasks[:-1]]
    for task in tasks[-1:]:  # in this process, which saves a fork
        task()
    for writer in writers:
        os.waitpid(writer, 0)
    times_ns = {name: next(iter(stamp.times_ns()), 0) for name, stamp in stamps.items()}
    return {name: DiskRecord(disks[name].number, time_ns) for name, time_ns in times_ns.items()}


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


def abandon_servers(disks: Iterable[GuestDisk]) -> None:
    """End the servers that are gone, so that no task waits for them: a killed one would until they are back."""
    for disk in disks:
        if disk.server:
            disk.server.abandon()


def lift_throttles(disks: Iterable[GuestDisk]) -> None:
    """Lift the rate limits of all disks, so that the remaining dirty data is written at once."""
    for disk in disks:
        if disk.spec.model == "throttle":
            _throttle(disk, 0)


def unmount_disks(disks: Iterable[GuestDisk]) -> None:
    """Unmount the disks, the topmost first: the last of the spec.

    None that still has swapped memory, if there is no room for that, and none below it.
    """
    for disk in reversed(tuple(disks)):
        if disk.spec.is_swap:
            try:
                swap_off(disk.device)
            except OSError:
                return
        elif disk.spec.has_files:
            umount(disk.mount_point)
        if disk.server:
            disk.server.ended()
        if disk.spec.model == LOOP:
            detach(disk.device)


def _mount_options(options: Sequence[str]) -> tuple[int, str]:
    """Return mount options as mount(2) takes them: its flags, and the filesystem's options."""
    flags = sum(MOUNT_FLAGS.get(option, 0) for option in options)
    return flags, ",".join(option for option in options if option not in MOUNT_FLAGS)


def _driver(filesystem: str) -> str:
    """Return the type for mount(2). The ext4 driver also mounts ext2, under that name, and ext3."""
    return "ext4" if filesystem == "ext3" else filesystem


def _throttle(disk: GuestDisk, write_bps: int) -> None:
    """Limit the writes of the root group, which include writeback; 0 lifts the limit (block/blk-throttle.c)."""
    put(BLKIO / "blkio.throttle.write_bps_device", f"{disk.number} {write_bps}", f"{disk.key}.write_bps")
