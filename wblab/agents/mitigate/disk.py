"""The disk that matters: which one it is, what it can take, and whether its scheduler knows priorities."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from wblab.core.errors import InputError, WblabError

_SYS = Path("/sys/block")
_MS_PER_S = 1000
_BUSY, _QUEUED = 0.8, 2.0
_TAU_S = 30.0


@dataclass(frozen=True)
class Counters:
    """A disk's line in /proc/diskstats: bytes, and milliseconds with a request in flight and of all writes together."""

    read_bytes: int
    written_bytes: int
    busy_ms: int
    writes_ms: int


@dataclass(frozen=True)
class Disk:
    """What is known of a disk: `bandwidth` in bytes/s, 0 until it was seen saturated; `busy`, the smoothed share."""

    counters: Counters
    bandwidth: float = 0.0
    busy: float = 0.0


def follow(disk: Disk, counters: Counters, period_s: float) -> Disk:
    """Return what is known of a disk after another period.

    Its bandwidth is what it wrote in the time in which it was busy (io_ticks), in periods in which writing saturated
    it: busy for more than 80 % of the time, more written than read, and on the average two writes or more in flight or
    queued, since a program that waits for each of its small writes keeps a disk busy that could take much more. From
    one such period to the next the figure rises at once and falls with a time constant of 30 s: a burst that a cache in
    the disk took is forgotten, as the disk cannot keep that up. In other periods it rises if more was written than it
    says. A disk that never was saturated has no figure, and no process is said to have too much of it.
    """
    written = counters.written_bytes - disk.counters.written_bytes
    read = counters.read_bytes - disk.counters.read_bytes
    busy_s = (counters.busy_ms - disk.counters.busy_ms) / _MS_PER_S
    queued_s = (counters.writes_ms - disk.counters.writes_ms) / _MS_PER_S
    share = min(1.0, busy_s / period_s)
    bandwidth = disk.bandwidth
    if share > _BUSY and written > read and queued_s >= _QUEUED * busy_s:
        rate = written / busy_s
        kept = math.exp(-period_s / _TAU_S) if rate < bandwidth else 0.0
        bandwidth = kept * bandwidth + (1 - kept) * rate
    elif bandwidth:
        bandwidth = max(bandwidth, written / period_s)
    return replace(disk, counters=counters, bandwidth=bandwidth, busy=(disk.busy + share) / 2)


class Disks:
    """All disks of the machine that are not made of others, and the one that matters: the busiest, or the given one."""

    def __init__(self, name: str = "") -> None:
        if name and not (_SYS / name).exists():
            raise InputError(f"disk: there is no {name!r}: give one of {', '.join(sorted(_physical()))}, or none")
        self._only = name
        self.known: dict[str, Disk] = {}
        self.follow(1.0)
        if not self.known:
            raise WblabError("this machine has no disk: there is nothing to hold processes back for")

    def follow(self, period_s: float) -> None:
        """Bring what is known up to date."""
        for name, counters in read_counters([self._only] if self._only else _physical()).items():
            before = self.known.get(name)
            self.known[name] = follow(before, counters, period_s) if before else Disk(counters)

    def assume(self, bandwidths: Mapping[str, float]) -> None:
        """Take bandwidths for known, in bytes/s, until they are measured."""
        for name, bandwidth in bandwidths.items():
            self.known[name] = replace(self.known[name], bandwidth=bandwidth)

    @property
    def bandwidths(self) -> dict[str, float]:
        """What the disks can take, in bytes/s, as far as that is known."""
        return {name: disk.bandwidth for name, disk in self.known.items() if disk.bandwidth}

    @property
    def name(self) -> str:
        """The disk that matters now."""
        return max(self.known, key=lambda name: (self.known[name].busy, self.known[name].counters.written_bytes, name))

    @property
    def bandwidth(self) -> float:
        """What that disk can take, in bytes/s; 0 as long as that is not known."""
        return self.known[self.name].bandwidth


def read_counters(names: list[str]) -> dict[str, Counters]:
    """Return the counters of these disks."""
    found: Mapping[str, Any] = psutil.disk_io_counters(perdisk=True, nowrap=False) or {}
    return {
        name: Counters(line.read_bytes, line.write_bytes, line.busy_time, line.write_time)
        for name, line in found.items()
        if name in names
    }


def _physical() -> list[str]:
    """Return the disks that have a device: no loop, ram, device-mapper or RAID, which would count what others write."""
    return [path.name for path in _SYS.iterdir() if "/virtual/block/" not in str(path.resolve())]
