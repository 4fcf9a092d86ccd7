"""The disk that matters: which one it is, what it can take, and whether its scheduler knows priorities."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from wblab.core.errors import InputError, WblabError, nearest
from wblab.mitigate.learned import LEAST, MOST, Learned, identity

_SYS = Path("/sys/block")
_MS_PER_S = 1000
_BUSY, _QUEUED = 0.8, 2.0
_MOSTLY = 4  # times as much written as read
_WINDOWS, _FLUSHES, _MANY = 3, 8, 16
_RISES_S, _FALLS_S = 5.0, 60.0  # the figure doubles in no less than this, and halves in no less
_LARGE_BYTES = 128 << 10  # a quarter of the usual largest request
_SECTOR_BYTES = 512


@dataclass(frozen=True)
class Counters:
    """A disk's counters since it is there: bytes, milliseconds with a request in flight and of all writes together.

    writes: how many there were. flushes, flushes_ms: the same of flushes; 0 before Linux 5.5.
    """

    read_bytes: int
    written_bytes: int
    busy_ms: int
    writes_ms: int
    writes: int = 0
    flushes: int = 0
    flushes_ms: int = 0


@dataclass(frozen=True)
class Disk:
    """What is known of a disk: `bandwidth` in bytes/s, 0 until it was seen saturated; `busy`, the smoothed share.

    measured: what it took in the last periods in which that could be told, the latest last. provisional: there were no
    more of these yet than a cache may have made faster than the disk is. rates: what was written in the last periods,
    in bytes/s. past: how long the last periods were, in s, and the counters before each. flushes_s: how long a flush
    took, in the last periods in which one ended.
    """

    counters: Counters
    bandwidth: float = 0.0
    busy: float = 0.0
    measured: tuple[float, ...] = ()
    provisional: bool = False
    rates: tuple[float, ...] = ()
    past: tuple[tuple[float, Counters], ...] = ()
    flushes_s: tuple[float, ...] = ()

    @property
    def flush_s(self) -> float:
        """How long flushes took lately, at least twice; 0 as long as that is not known."""
        return sorted(self.flushes_s)[-2] if len(self.flushes_s) > 1 else 0.0


def follow(
    disk: Disk, counters: Counters, period_s: float, large_bytes: int = _LARGE_BYTES, *, cached: bool = False
) -> Disk:
    """Return what is known of a disk after another period; cached: it has a write cache of its own that holds much.

    Its bandwidth is what it wrote in the time in which it was busy (io_ticks), in periods in which writing saturated
    it, as `flood_rate` says. A disk that was never saturated has no figure, and nobody is an offender there.

    The first such period gives a figure, which is provisional: the disk's cache may have taken a part. It is the median
    of the first three until there are three. From then on it approaches the median of the last three, at most by a
    factor of two in 5 s upwards and in 60 s downwards. So a burst that only the disk's cache could take is forgotten.
    In other periods the figure rises, no faster than that, if more was written than it says in each of three: what
    was written in one alone a cache may have taken. It stays between LEAST and MOST.

    Each flush makes room in a large cache again for more than the disk takes. So of a cached one the figure approaches
    what it wrote in sixteen periods together, if writing saturated it in these.

    So no user can set it for others at will. One thing is left: large writes all over a disk that has to seek for them
    bring the figure down, slowly, to what the disk does of those, until others write in order again.
    """
    bandwidth, measured, provisional = disk.bandwidth, disk.measured, disk.provisional
    past = (*disk.past, (period_s, disk.counters))[-_MANY:]
    rates = (*disk.rates, (counters.written_bytes - disk.counters.written_bytes) / period_s)[-_WINDOWS:]
    if cached and bandwidth:
        rate = flood_rate(past[0][1], counters, sum(s for s, _ in past), large_bytes) if len(past) == _MANY else 0.0
        bandwidth = _towards(rate or bandwidth, bandwidth, period_s)
    elif rate := flood_rate(disk.counters, counters, period_s, large_bytes):
        measured = (*measured, rate)[-_WINDOWS:]
        first = not bandwidth or provisional
        bandwidth = median(measured) if first else _towards(median(measured), bandwidth, period_s)
        provisional = first and len(measured) < _WINDOWS
    elif bandwidth and len(rates) == _WINDOWS:
        bandwidth = _towards(max(bandwidth, min(rates)), bandwidth, period_s)
    if bandwidth:
        bandwidth = min(max(bandwidth, LEAST), MOST)
    flushes_s = disk.flushes_s
    if flushes := counters.flushes - disk.counters.flushes:
        taken_s = (counters.flushes_ms - disk.counters.flushes_ms) / flushes / _MS_PER_S
        flushes_s = (*flushes_s, taken_s)[-_FLUSHES:]
    busy = (disk.busy + _share(disk.counters, counters, period_s)) / 2
    return Disk(counters, bandwidth, busy, measured, provisional, rates, past, flushes_s)


def flood_rate(before: Counters, after: Counters, time_s: float, large_bytes: int) -> float:
    """Return what a disk wrote in the time in which it was busy, in bytes/s; 0 where writing did not saturate it.

    It did where

    - the disk was busy for more than 80 % of the time, and wrote four times as much as it read;
    - two writes or more were in flight or queued on the average: a program that waits for each of its small writes
      keeps a disk busy that could take much more;
    - requests were large, `large_bytes` or more on the average: a flood of small ones tells how many of them a disk
      does, and not what it takes.
    """
    written = after.written_bytes - before.written_bytes
    busy_s = (after.busy_ms - before.busy_ms) / _MS_PER_S
    queued_s = (after.writes_ms - before.writes_ms) / _MS_PER_S
    saturated = _share(before, after, time_s) > _BUSY and queued_s >= _QUEUED * busy_s
    writes = written > _MOSTLY * (after.read_bytes - before.read_bytes)
    large = written >= large_bytes * (after.writes - before.writes)
    return written / busy_s if saturated and writes and large else 0.0


def _share(before: Counters, after: Counters, time_s: float) -> float:
    """Return the share of a time in which a disk was busy."""
    return min(1.0, (after.busy_ms - before.busy_ms) / _MS_PER_S / time_s)


def _towards(aim: float, bandwidth: float, period_s: float) -> float:
    """Return `aim`, or what can be reached of it in a period."""
    return min(max(aim, bandwidth * 2 ** (-period_s / _FALLS_S)), bandwidth * 2 ** (period_s / _RISES_S))


class Disks:
    """All disks of the machine that are not made of others, and the one that matters: the busiest, or the given one.

    learned: what disks were found to be, by what `identity` returns of them; also those that were pulled out.
    cached: those that are there and have a write cache of their own that holds much, as far as that was noticed.
    """

    def __init__(self, name: str = "", learned: Mapping[str, Learned] | None = None) -> None:
        if name and not (_SYS / name).exists():
            known = sorted(path.name for path in _SYS.iterdir())
            raise InputError(
                f"disk: there is no {name!r}{nearest(name, known)}: give one of {', '.join(sorted(_physical()))}, one "
                "that is made of others (loop0, dm-0), or none"
            )
        self._only = name
        self.learned = dict(learned or {})
        self.known: dict[str, Disk] = {}
        self.cached: set[str] = set()
        self.follow(1.0)
        if not self.known:
            raise WblabError("this machine has no disk: there is nothing to hold processes back for")
        self._last = self.name

    def follow(self, period_s: float) -> None:
        """Bring what is known up to date: of disks that are there, and of new ones as far as it was learned."""
        before, self.known = self.known, {}
        for name, counters in read_counters([self._only] if self._only else _physical()).items():
            if name in before:
                cached = name in self.cached
                self.known[name] = follow(before[name], counters, period_s, _large(name), cached=cached)
            else:
                learned = self.learned.get(identity(name), Learned(bandwidth=0.0))
                self.known[name] = Disk(counters, learned.bandwidth)
                self.cached |= {name} if learned.cached else set()
        self.cached &= self.known.keys()
        for name, disk in self.known.items():
            is_itself = (_SYS / name / "device").exists()  # what is made of others can be of other ones next time
            if disk.bandwidth and not disk.provisional and is_itself:
                self.learned[identity(name)] = Learned(bandwidth=disk.bandwidth, cached=name in self.cached)

    @property
    def bandwidths(self) -> dict[str, float]:
        """What the disks can take, in bytes/s, as far as that is known."""
        return {name: disk.bandwidth for name, disk in self.known.items() if disk.bandwidth}

    @property
    def name(self) -> str:
        """The disk that matters now; the last one, where none is left."""
        busy = [(disk.busy, disk.counters.written_bytes, name) for name, disk in self.known.items()]
        return max(busy)[-1] if busy else self._last

    @property
    def flush_s(self) -> float:
        """How long its flushes took lately; 0 as long as that is not known."""
        return self.known[self.name].flush_s if self.name in self.known else 0.0

    @property
    def bandwidth(self) -> float:
        """What that disk can take, in bytes/s; 0 as long as that is not known."""
        return self.bandwidths.get(self.name, 0.0)


def read_counters(names: list[str]) -> dict[str, Counters]:
    """Return the counters of these disks (Documentation/block/stat.rst), as far as they are there."""
    found = {}
    for name in names:
        with suppress(OSError):  # it has just been pulled out
            fields = [int(word) for word in (_SYS / name / "stat").read_text().split()]
            writes, written, writes_ms, busy_ms = fields[4], fields[6], fields[7], fields[9]
            read_bytes, written_bytes = fields[2] * _SECTOR_BYTES, written * _SECTOR_BYTES
            found[name] = Counters(read_bytes, written_bytes, busy_ms, writes_ms, writes, *fields[15:17])
    return found


def written_elsewhere(disk: str) -> bool:
    """Whether something was written to another disk than this one since the machine came up."""
    others = [name for name in _physical() if name != disk]
    return any(counters.written_bytes for counters in read_counters(others).values())


def _large(name: str) -> int:
    """Return what is a large request of a disk: a quarter of its largest."""
    try:
        return int((_SYS / name / "queue/max_sectors_kb").read_text()) * 1024 // 4
    except OSError:  # it has just been taken out
        return _LARGE_BYTES


def _physical() -> list[str]:
    """Return the disks that have a device: no loop, ram, device-mapper or RAID, which would count what others write."""
    return [path.name for path in _SYS.iterdir() if "/virtual/block/" not in str(path.resolve())]
