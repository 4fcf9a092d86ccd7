"""What to try on a machine whose state a text shows: only what the lab measured, with what sets it and undoes it."""

import re
from collections.abc import Iterator

from wblab.core.drivers import SHORT_BYTES
from wblab.foreign.disktext import DiskText
from wblab.foreign.machinetext import Filled, MachineText
from wblab.foreign.state import SHORT_QUEUE
from wblab.lab.printable import printable
from wblab.machine.block import shortened
from wblab.report.quantities import size
from wblab.report.report import Block, Lines

LOW_LIMITS = (
    "In the lab such limits stalled programs on a fast disk beside a slow one: 30.2 s instead of 7 ms, with limits of "
    "16 and 32 MiB. The kernel's own limits, or a queue of 512 KiB for the slow disk (0.23 s), ended it."
)
OWN_LIMIT = (
    "In the lab a strict limit for the slow disk, 5 % of the machine's, ended stalls of writers to another one: "
    "0.04 s instead of 10.2 s."
)
A_FIFTH = (
    "In the lab, with programs that write up to 1 KiB at a time to a slow SD card, limits of a fifth made the longest "
    "stall 3.7 s instead of 23.7 s, and took a quarter of the rate of the one that writes fast:"
)
_STRICT_SINCE = (6, 2)
_SHORT_LIMIT_S = 5.0
_USUAL_RATIO = 20  # vm_dirty_ratio in mm/page-writeback.c
_ROUND_BYTES = 1 << 20
_NUMBER_OF_DISK = re.compile(r"\d{1,4}:\d{1,7}")
_PLAIN_NAME = re.compile(r"[\w-]{1,32}")


def tried(found: MachineText) -> Iterator[Block]:
    """Yield what the lab measured to help against what a text shows, with the commands."""
    limits = found.limits
    first = found.foremost
    if limits and (low := _smaller_than_a_queue(found)):
        queue = f"the queue of {printable(low.name)} holds, {size(low.queue_bytes or 0)}"
        yield f"The limit is no more than {queue}. {LOW_LIMITS}"
    if first and _has_long_queue(found, first):
        yield SHORT_QUEUE
        if commands := _short(first.disk):
            yield Lines(commands)
    if first and (first.limit_s or 0.0) >= _SHORT_LIMIT_S and len(found.real_disks) > 1:
        yield OWN_LIMIT
        if _has_strict(found) and (number := _number(found, first.disk)):
            yield Lines(_strict(found.disks.bdis.get(number, {}), f"/sys/class/bdi/{number}"))
        else:
            yield "It is set in /sys/class/bdi of the device that is mounted (strict_limit), since Linux 6.2."
    if (
        limits
        and len(found.real_disks) == 1
        and ((found.filled[0].limit_s or 0.0) >= _SHORT_LIMIT_S or found.is_slowed)
    ):
        yield A_FIFTH
        yield Lines(tuple(_fifth(found)))


def _smaller_than_a_queue(found: MachineText) -> DiskText | None:
    if not found.limits or len(found.real_disks) < 2 or not _were_lowered(found):
        return None
    dirty = found.limits.dirty.size_bytes
    longest = max(found.real_disks, key=lambda disk: disk.queue_bytes or 0)
    return longest if (longest.queue_bytes or 0) >= dirty else None


def _were_lowered(found: MachineText) -> bool:
    """Whether somebody has set the machine's limit lower than the kernel does, by what the text says."""
    ratio = found.memory.setting("dirty_ratio")
    return bool(found.memory.setting("dirty_bytes")) or (ratio is not None and 0 < ratio < _USUAL_RATIO)


def _has_long_queue(found: MachineText, first: Filled) -> bool:
    is_long = (first.queue_s or 0.0) >= 1.0 or first.disk is found.awaited
    return is_long and (first.disk.queue_bytes or 0) > SHORT_BYTES


def _short(disk: DiskText) -> tuple[str, ...]:
    """Return the commands that shorten a disk's queue, and those that undo it."""
    requests, size_kib = disk.whole("nr_requests"), disk.whole("max_sectors_kb")
    if not requests or not size_kib or not _PLAIN_NAME.fullmatch(disk.name):
        return ()
    fewer, smaller = shortened(requests, size_kib << 10, SHORT_BYTES)
    place = f"/sys/block/{disk.name}/queue"
    wanted = {"nr_requests": (fewer, requests), "max_sectors_kb": (smaller >> 10, size_kib)}
    changed = {name: pair for name, pair in wanted.items() if pair[0] != pair[1]}
    set_ = tuple(f"echo {new} > {place}/{name}" for name, (new, _) in changed.items())
    undo = tuple(f"echo {old} > {place}/{name}    # undoes it" for name, (_, old) in changed.items())
    return (*set_, *undo)


def _fifth(found: MachineText) -> Iterator[str]:
    """Yield the command that sets limits of a fifth, and the one that undoes it, if the text has what was set."""
    limits, keys = found.limits, ("dirty_background", "dirty")
    assert limits
    for key, limit in zip(keys, (limits.background, limits.dirty), strict=True):
        yield f"sysctl -w vm.{key}_bytes={max(limit.low_bytes // 5 // _ROUND_BYTES, 1) * _ROUND_BYTES}"
    for key in reversed(keys):
        for name in (f"{key}_ratio", f"{key}_bytes"):
            if value := found.memory.setting(name):
                yield f"sysctl -w vm.{name}={value}    # undoes it"


def _strict(own: dict[str, str], place: str) -> tuple[str, ...]:
    """Return the commands that limit a disk strictly to 5 %, and, if the text has what was set, those that undo it."""
    set_ = (f"echo 50000 > {place}/max_ratio_fine", f"echo 1 > {place}/strict_limit")
    fine, strict = own.get("max_ratio_fine", ""), own.get("strict_limit", "")
    if not (fine.isdecimal() and strict in {"0", "1"}):
        return set_
    return (
        *set_,
        f"echo {strict} > {place}/strict_limit    # undoes it",
        f"echo {fine} > {place}/max_ratio_fine    # too",
    )


def _has_strict(found: MachineText) -> bool:
    if any("strict_limit" in own for own in found.disks.bdis.values()):
        return True
    version = re.match(r"(\d+)\.(\d+)", found.memory.release)
    return version is not None and (int(version[1]), int(version[2])) >= _STRICT_SINCE


def _number(found: MachineText, disk: DiskText) -> str:
    """Return a disk's number; empty if it is unknown, or if a filesystem may lie on a device that is made of it."""
    number = disk.facts.get("dev", "")
    if any(name.startswith(("dm-", "md")) for name in found.disks.disks):
        return ""
    return number if _NUMBER_OF_DISK.fullmatch(number) else ""
