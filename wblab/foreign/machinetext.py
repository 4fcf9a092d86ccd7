"""The state of a machine as a text shows it, and whether its dirty limits and queues can explain stalls of seconds."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from wblab.foreign.disktext import BUSY, DisksText, DiskText, read_disks
from wblab.foreign.grouptext import GroupLimit, read_groups
from wblab.foreign.memorytext import Limits, MemoryText, read_memory
from wblab.foreign.statelines import state_lines

_SIGNS = (
    *(
        "MemTotal:",
        "MemFree:",
        "Dirty:",
        "nr_dirty",
        "vm.dirty_",
        "vm/dirty_",
        "/pressure/",
        "/queue/",
        "%util",
        "kB_wr/s",
    ),
    *("RQ-SIZE", "SCHED", '"sched"', "nr_requests", "w_await", "wkB/s"),
)
_NO_DISK = re.compile(r"(?:loop|ram|zram|sr|fd|nbd)\d+")
_PART = re.compile(r"(?:[sv]d[a-z]+|xvd[a-z]+|hd[a-z])\d+|(?:nvme\d+n\d+|mmcblk\d+)p\d+")
_LONG_S, _LONG_MS = 1.0, 1000.0  # from here on a stall is one of seconds
_IDLE, _SHORT_MS = 50.0, 100.0  # below both a disk held nobody up


@dataclass(frozen=True)
class Filled:
    """How long a disk has work for: with all that may be dirty, and with a full queue; None if it is not known."""

    disk: DiskText
    limit_s: float | None
    queue_s: float | None


@dataclass(frozen=True)
class MachineText:
    """What a text shows of a machine."""

    memory: MemoryText
    disks: DisksText
    groups: Sequence[GroupLimit] = ()

    @cached_property
    def limits(self) -> Limits | None:
        """The machine's dirty limits; None if the text does not say them."""
        return self.memory.limits()

    @cached_property
    def real_disks(self) -> list[DiskText]:
        """Its disks, without partitions and what has no hardware below it."""
        named = [
            disk for name, disk in self.disks.disks.items() if not (_NO_DISK.fullmatch(name) or _PART.fullmatch(name))
        ]
        return [disk for disk in named if disk.queue or disk.reports]

    @property
    def says_something(self) -> bool:
        """Whether it shows anything that can be used."""
        shown = any(
            disk.whole("nr_requests") or disk.busy is not None or disk.await_ms is not None for disk in self.real_disks
        )
        memory = self.memory
        return bool(
            shown or self.limits or memory.dirty_bytes or memory.now_bytes or memory.pressure or self.disks.writers
        )

    @cached_property
    def is_slowed(self) -> bool | None:
        """Whether the machine's limit slowed those who wrote at a moment of the text; None if it does not say."""
        now, limits = self.memory.now_bytes, self.limits
        if now is None or limits is None:
            return None
        if now >= (limits.dirty.size_bytes + limits.background.size_bytes) // 2:
            return True
        return False if now < limits.slowed_from_bytes else None

    @cached_property
    def filled(self) -> list[Filled]:
        """How long each disk has work for, the longest first."""
        found = []
        for disk in self.real_disks:
            rate, queue = disk.rate_bps, disk.queue_bytes
            limit_s = self.limits.dirty.low_bytes / rate if rate and self.limits else None
            found.append(Filled(disk, limit_s, queue / rate if rate and queue else None))
        return sorted(found, key=lambda item: (-(item.limit_s or item.queue_s or 0.0), -(item.disk.await_ms or 0.0)))

    @property
    def awaited(self) -> DiskText | None:
        """The disk whose writes took longest in a report during which that was over a second; None if none did."""
        if not self.disks.has_intervals:
            return None  # the means since boot hide what happened when
        long = [disk for disk in self.real_disks if (disk.await_ms or 0.0) >= _LONG_MS]
        return max(long, key=lambda disk: disk.await_ms or 0.0, default=None)

    @property
    def foremost(self) -> Filled | None:
        """The disk whose writes took longest, or the one with most work; None if no disk stands out."""
        if (slow := self.awaited) or (slow := self.busiest):
            return next(item for item in self.filled if item.disk is slow)
        known = [item for item in self.filled if item.limit_s or item.queue_s]
        return known[0] if known else self.filled[0] if len(self.filled) == 1 else None

    @property
    def long(self) -> list[Filled]:
        """The disks for which the limit or the queue holds seconds of work."""
        return [item for item in self.filled if max(item.limit_s or 0.0, item.queue_s or 0.0) >= _LONG_S]

    @property
    def is_idle(self) -> bool:
        """Whether no disk was busy in several reports, nor took long to write."""
        seen = [disk for disk in self.real_disks if disk.busy is not None]
        return (
            bool(seen)
            and self.disks.has_intervals
            and all((disk.busy or 0.0) < _IDLE and (disk.await_ms or 0.0) < _SHORT_MS for disk in seen)
        )

    @property
    def busiest(self) -> DiskText | None:
        """The disk that was busiest in reports of iostat, and for nearly all of one; None if none was."""
        seen = [disk for disk in self.real_disks if (disk.busy or 0.0) >= BUSY]
        return max(seen, key=lambda disk: disk.busy or 0.0, default=None) if self.disks.has_intervals else None


def read_machine(text: str) -> MachineText | None:
    """Return the state of a machine that a text shows; None if it shows none."""
    if not any(sign in text for sign in _SIGNS):
        return None
    lines = list(state_lines(text))
    found = MachineText(read_memory(lines), read_disks(lines, text), read_groups(text))
    return found if found.says_something else None
