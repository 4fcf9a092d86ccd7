"""Counters and queue limits of this machine's disks: Documentation/admin-guide/iostats.rst, block/blk-sysfs.c."""

from contextlib import suppress
from pathlib import Path

from wblab.core.units import NS_PER_MS
from wblab.live.gauge.catalogue import (
    BUSY,
    IN_FLIGHT,
    QUEUE_BYTES,
    QUEUE_REQUESTS,
    QUEUED,
    READ,
    READS,
    WRITES,
    WRITTEN,
    Metric,
)
from wblab.live.gauge.counts import Counts, Labels
from wblab.live.monitor.disks import counters

_SECTOR_BYTES = 512  # fixed, whatever the disk's sector size
_NAME = 2
_FIELDS: tuple[tuple[int, Metric, int], ...] = (
    *((3, READS, 1), (5, READ, _SECTOR_BYTES), (7, WRITES, 1), (9, WRITTEN, _SECTOR_BYTES)),
    *((11, IN_FLIGHT, 1), (12, BUSY, 1), (13, QUEUED, 1)),
)
_LIMITS = (("nr_requests", QUEUE_REQUESTS, 1), ("max_sectors_kb", QUEUE_BYTES, 1 << 10))
_METRICS = (*(metric for _, metric, _ in _FIELDS), *(metric for _, metric, _ in _LIMITS))


def count_disks(counts: Counts, text: bytes) -> tuple[str, ...]:
    """Take over the counters of each whole disk from /proc/diskstats. Return the disks' names."""
    disks = counters(text)
    for line in text.decode(errors="replace").splitlines():
        words = line.split()
        if len(words) > 13 and words[_NAME] in disks:
            for place, metric, times in _FIELDS:
                counts.put(metric, int(words[place]) * times, words[_NAME])
    counts.keep(_METRICS, [(name,) for name in disks])
    return tuple(disks)


def count_limits(counts: Counts, disks: tuple[str, ...], blocks: Path = Path("/sys/block")) -> None:
    """Take over the limits of the disks' queues; a disk without a queue has none."""
    for disk in disks:
        for file, metric, times in _LIMITS:
            with suppress(OSError, ValueError):
                value = int((blocks / disk / "queue" / file).read_text())
                counts.put(metric, value * times, disk)


class Idleness:
    """Which disks did little since the last time, by their time with a request."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._before: tuple[int, dict[Labels, int]] = (0, {})
        self._idle: set[str] = set()

    def look(self, now_ns: int) -> None:
        """Note what disks have done up to now."""
        before_ns, before = self._before
        busy_ms = self._counts.rows(BUSY)
        most_ms = (now_ns - before_ns) // NS_PER_MS // 2
        self._idle = {labels[0] for labels, value in busy_ms.items() if value - before.get(labels, value) < most_ms}
        self._before = (now_ns, busy_ms)

    def is_idle(self, disk: str) -> bool:
        """Whether a disk had a request in less than half of the time between the last two looks."""
        return disk in self._idle
