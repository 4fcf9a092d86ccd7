"""The model of a device, computed request by request as the kernel's patches do (`um: ubd: model …`).

In seconds and bytes. Requests come one after the other, except concurrent reads.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from wblab.core.diskcheck import MAX_OPEN
from wblab.core.drivers import COUNTED_BYTES


@dataclass(frozen=True, kw_only=True)
class Model:
    """The quantities of docs/reference/disk-model.md. An unlimited rate is inf; what is not there has 0 bytes."""

    write_bps: float
    read_bps: float
    latency_s: float = 0.0
    seek_s: float = 0.0
    depth: int = 1
    stall_every: float = 0.0
    stall_s: float = 0.0
    is_even: bool = True
    cache_bytes: float = 0.0
    drain_bps: float = inf
    erase_block: int = 0
    open_blocks: int = 1
    burst_bytes: float = 0.0
    sustained_bps: float = inf
    iops: float = inf


class Device:
    """The state of a device. The caller decides when a stall happens."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.now_s = 0.0
        self._head = -1
        self._resumes_s = self._drained_s = 0.0
        self._open: list[tuple[int, int]] = []  # erase blocks: number and bytes written, the last one first
        self._sustained_s = self._counted_s = 0.0

    def wait(self, time_s: float) -> None:
        """Let time pass."""
        self.now_s += time_s

    def read(self, offsets: Sequence[int], size: int) -> float:
        """Read blocks concurrently, and return how long that takes, in s."""
        model, begin_s = self.model, self.now_s
        places, bus_s = [begin_s] * min(model.depth, len(offsets)), begin_s
        for offset in offsets:
            first = min(range(len(places)), key=places.__getitem__)
            due_s = places[first] + model.latency_s + self._seek_s(offset, size)
            bus_s = places[first] = self._limited(size, begin_s, max(due_s, bus_s) + size / model.read_bps)
        self.now_s = bus_s
        return self.now_s - begin_s

    def write(self, offset: int, size: int, stall_s: float = 0.0) -> float:
        """Write a block, and return how long that takes, in s. stall_s: length of a stall during it."""
        model, begin_s = self.model, self.now_s
        pause_s = self._seek_s(offset, size) + stall_s + self._copy_s(offset, size)
        done_s = begin_s + model.latency_s + size / model.write_bps
        if model.cache_bytes:
            self.now_s = self._cached(self._limited(size, begin_s, done_s), size, pause_s)
        else:
            self.now_s = self._limited(size, begin_s, done_s + pause_s)
        return self.now_s - begin_s

    def flush(self) -> float:
        """Empty the cache, and return how long that takes, in s."""
        begin_s = self.now_s
        self.now_s = max(begin_s + self.model.latency_s, self._drained_s)
        return self.now_s - begin_s

    def _cached(self, due_s: float, size: int, pause_s: float) -> float:
        rate = self.model.drain_bps
        self._resumes_s = max(self._resumes_s, due_s)
        work_s = max(self._drained_s - self._resumes_s, 0.0) + size / rate
        self._resumes_s += pause_s
        self._drained_s = self._resumes_s + work_s
        room_s = self.model.cache_bytes / rate
        return self._drained_s - room_s if work_s > room_s else due_s

    def _seek_s(self, offset: int, size: int) -> float:
        follows = offset == self._head
        self._head = offset + size
        return 0.0 if follows else self.model.seek_s

    def _copy_s(self, offset: int, size: int) -> float:
        """Write to erase blocks, and return how long the device copies to close those that are not full."""
        model, copied, left = self.model, 0, size
        while model.erase_block and left:
            number, within = divmod(offset, model.erase_block)
            part = min(left, model.erase_block - within)
            copied += self._write_block(number, part)
            offset, left = offset + part, left - part
        return copied / (model.drain_bps if model.cache_bytes else model.write_bps)

    def _write_block(self, number: int, size: int) -> int:
        """Write to an erase block, and return how many bytes another one lacks that is closed for it."""
        model, copied = self.model, 0
        written = dict(self._open).get(number)
        if written is not None:
            self._open.remove((number, written))
        elif len(self._open) == min(model.open_blocks, MAX_OPEN):
            copied = model.erase_block - self._open.pop()[1]
        written = (written or 0) + size
        if written < model.erase_block:  # a full one is closed for nothing
            self._open.insert(0, (number, written))
        return copied

    def _limited(self, size: int, issued_s: float, due_s: float) -> float:
        """Return when a device with credits or a limit of requests is done with a request, not before it is due."""
        model = self.model
        if model.sustained_bps < inf:
            self._sustained_s = max(self._sustained_s, issued_s) + size / model.sustained_bps
            due_s = max(due_s, self._sustained_s - model.burst_bytes / model.sustained_bps)
        if model.iops < inf:
            self._counted_s = max(self._counted_s, issued_s) + -(-size // COUNTED_BYTES) / model.iops
            due_s = max(due_s, self._counted_s)
        return due_s
