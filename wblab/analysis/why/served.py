"""What a disk did at each moment: which request it served, and whose data its own cache wrote to the medium."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wblab.analysis.runs.places import NEVER, SECTOR
from wblab.analysis.runs.run import Run
from wblab.analysis.why.devicelimits import device_name, is_hardware
from wblab.analysis.why.recorded import Recorded
from wblab.analysis.why.requests import Numbers, Party, numbered
from wblab.core.drivers import COUNTED_BYTES
from wblab.core.spec import Disk, Spec
from wblab.core.units import NS_PER_S, Bytes

# A disk has stopped if a request takes so many times as long as others of its size, and so much longer.
_TIMES, _LONGER_NS = 4, NS_PER_S // 5
_FEWEST = 4  # requests from which the usual time of one is known

Floats = NDArray[np.float64]
Shares = dict[Party, tuple[float, float]]  # time in ns and bytes, by party


@dataclass(frozen=True)
class Served:
    """The requests of a disk in the order of completion. rows: of `Recorded.done`, with the disk's flushes.

    begun_ns, done_ns: when it served each: since the completion before, as of a disk that serves one at a time. One
    that a limit above its queue makes slow serves what that limit holds.
    still_ns: how much of that the disk stood still. cached_ns: how much of that it waited for room in its own cache.
    spent_ns: how much of that its credits or its limit of requests per second added, by its model; by_credits: 1 where
    the credits did.
    drains, drain_ns, drained_ns: the rows that went through the disk's cache, and when that wrote each to the medium.
    """

    recorded: Recorded
    rows: Numbers
    begun_ns: Numbers
    done_ns: Numbers
    is_flush: Numbers
    still_ns: Numbers
    cached_ns: Numbers
    drains: Numbers
    drain_ns: Numbers
    drained_ns: Numbers
    spent_ns: Numbers
    by_credits: Numbers

    def within(self, start_ns: int, end_ns: int) -> slice:
        """Return the requests that it served in a span of time, at least in part."""
        return slice(
            int(np.searchsorted(self.done_ns, start_ns, side="right")),
            int(np.searchsorted(self.begun_ns, end_ns)),
        )

    def idle_ns(self, start_ns: int, end_ns: int) -> int:
        """Return for how long of a span of time it served nothing, in ns."""
        at = self.within(start_ns, end_ns)
        begun_ns, done_ns = np.maximum(self.begun_ns[at], start_ns), np.minimum(self.done_ns[at], end_ns)
        return max(0, end_ns - start_ns - int((done_ns - begun_ns).sum()))

    def spent(self, start_ns: int, end_ns: int) -> int:
        """Return how much of a span of time its credits or its limit of requests added, in ns."""
        at = self.within(start_ns, end_ns)
        time_ns = np.minimum(self.done_ns[at], end_ns) - np.maximum(self.begun_ns[at], start_ns)
        whole_ns = np.maximum(1, self.done_ns[at] - self.begun_ns[at])
        return int((self.spent_ns[at] * np.maximum(0, time_ns) / whole_ns).sum())

    def is_of_credits(self, start_ns: int, end_ns: int) -> bool:
        """Whether most of what `spent` returns is that of credits, not of a limit of requests."""
        at = self.within(start_ns, end_ns)
        return bool(2 * (self.spent_ns[at] * self.by_credits[at]).sum() > self.spent_ns[at].sum())

    def shares(self, start_ns: int, end_ns: int) -> Shares:
        """Return the time and bytes of data that it served in a span of time, by party."""
        at = self.within(start_ns, end_ns)
        return _shares(self.recorded, (self.rows[at], self.begun_ns[at], self.done_ns[at]), (start_ns, end_ns))

    def drained(self, start_ns: int, end_ns: int) -> Shares:
        """Return the time and bytes that its own cache wrote to the medium in a span of time, by party."""
        at = slice(
            int(np.searchsorted(self.drained_ns, start_ns, side="right")),
            int(np.searchsorted(self.drain_ns, end_ns)),
        )
        return _shares(self.recorded, (self.drains[at], self.drain_ns[at], self.drained_ns[at]), (start_ns, end_ns))


def served(run: Run, recorded: Recorded, device: int) -> Served:
    """Return what a disk did."""
    return recorded.once(("served", device), lambda: _served(run, recorded, device))


def _served(run: Run, recorded: Recorded, device: int) -> Served:
    done, disk = recorded.done, _model(run, device)
    rows = np.flatnonzero((done.device == device) & ((done.size > 0) | (done.is_flush > 0)))
    done_ns = done.ts_ns[rows]
    before_ns = np.append(0, done_ns)[: len(rows)]
    is_known = (done.issued_ns[rows] != NEVER) & (disk is None or disk.model != "throttle")
    asked_ns = np.where(is_known, done.issued_ns[rows], done.first_ns[rows])
    begun_ns = np.minimum(np.maximum(asked_ns, before_ns), done_ns)
    is_flush = done.is_flush[rows]
    data = np.flatnonzero(is_flush == 0)
    usual_ns = np.zeros(len(rows), np.int64)
    usual_ns[data] = _usual_ns(recorded, rows[data], (done_ns - begun_ns)[data], disk)
    longer_ns = done_ns - begun_ns - usual_ns
    credits_ns, counted_ns = _least_ns(done.size[rows], disk)
    least_ns, by_credits = np.maximum(credits_ns, counted_ns), (credits_ns > counted_ns).astype(np.int64)
    spent_ns = np.clip(least_ns - usual_ns, 0, np.maximum(0, longer_ns)) * (is_flush == 0)
    longer_ns -= spent_ns
    cached_ns = np.zeros(len(rows), np.int64)
    still_ns = np.zeros(len(rows), np.int64)
    if is_hardware(run, device) and (disk is None or disk.stall_every or disk.erase_block):
        is_still = (longer_ns > (_TIMES - 1) * usual_ns) & (longer_ns > _LONGER_NS) & (is_flush == 0)
        still_ns[is_still] = longer_ns[is_still]
    if disk and disk.cache_bytes:
        of_cache = (is_flush == 0) & (done.is_read[rows] == 0)
        cached_ns[of_cache] = np.maximum(0, longer_ns[of_cache])
        still_ns[of_cache] = 0
    drains = rows[data][done.is_read[rows[data]] == 0]
    drain_ns, drained_ns = (
        _drains(recorded, drains, disk)
        if disk and disk.cache_bytes
        else _by_flushes(recorded, drains, rows, begun_ns, is_flush)
        if disk is None
        else (np.zeros(0, np.int64),) * 2
    )
    drains = drains[: len(drain_ns)]
    return Served(
        *(recorded, rows, begun_ns, done_ns, is_flush, still_ns, cached_ns, drains, drain_ns, drained_ns),
        *(spent_ns, by_credits),
    )


def _least_ns(size: Numbers, disk: Disk | None) -> tuple[Numbers, Numbers]:
    """Return how long requests take on a disk without credits, and at its limit of requests; 0 where it has none."""
    credits_ns = size * NS_PER_S // disk.sustained_bps if disk and disk.sustained_bps else np.zeros_like(size)
    counted_ns = -(-size // COUNTED_BYTES) * NS_PER_S // disk.iops if disk and disk.iops else np.zeros_like(size)
    return credits_ns, counted_ns


def _model(run: Run, device: int) -> Disk | None:
    """Return the model of a device, whose times are known; None if there is none."""
    name = device_name(run, device)
    if "machine" in run.record or not isinstance(run.spec, Spec) or not name:
        return None
    return run.spec.disk[name]


def _seeks(recorded: Recorded, rows: Numbers) -> NDArray[np.bool_]:
    """Return which requests do not begin where the one before them ended."""
    begins = recorded.done.sector[rows]
    ends = begins + recorded.done.size[rows] // SECTOR
    return np.append(True, begins[1:] != ends[:-1]) if len(rows) else np.zeros(0, bool)


def _usual_ns(recorded: Recorded, rows: Numbers, service_ns: Numbers, disk: Disk | None) -> Numbers:
    """Return how long each request with data usually takes: by the model, else as others of its size."""
    done = recorded.done
    size, seeks = done.size[rows], _seeks(recorded, rows)
    if disk:
        rate = np.where(done.is_read[rows] > 0, disk.read_bps or disk.write_bps, disk.write_bps)
        cached = bool(disk.cache_bytes) & (done.is_read[rows] == 0)
        transfer_ns = np.where(rate > 0, size * NS_PER_S // np.maximum(1, rate), 0)
        return transfer_ns + disk.latency + np.where(seeks & ~cached, disk.seek_time, 0)
    if len(rows) < _FEWEST:
        return service_ns
    usual_ns = (np.median(service_ns / size) * size).astype(np.int64)
    for each in (seeks, ~seeks):  # a seek takes its time whatever follows it
        if each.sum() >= _FEWEST:
            usual_ns[each] = np.maximum(usual_ns[each], int(np.median(service_ns[each])))
    return usual_ns


def _drains(recorded: Recorded, rows: Numbers, disk: Disk) -> tuple[Numbers, Numbers]:
    """Return when a cache wrote each row to the medium, in order, by its model."""
    done = recorded.done
    size, seeks = done.size[rows], _seeks(recorded, rows)
    work_ns = size * NS_PER_S // max(1, disk.drain_bps) + np.where(seeks, disk.seek_time, 0)
    start_ns, end_ns, free_ns = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64), 0
    for at, (came_ns, takes_ns) in enumerate(zip(done.ts_ns[rows].tolist(), work_ns.tolist(), strict=True)):
        start_ns[at] = max(free_ns, came_ns)
        free_ns = end_ns[at] = int(start_ns[at]) + takes_ns
    return start_ns, end_ns


def _by_flushes(
    recorded: Recorded, writes: Numbers, rows: Numbers, begun_ns: Numbers, is_flush: Numbers
) -> tuple[Numbers, Numbers]:
    """Return when flushes wrote each row to the medium, if the model is unknown: by bytes since the flush before."""
    done = recorded.done
    start_ns = done.ts_ns[writes].copy()
    end_ns = start_ns.copy()
    came_ns, since = done.ts_ns[writes], 0
    for flush in np.flatnonzero(is_flush).tolist():
        until = int(np.searchsorted(came_ns, begun_ns[flush], side="right"))
        size = done.size[writes[since:until]]
        if len(size):
            span_ns = int(done.ts_ns[rows[flush]]) - int(begun_ns[flush])
            edges = int(begun_ns[flush]) + np.append(0, np.cumsum(size)) * span_ns // int(size.sum())
            start_ns[since:until], end_ns[since:until] = edges[:-1], edges[1:]
        since = until
    return np.maximum.accumulate(start_ns), np.maximum.accumulate(end_ns)


def _shares(recorded: Recorded, spans: tuple[Numbers, Numbers, Numbers], within_ns: tuple[int, int]) -> Shares:
    """Return the time and bytes of served requests in a span of time, by party; of a part, its share of the bytes."""
    rows, begun_ns, done_ns = spans
    time_ns = np.minimum(done_ns, within_ns[1]) - np.maximum(begun_ns, within_ns[0])
    kept = time_ns >= 0
    rows, time_ns, whole_ns = rows[kept], time_ns[kept], (done_ns - begun_ns)[kept]
    part = np.where(whole_ns > 0, time_ns / np.maximum(1, whole_ns), 1.0)
    return shared(recorded, rows, time_ns.astype(float), part)


def shared(recorded: Recorded, rows: Numbers, time_ns: Floats, part: Floats) -> Shares:
    """Return the sums of time and bytes of requests by party. part: the share of each one's bytes that counts."""
    moved, done = recorded.moved, recorded.done
    first = np.searchsorted(moved.done_rank, done.rank[rows])
    count = np.searchsorted(moved.done_rank, done.rank[rows], side="right") - first
    request = np.repeat(np.arange(len(rows)), count)
    piece = np.repeat(first - np.append(0, np.cumsum(count))[: len(rows)], count) + np.arange(int(count.sum()))
    size = moved.size[piece].astype(float)
    whole = np.bincount(request, size, len(rows))
    parties, which = numbered(moved.owner[piece], moved.submitter[piece], moved.is_read[piece])
    times = np.bincount(which, time_ns[request] * size / whole[request], len(parties))
    sizes = np.bincount(which, part[request] * size, len(parties))
    return dict(zip(parties, zip(times.tolist(), sizes.tolist(), strict=True), strict=True))


def as_bytes(shares: Shares) -> dict[Party, Bytes]:
    """Return the bytes of shares, the most time first."""
    return {party: Bytes(round(size)) for party, (_, size) in sorted(shares.items(), key=lambda item: -item[1][0])}
