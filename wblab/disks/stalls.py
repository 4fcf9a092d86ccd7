"""Stalls of a disk: writes that took far longer than those around them."""

from dataclasses import dataclass
from itertools import pairwise
from statistics import median, pstdev

from wblab.disks.steps import Measured

_AROUND = 16  # requests before and after one that say what is usual
_TIMES, _LEAST_S = 3.0, 2e-3  # longer than so many times the usual, and so much: others on a busy machine take that
_FEWEST, _FEWEST_EVEN = 3, 5
_EVEN = 0.2  # how much distances between stalls may differ, as a share
MOST_S = 4.29  # what the kernel's parameter holds


@dataclass(frozen=True)
class Stalls:
    """excess_s: by the number of its step, for how long each stalled write stopped. every: bytes between two stalls.

    time_s: what a stall lasts, in the mean. is_even: whether they come after so many bytes each time.
    """

    excess_s: dict[int, float]
    every: float
    time_s: float
    is_even: bool

    @property
    def is_known(self) -> bool:
        """Whether there were enough of them to say how often they come."""
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
    """Return writes that should take the same, those of a series and size that follow one, and those that do not.

    Each with the number of its step and the seconds that it took.
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
    """Return those of some writes that took much longer than those around them, and by how much."""
    times = [took_s for _, took_s in writes]
    found = []
    for place, (number, took_s) in enumerate(writes):
        usual_s = median(times[max(place - _AROUND, 0) : place + _AROUND + 1])
        if took_s > _TIMES * usual_s + _LEAST_S:
            found.append((number, took_s - usual_s))
    return found
