"""The model of a device, computed request by request as the kernel's patches do (`um: ubd: model …`).

In seconds and bytes. Requests come one after the other, except concurrent reads.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from statistics import median, pstdev

from wblab.live.disks.plan import DiskMeasurement

# Stalls of a disk: writes that took far longer than their neighbours.

_AROUND = 16  # neighbours on each side that define the usual time
# a stall exceeds the usual time by this factor and this time: other programs on a busy machine cause less
_TIMES, _LEAST_S = 3.0, 2e-3
_FEWEST, _FEWEST_EVEN = 3, 5
_EVEN = 0.2  # largest relative spread of distances between even stalls
MOST_S = 4.29  # limit of the kernel's parameter


@dataclass(frozen=True)
class Stalls:
    """excess_s: length of each stall, by its step's index. every: bytes between two stalls.

    time_s: mean length of a stall. is_even: whether the distances are equal.
    """

    excess_s: dict[int, float]
    every: float
    time_s: float
    is_even: bool

    @property
    def is_known(self) -> bool:
        """Whether there were enough stalls to tell how often they come."""
        return len(self.excess_s) >= _FEWEST


def find_stalls(measured: DiskMeasurement) -> Stalls:
    """Return the stalls of a measurement."""
    excess_s: dict[int, float] = {}
    places: list[float] = []
    for writes in _alike(measured):
        excess_s |= dict(_longer(writes))
    written, size = 0, 0
    for number, step in enumerate(measured.steps):
        if step.action == "write":
            written, size = written + step.size, step.size
            if number in excess_s:
                places.append(written - size / 2)
    if len(excess_s) < _FEWEST:
        return Stalls(excess_s, 0.0, 0.0, True)
    distances = [later - earlier for earlier, later in pairwise(places)]
    every = sum(distances) / len(distances)
    is_even = len(places) >= _FEWEST_EVEN and pstdev(distances) < _EVEN * every
    mean_s = sum(excess_s.values()) / len(excess_s)
    return Stalls(excess_s, every if is_even else written / len(places), min(mean_s, MOST_S), is_even)


def _alike(measured: DiskMeasurement) -> list[list[tuple[int, float]]]:
    """Return groups of writes that should take the same time: by series, size, and whether they are sequential.

    Each write has its step's index and its time in s.
    """
    groups: dict[tuple[str, int, bool], list[tuple[int, float]]] = {}
    ended = -1
    for number, step in enumerate(measured.steps):
        if step.action == "write":
            kind = (step.series, step.size, step.offsets[0] == ended)
            groups.setdefault(kind, []).append((number, measured.device_ns(step) / 1e9))
        if step.offsets:
            ended = step.offsets[-1] + step.size
    return list(groups.values())


def _longer(writes: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return the writes that took much longer than their neighbours, and by how much."""
    times = [took_s for _, took_s in writes]
    found = []
    for place, (number, took_s) in enumerate(writes):
        usual_s = median(times[max(place - _AROUND, 0) : place + _AROUND + 1])
        if took_s > _TIMES * usual_s + _LEAST_S:
            found.append((number, took_s - usual_s))
    return found


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
