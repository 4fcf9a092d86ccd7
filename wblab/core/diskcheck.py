"""Checks of a spec's disks: their sizes, models and queues, what they are made of, and what loads need of them."""

import re

from wblab.core.drivers import FEWEST_REQUESTS
from wblab.core.errors import InputError, nearest
from wblab.core.freespace import UNTOUCHED
from wblab.core.spec import Disk, Spec
from wblab.core.stacks import (
    CRYPT,
    FILE,
    IN_FILES,
    LOOP,
    MAPPED,
    MIRROR,
    OF_SERVED,
    RAM,
    SERVED,
    ZRAM,
    part_of,
    size_bytes,
)
from wblab.core.units import NS_PER_MS, NS_PER_S, format_bytes, format_time

DISK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")  # no dots: keys contain it
MOST_DISKS = 8
MIN_DISK = {
    "ext2": 1 << 20,
    "ext3": 8 << 20,
    "ext4": 8 << 20,
    "xfs": 300 << 20,
    "btrfs": 128 << 20,
    "f2fs": 64 << 20,
    "vfat": 1 << 20,
    "exfat": 4 << 20,
    "swap": 1 << 20,
    "fuse": 1 << 20,
    "none": 1 << 20,
}
MOST_SPARSE_BYTES = 64 << 30
MOST_USED = 90  # per cent: the filesystem's metadata needs the rest
MAX_KERNEL = 2**32 - 1  # tt_syscall_ns and the device model's parameters are 32 bits wide, except for rates
MAX_DEPTH = 64  # UBD_QUEUE_DEPTH in the kernel
MAX_OPEN = 16  # UBD_MOST_OPEN
LEAST_ERASE = 64 << 10  # no flash has less, and the kernel looks at each block that a request touches
MODEL_KEYS = (
    *("latency", "read_bps", "depth", "seek_time", "stall_every", "stall_time", "stalls", "cache_bytes", "drain_bps"),
    *("erase_block", "open_blocks", "burst_bytes", "sustained_bps", "iops"),
)
_OF_SERVER = ("latency", "read_bps", "depth")  # of these, what a server of a filesystem has too
_PAIRS = (("stall_every", "stall_time"), ("cache_bytes", "drain_bps"), ("burst_bytes", "sustained_bps"))
_FOR_SWAP = ("ext4", "xfs")  # on which a file need not be written before it is swapped to
BLOCK_BYTES = 4096  # size of a bad block
MOST_BAD = 1000
_MOST_ZRAM = 4  # lz4 compresses what programs have to a half or a third
MOST_TIME_NS = 86_400 * NS_PER_S
# Keys that only some models have, with these models.
_OWN = {
    "size": ("throttle", "device", *IN_FILES, RAM, ZRAM, SERVED),
    "resident": ("throttle", "device"),
    "used": ("throttle", "device"),
    "layout": ("throttle", "device"),
    "write_bps": ("throttle", "device", SERVED),
    "driver": ("throttle", "device"),
    "scheduler": ("throttle", "device"),
    "on": (*MAPPED, CRYPT, MIRROR, *IN_FILES),
    "delay": ("delay",),
    "up": ("flakey", SERVED),
    "down": ("flakey", SERVED),
    "errors": ("flakey",),
    "bad": ("dust",),
    "md": (MIRROR,),
    "cipher": (CRYPT,),
    "workqueues": (CRYPT,),
    "direct_io": (LOOP,),
    "write_cache": (SERVED,),
}


def check_disks(spec: Spec) -> None:
    """Raise InputError for disks that cannot be made or are too small for their loads."""
    if not 0 < len(spec.disk) <= MOST_DISKS:
        raise InputError(f"disk: the spec has {len(spec.disk)} disks: give 1 to {MOST_DISKS}")
    for name, disk in spec.disk.items():
        if not DISK_NAME.fullmatch(name):
            raise InputError(f"disk: {name!r} is not a valid name: use at most 32 letters, digits, '_' and '-'")
        _check_model(disk, spec.disk_key(name))
        _check_queue(disk, spec.disk_key(name))
        _check_stack(spec, name)
        _check_size(disk, size_bytes(spec, name), spec.disk_key(name))
        _check_served(spec, name)
        _check_sparse(spec, name)
        _check_aged(disk, spec.disk_key(name))
    _check_memory_disks(spec)
    for name, load in spec.load.items():
        if load.disk and load.disk not in spec.disk:
            known, wrong = list(spec.disk), f"load.{name}.disk: no disk {load.disk!r}"
            raise InputError(f"{wrong}{nearest(load.disk, known)}: choose from {', '.join(known)}")
        _check_target(spec, name)
    for name in spec.disk:
        _check_fits(spec, name)


