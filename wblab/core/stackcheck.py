"""Checks of disks made of other disks."""

from wblab.core.errors import InputError, nearest
from wblab.core.spec import Disk, Spec
from wblab.core.stacks import LOOP, MAPPED, MIRROR, RAM, part_of, size_bytes
from wblab.core.units import NS_PER_MS, NS_PER_S, format_bytes, format_time

BLOCK_BYTES = 4096  # size of a bad block
MOST_BAD = 1000
MOST_TIME_NS = 86_400 * NS_PER_S
# Keys that only some models have, with these models.
_OWN = {
    "size": ("throttle", "device", LOOP, RAM),
    "resident": ("throttle", "device"),
    "used": ("throttle", "device"),
    "layout": ("throttle", "device"),
    "write_bps": ("throttle", "device"),
    "driver": ("throttle", "device"),
    "scheduler": ("throttle", "device"),
    "on": (*MAPPED, MIRROR, LOOP),
    "delay": ("delay",),
    "up": ("flakey",),
    "down": ("flakey",),
    "errors": ("flakey",),
    "bad": ("dust",),
    "md": (MIRROR,),
}


def check_stack(spec: Spec, name: str) -> None:
    """Raise InputError for a disk whose parts or keys do not suit its model."""
    disk, key = spec.disk[name], spec.disk_key(name)
    for own, models in _OWN.items():
        if disk.model not in models and getattr(disk, own) != getattr(Disk(), own):
            raise InputError(f"{key}.{own} has no meaning with {key}.model = {disk.model!r}: leave it out")
    _check_parts(spec, name)
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


def check_memory_disks(spec: Spec) -> None:
    """Raise InputError for RAM disks that the guest cannot make."""
    found = {name: disk for name, disk in spec.disk.items() if disk.model == RAM}
    if len({disk.size for disk in found.values()}) > 1:
        raise InputError(
            f"{spec.disk_key(next(iter(found)))}.size: all RAM disks have one size: make their sizes equal"
        )
    if 2 * sum(disk.size for disk in found.values()) > spec.memory:
        raise InputError("memory: the RAM disks need more than half of it: raise memory or lower their size")


def _check_parts(spec: Spec, name: str) -> None:
    disk, key = spec.disk[name], spec.disk_key(name)
    before = list(spec.disk)[: list(spec.disk).index(name)]
    count, wanted = (
        len(set(disk.on)),
        {MIRROR: "two or more disks", LOOP: "one disk", **dict.fromkeys(MAPPED, "one disk")},
    )
    fits = {"two or more disks": count > 1, "one disk": count == 1}
    if not fits.get(wanted.get(disk.model, ""), not count) or count < len(disk.on):
        raise InputError(f"{key}.on: {disk.model} needs {wanted.get(disk.model, 'no disk')}: give that many")
    for part in disk.on:
        if part not in before:
            wrong = f"{key}.on: no disk {part!r} before it{nearest(part, before)}"
            raise InputError(f"{wrong}: choose from {', '.join(before)}" if before else f"{wrong}: move it up")
        raw = spec.disk[part].filesystem == "none"
        if disk.model == LOOP and (raw or part_of(spec, part)):
            raise InputError(f"{key}.on: {part!r} needs a filesystem of its own, for the loop's file: give it one")
        if disk.model != LOOP and not raw:
            where = spec.disk_key(part)
            raise InputError(f"{where}.filesystem: {part!r} is a part of {name!r}: give {where}.filesystem = 'none'")
        if disk.model != LOOP and any(part in other.on for place, other in spec.disk.items() if place != name):
            raise InputError(f"{key}.on: {part!r} is already a part of another disk: name it once")
    sizes = {size_bytes(spec, part) for part in disk.on}
    if len(sizes) > 1:
        shown = ", ".join(format_bytes(size) for size in sorted(sizes))
        raise InputError(f"{key}.on: the disks have different sizes, {shown}: make them equal")


def _check_time(key: str, time_ns: int, unit_ns: int) -> None:
    if not 0 < time_ns <= MOST_TIME_NS or time_ns % unit_ns:
        unit = format_time(unit_ns)
        raise InputError(f"{key}: {format_time(time_ns)} is invalid: give a multiple of {unit}, up to a day")
