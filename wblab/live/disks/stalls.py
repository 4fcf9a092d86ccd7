"""Stalls of a disk: writes that took far longer than their neighbours."""

from dataclasses import dataclass
from itertools import pairwise
from statistics import median, pstdev

from wblab.live.disks.steps import Measured

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


def find_stalls(measured: Measured) -> Stalls:
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


def _alike(measured: Measured) -> list[list[tuple[int, float]]]:
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