def _check_size(disk: Disk, size: int, key: str) -> None:
    smallest = MIN_DISK[disk.filesystem]
    if size < smallest:
        what = disk.filesystem if disk.has_files else "a disk"
        raise InputError(
            f"{key}.size: {format_bytes(size)} is too small for {what}: give at least {format_bytes(smallest)}"
        )
    if size % 4096:
        raise InputError(f"{key}.size: {size} bytes is not a multiple of 4096: round it")
    if (disk.is_hardware or disk.model == SERVED) and disk.write_bps <= 0:
        raise InputError(f"{key}.write_bps: the disk needs a rate above 0: give for example 1MiB/s")


def _check_sparse(spec: Spec, name: str) -> None:
    """Raise InputError for a disk that cannot use less memory than its size."""
    disk, key = spec.disk[name], spec.disk_key(name)
    if not disk.resident:
        return
    if disk.resident > disk.size:
        raise InputError(f"{key}.resident: {format_bytes(disk.resident)} is more than {key}.size: leave it out")
    if disk.size > MOST_SPARSE_BYTES:
        raise InputError(
            f"{key}.size: {format_bytes(disk.size)} is too large: give at most {format_bytes(MOST_SPARSE_BYTES)}"
        )
    if disk.filesystem == "btrfs" or part_of(spec, name):
        what = "btrfs" if disk.filesystem == "btrfs" else "a part of another disk"
        raise InputError(f"{key}.resident: {what} needs memory for its whole size: leave it out")


def _check_aged(disk: Disk, key: str) -> None:
    """Raise InputError for a disk that cannot be aged as the spec asks."""
    if not 0 <= disk.used <= MOST_USED:
        raise InputError(f"{key}.used: {disk.used} is not between 0 and {MOST_USED} per cent")
    if not 1 <= disk.layout <= UNTOUCHED:
        raise InputError(f"{key}.layout: {disk.layout} is not between 1 and {UNTOUCHED} (unchanged)")
    if disk.is_aged and disk.filesystem not in ("ext4", "xfs"):
        raise InputError(f"{key}.used and {key}.layout need {key}.filesystem = 'ext4' or 'xfs'")
    if disk.is_aged and disk.size > MOST_SPARSE_BYTES:
        limit = format_bytes(MOST_SPARSE_BYTES)
        raise InputError(f"{key}.size: too large with {key}.used or {key}.layout: give at most {limit}")


def _check_target(spec: Spec, name: str) -> None:
    """Raise InputError if a raw load's disk has a filesystem, or another load's disk has none."""
    load, disk = spec.load[name], spec.disk_of(name)
    if not load.on_disk:
        return
    if load.needs_lab and spec.disk[disk].model == SERVED:
        raise InputError(
            f"load.{name}.disk: the files of {disk!r} keep no content, which programs read: choose another disk"
        )
    if above := part_of(spec, disk):
        raise InputError(f"load.{name}.disk: {disk!r} is a part of disk {above!r}: give {above!r} instead")
    if spec.disk[disk].is_swap:
        raise InputError(f"load.{name}.disk: {disk!r} is for memory that is swapped out: give another disk")
    if load.raw == spec.disk[disk].has_files:
        has = "a filesystem" if load.raw else "no filesystem"
        kinds = "a kind that is not raw" if load.raw else "a raw kind"
        raise InputError(f"load.{name}.disk: {disk!r} has {has}: choose {kinds}, or another disk")


def _check_fits(spec: Spec, disk: str) -> None:
    """Raise InputError if a disk is too small for the files of its loads."""
    files: dict[str, int] = {}
    for name, load in spec.load.items():
        for file, written in load.files.items() if spec.disk_of(name) == disk else ():
            files[file] = max(files.get(file, 0), written)
    size, key = size_bytes(spec, disk), spec.disk_key(disk)
    if sum(files.values()) > size:
        raise InputError(
            f"{key}.size: the loads write {format_bytes(sum(files.values()))}, which does not fit on a disk of "
            f"{format_bytes(size)}: raise it or lower the loads' size"
        )


