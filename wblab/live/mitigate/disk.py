"""The disk to watch: which one it is, and its bandwidth."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from wblab.core.errors import InputError, WblabError, nearest
from wblab.live.mitigate.rule import LEAST, MOST, Learned, identity

_BLOCKS = Path("/sys/block")
_MS_PER_S = 1000
_BUSY, _QUEUED = 0.8, 2.0
_MOSTLY = 4  # ratio of bytes written to bytes read
_WINDOWS, _FLUSHES, _MANY = 3, 8, 16
_RISES_S, _FALLS_S = 5.0, 60.0  # shortest time in which the estimate may double, and halve
_LARGE_BYTES = 128 << 10  # a quarter of the usual largest request
_SECTOR_BYTES = 512


@dataclass(frozen=True)
class Counters:
    """A disk's counters since it appeared: bytes; milliseconds with a request in flight, and summed over all writes.

    writes: number of writes. flushes, flushes_ms: the same of flushes; 0 before Linux 5.5.
    """

    read_bytes: int
    written_bytes: int
    busy_ms: int
    writes_ms: int
    writes: int = 0
    flushes: int = 0
    flushes_ms: int = 0


@dataclass(frozen=True)
class WatchedDisk:
    """The state of a disk: `bandwidth` in bytes/s, 0 until it was seen saturated; `busy`, its smoothed busy share.

    measured: bandwidth in the last periods that saturated the disk, newest last. provisional: too few of these yet, so
    a cache may have inflated the estimate. rates: bytes/s written in the last periods. past: length of each of the last
    periods in s, and the counters before it. flushes_s: time of a flush, in the last periods in which one ended.
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
        """Time of a flush, in s, reached at least twice lately; 0 if unknown."""
        return sorted(self.flushes_s)[-2] if len(self.flushes_s) > 1 else 0.0


