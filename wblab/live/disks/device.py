"""The model of a device, computed request by request as the kernel's patches do (`um: ubd: model …`).

In seconds and bytes. Requests come one after the other, except concurrent reads.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf


@dataclass(frozen=True, kw_only=True)
class Model:
    """The quantities of docs/reference/disk-model.md. An unlimited rate is inf; no cache is 0 bytes."""

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


class Device:
    """The state of a device. The caller decides when a stall happens."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.now_s = 0.0
        self._head = -1
        self._resumes_s = self._drained_s = 0.0

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
            bus_s = places[first] = max(due_s, bus_s) + size / model.read_bps
        self.now_s = bus_s
        return self.now_s - begin_s

    def write(self, offset: int, size: int, stall_s: float = 0.0) -> float:
        """Write a block, and return how long that takes, in s. stall_s: length of a stall during it."""
        model, begin_s = self.model, self.now_s
        pause_s = self._seek_s(offset, size) + stall_s
        on_bus_s = model.latency_s + size / model.write_bps
        if model.cache_bytes:
            self.now_s = self._cached(begin_s + on_bus_s, size, pause_s)
        else:
            self.now_s = begin_s + on_bus_s + pause_s
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