def _check_model(disk: Disk, place: str) -> None:
    """Raise InputError for invalid parameters of the device model; `place` is the disk's key in the spec."""
    for key in MODEL_KEYS:
        has_it = disk.model == "device" or (disk.model == SERVED and key in _OF_SERVER)
        if not has_it and getattr(disk, key) != getattr(Disk, key):
            raise InputError(f"{place}.{key} needs {place}.model = 'device': other models have no service time")
    for key in ("latency", "seek_time", "stall_time"):
        if not 0 <= (time_ns := getattr(disk, key)) <= MAX_KERNEL:
            raise InputError(f"{place}.{key}: {format_time(time_ns)} is too long: give at most 4s")
    for key in ("stall_every", "cache_bytes", "erase_block", "burst_bytes"):
        if not 0 <= (size := getattr(disk, key)) <= MAX_KERNEL:
            raise InputError(f"{place}.{key}: {format_bytes(size)} is too large: give less than 4 GiB")
    for key in ("read_bps", "drain_bps", "sustained_bps"):
        if getattr(disk, key) < 0:
            raise InputError(
                f"{place}.{key}: {getattr(disk, key)} is negative: give for example 1MiB/s, or leave it out"
            )
    for key, least, most in (("depth", 1, MAX_DEPTH), ("open_blocks", 1, MAX_OPEN), ("iops", 0, MAX_KERNEL)):
        if not least <= getattr(disk, key) <= most:
            raise InputError(f"{place}.{key}: {getattr(disk, key)} is not between {least} and {most}")
    _check_together(disk, place)


def _check_together(disk: Disk, place: str) -> None:
    """Raise InputError for parameters of the model of which one lacks the other."""
    if 0 < disk.erase_block < LEAST_ERASE:
        raise InputError(f"{place}.erase_block: give at least {format_bytes(LEAST_ERASE)}, or 0 for none")
    if disk.open_blocks > 1 and not disk.erase_block:
        raise InputError(f"{place}.open_blocks needs {place}.erase_block, the size of one")
    for key, other in _PAIRS:
        if bool(getattr(disk, key)) != bool(getattr(disk, other)):
            raise InputError(f"{place}.{key} and {place}.{other} belong together: give both or neither")
    if disk.stalls == "random" and not disk.stall_every:
        raise InputError(f"{place}.stalls needs {place}.stall_every and {place}.stall_time")


def _check_queue(disk: Disk, place: str) -> None:
    """Raise InputError for attributes of a queue that the kernel would take as others, or not take from this driver."""
    requests = str(disk.queue.get("nr_requests", FEWEST_REQUESTS))
    if requests.isdecimal() and int(requests) < FEWEST_REQUESTS:
        raise InputError(
            f"{place}.queue.nr_requests: the kernel makes {FEWEST_REQUESTS} of {requests}: "
            f"write {FEWEST_REQUESTS}, and lower {place}.queue.max_sectors_kb for a shorter queue"
        )


def _check_stack(spec: Spec, name: str) -> None:
    """Raise InputError for a disk whose parts or keys do not suit its model."""
    disk, key = spec.disk[name], spec.disk_key(name)
    for own, models in _OWN.items():
        if disk.model not in models and getattr(disk, own) != getattr(Disk(), own):
            raise InputError(f"{key}.{own} has no meaning with {key}.model = {disk.model!r}: leave it out")
    _check_parts(spec, name)
    if disk.model == FILE and not disk.is_swap:
        raise InputError(f"{key}.model: a file is only for {key}.filesystem = 'swap': give that, or use 'loop'")
    if disk.model == FILE and (disk.queue or disk.bdi):
        raise InputError(f"{key}.queue and {key}.bdi: a file has none: set those of {spec.disk_key(disk.on[0])}")
    if disk.model == "delay":
        _check_time(f"{key}.delay", disk.delay, NS_PER_MS)
    if disk.model == "flakey":
        _check_time(f"{key}.down", disk.down, NS_PER_S)
        if disk.up:
            _check_time(f"{key}.up", disk.up, NS_PER_S)
    if len(disk.bad) > MOST_BAD:
        raise InputError(f"{key}.bad: {len(disk.bad)} blocks are too many: give at most {MOST_BAD}")
    for place in disk.bad:
        if not 0 <= place < size_bytes(spec, name) or place % BLOCK_BYTES:
            raise InputError(f"{key}.bad: {place} is not on the disk, or no multiple of {BLOCK_BYTES}: change it")