def follow(
    disk: WatchedDisk, counters: Counters, period_s: float, large_bytes: int = _LARGE_BYTES, *, cached: bool = False
) -> WatchedDisk:
    """Return a disk's state after another period. cached: it has a large write cache of its own.

    The bandwidth is bytes written divided by busy time (io_ticks), in periods in which writes saturated the disk (see
    `flood_rate`). A disk that was never saturated has no estimate, and no offenders.

    The first such period gives a provisional estimate, as the disk's cache may have taken a part. Until there are
    three, the estimate is their median. From then on it follows the median of the last three, by at most a factor of
    two in 5 s upwards and in 60 s downwards. So a burst into the disk's cache is forgotten. In other periods the
    estimate rises, at the same pace, if each of the last three wrote more than it says; one alone may have gone to a
    cache. It stays between LEAST and MOST.

    In a large cache, each flush makes room for a burst faster than the disk. So for a cached disk the estimate follows
    the rate over sixteen periods together, if writes saturated the disk in these.

    So no user can set the estimate for others at will, with one exception: large scattered writes to a disk that seeks
    lower it slowly to the disk's rate for such writes, until others write sequentially again.
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
    return WatchedDisk(counters, bandwidth, busy, measured, provisional, rates, past, flushes_s)


def flood_rate(before: Counters, after: Counters, time_s: float, large_bytes: int) -> float:
    """Return bytes/s written during busy time, or 0 if writes did not saturate the disk.

    They did if
    - the disk was busy for more than 80 % of the time, and wrote at least four times as much as it read;
    - at least two writes were in flight or queued on average: a program that waits for each small write keeps a disk
    busy that could write much more;
    - requests averaged `large_bytes` or more: a flood of small ones shows requests per second, not bandwidth.
    """
    written = after.written_bytes - before.written_bytes
    busy_s = (after.busy_ms - before.busy_ms) / _MS_PER_S
    queued_s = (after.writes_ms - before.writes_ms) / _MS_PER_S
    saturated = _share(before, after, time_s) > _BUSY and queued_s >= _QUEUED * busy_s
    writes = written > _MOSTLY * (after.read_bytes - before.read_bytes)
    large = written >= large_bytes * (after.writes - before.writes)
    return written / busy_s if saturated and writes and large else 0.0


def _share(before: Counters, after: Counters, time_s: float) -> float:
    """Return the share of a time span in which a disk was busy."""
    return min(1.0, (after.busy_ms - before.busy_ms) / _MS_PER_S / time_s)


def _towards(aim: float, bandwidth: float, period_s: float) -> float:
    """Return `aim`, or the nearest rate that one period allows."""
    return min(max(aim, bandwidth * 2 ** (-period_s / _FALLS_S)), bandwidth * 2 ** (period_s / _RISES_S))


class WatchedDisks:
    """All physical disks of the machine, and the one to watch: the given one, or the busiest.

    learned: what is known of each disk by its `identity`, unplugged ones included. cached: present disks that were
    found to have a large write cache of their own. blocks: the machine's /sys/block.
    """

    def __init__(self, name: str = "", learned: Mapping[str, Learned] | None = None, blocks: Path = _BLOCKS) -> None:
        self._blocks = blocks
        if name and not (blocks / name).exists():
            known, physical = sorted(path.name for path in blocks.iterdir()), ", ".join(sorted(_physical(blocks)))
            raise InputError(
                f"disk: no {name!r}{nearest(name, known)}: give one of {physical}, a disk made "
                "of others (loop0, dm-0), or none"
            )
        self._only = name
        self.learned = dict(learned or {})
        self.known: dict[str, WatchedDisk] = {}
        self.cached: set[str] = set()
        self.follow(1.0)
        if not self.known:
            raise WblabError("this machine has no disk: nothing to do")
        self._last = self.name

    def follow(self, period_s: float) -> None:
        """Update every present disk, and add new ones with what was learned about them."""
        before, self.known = self.known, {}
        names = [self._only] if self._only else _physical(self._blocks)
        for name, counters in read_counters(names, self._blocks).items():
            if name in before:
                cached = name in self.cached
                self.known[name] = follow(before[name], counters, period_s, _large(name, self._blocks), cached=cached)
            else:
                learned = self.learned.get(identity(name, self._blocks), Learned(bandwidth=0.0))
                self.known[name] = WatchedDisk(counters, learned.bandwidth)
                self.cached |= {name} if learned.cached else set()
        self.cached &= self.known.keys()
        for name, disk in self.known.items():
            # a disk made of others may be made of different ones next time
            is_itself = (self._blocks / name / "device").exists()
            if disk.bandwidth and not disk.provisional and is_itself:
                self.learned[identity(name, self._blocks)] = Learned(
                    bandwidth=disk.bandwidth, cached=name in self.cached
                )

    @property
    def bandwidths(self) -> dict[str, float]:
        """Bandwidths of the disks, in bytes/s, as far as they are known."""
        return {name: disk.bandwidth for name, disk in self.known.items() if disk.bandwidth}

    @property
    def name(self) -> str:
        """The disk to watch now; the last one if none is left."""
        busy = [(disk.busy, disk.counters.written_bytes, name) for name, disk in self.known.items()]
        return max(busy)[-1] if busy else self._last

    @property
    def flush_s(self) -> float:
        """Time of a flush on that disk, in s; 0 if unknown."""
        return self.known[self.name].flush_s if self.name in self.known else 0.0

    @property
    def bandwidth(self) -> float:
        """Bandwidth of that disk, in bytes/s; 0 if unknown."""
        return self.bandwidths.get(self.name, 0.0)


def read_counters(names: list[str], blocks: Path = _BLOCKS) -> dict[str, Counters]:
    """Return the counters of those disks that are present (Documentation/block/stat.rst)."""
    found = {}
    for name in names:
        with suppress(OSError):  # just unplugged
            fields = [int(word) for word in (blocks / name / "stat").read_text().split()]
            writes, written, writes_ms, busy_ms = fields[4], fields[6], fields[7], fields[9]
            read_bytes, written_bytes = fields[2] * _SECTOR_BYTES, written * _SECTOR_BYTES
            found[name] = Counters(read_bytes, written_bytes, busy_ms, writes_ms, writes, *fields[15:17])
    return found


def written_elsewhere(disk: str, blocks: Path = _BLOCKS) -> bool:
    """Whether any other disk has been written to since the machine booted."""
    others = [name for name in _physical(blocks) if name != disk]
    return any(counters.written_bytes for counters in read_counters(others, blocks).values())


def _large(name: str, blocks: Path) -> int:
    """Return the size from which a request of a disk counts as large: a quarter of its largest.

    No more than of the usual largest, though: one of 4 MiB needs pages that lie together in memory, and is rare.
    """
    try:
        return min(int((blocks / name / "queue/max_sectors_kb").read_text()) * 1024 // 4, _LARGE_BYTES)
    except OSError:  # just unplugged
        return _LARGE_BYTES


def _physical(blocks: Path) -> list[str]:
    """Return the physical disks: loop, ram, device-mapper and RAID disks would count the same writes twice."""
    return [path.name for path in blocks.iterdir() if "/virtual/block/" not in str(path.resolve())]