def _check_served(spec: Spec, name: str) -> None:
    """Raise InputError for a filesystem that a program serves, or is to serve, in a way that it cannot."""
    disk, key = spec.disk[name], spec.disk_key(name)
    is_served = disk.model == SERVED
    for part in disk.on:
        if spec.disk[part].model == SERVED:
            raise InputError(f"{key}.on: the files of {part!r} keep no content: choose another disk")
    if is_served != (disk.filesystem == OF_SERVED):
        other = f"{key}.filesystem = {OF_SERVED!r}" if is_served else f"{key}.model = {SERVED!r}"
        what = f"{key}.model = {SERVED!r}" if is_served else f"{key}.filesystem = {OF_SERVED!r}"
        raise InputError(f"{what} needs {other}: give both or neither")
    if not is_served:
        return
    for own in ("queue", "mkfs_options"):
        if getattr(disk, own):
            raise InputError(f"{key}.{own} has no meaning with {key}.model = {SERVED!r}: leave it out")
    for time_key in ("up", "down"):
        if not 0 <= getattr(disk, time_key) <= MOST_TIME_NS:
            raise InputError(f"{key}.{time_key}: {format_time(getattr(disk, time_key))} is not between 0 and a day")
    if bool(disk.up) != bool(disk.down):
        raise InputError(f"{key}.up and {key}.down belong together: give both or neither")


def _check_memory_disks(spec: Spec) -> None:
    """Raise InputError for RAM disks that the guest cannot make, and for those of zram that do not fit uncompressed."""
    found = {name: disk for name, disk in spec.disk.items() if disk.model == RAM}
    if len({disk.size for disk in found.values()}) > 1:
        raise InputError(
            f"{spec.disk_key(next(iter(found)))}.size: all RAM disks have one size: make their sizes equal"
        )
    if 2 * sum(disk.size for disk in found.values()) > spec.memory:
        raise InputError("memory: the RAM disks need more than half of it: raise memory or lower their size")
    if sum(disk.size for disk in spec.disk.values() if disk.model == ZRAM) > _MOST_ZRAM * spec.memory:
        raise InputError(f"memory: the disks of zram have more than {_MOST_ZRAM} times as much: lower their size")


def _check_parts(spec: Spec, name: str) -> None:
    disk, key = spec.disk[name], spec.disk_key(name)
    before = list(spec.disk)[: list(spec.disk).index(name)]
    count, wanted = (
        len(set(disk.on)),
        {MIRROR: "two or more disks", **dict.fromkeys((*IN_FILES, CRYPT, *MAPPED), "one disk")},
    )
    fits = {"two or more disks": count > 1, "one disk": count == 1}
    if not fits.get(wanted.get(disk.model, ""), not count) or count < len(disk.on):
        raise InputError(f"{key}.on: {disk.model} needs {wanted.get(disk.model, 'no disk')}: give that many")
    for part in disk.on:
        if part not in before:
            wrong = f"{key}.on: no disk {part!r} before it{nearest(part, before)}"
            raise InputError(f"{wrong}: choose from {', '.join(before)}" if before else f"{wrong}: move it up")
        raw = spec.disk[part].filesystem == "none"
        if disk.model in IN_FILES and (not spec.disk[part].has_files or part_of(spec, part)):
            raise InputError(f"{key}.on: {part!r} needs a filesystem of its own, for the {disk.model}: give it one")
        if disk.model == FILE and spec.disk[part].filesystem not in _FOR_SWAP:
            known = " or ".join(_FOR_SWAP)
            raise InputError(f"{key}.on: a file to swap to needs {known}: give it to {spec.disk_key(part)}")
        if disk.model not in IN_FILES and not raw:
            where = spec.disk_key(part)
            raise InputError(f"{where}.filesystem: {part!r} is a part of {name!r}: give {where}.filesystem = 'none'")
        if disk.model not in IN_FILES and any(part in other.on for place, other in spec.disk.items() if place != name):
            raise InputError(f"{key}.on: {part!r} is already a part of another disk: name it once")
        if disk.model not in IN_FILES and spec.disk[part].model == CRYPT:
            raise InputError(
                f"{key}.on: {part!r} is encrypted, and the lab has no filesystem above that: put {name!r} below it"
            )
    sizes = {size_bytes(spec, part) for part in disk.on}
    if len(sizes) > 1:
        shown = ", ".join(format_bytes(size) for size in sorted(sizes))
        raise InputError(f"{key}.on: the disks have different sizes, {shown}: make them equal")


def _check_time(key: str, time_ns: int, unit_ns: int) -> None:
    if not 0 < time_ns <= MOST_TIME_NS or time_ns % unit_ns:
        unit = format_time(unit_ns)
        raise InputError(f"{key}: {format_time(time_ns)} is invalid: give a multiple of {unit}, up to a day")
