"""What a measurement shows of flash: erase blocks, of which few are open at a time, and stalls."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import median, pstdev

from wblab.core.diskcheck import MAX_OPEN
from wblab.live.disks.device import Model
from wblab.live.disks.plan import APART, FILE, LARGEST, DiskMeasurement, are_long, in_turns, is_long, usual_ns

_TRIED = range(2, MAX_OPEN + 1)

# Erase blocks: writes that take turns among more places than blocks are open are all long.


@dataclass(frozen=True)
class EraseBlocks:
    """open_blocks: as many places as can be written in turns for nothing. longer_s: what a write among more costs.

    many: the fewest places at which that was seen.
    """

    open_blocks: int
    longer_s: float
    many: int

    def size(self, write_bps: float) -> int:
        """Return the size of a block, in bytes, if the device copies all of it but one write at this rate."""
        return round(self.longer_s * write_bps) + LARGEST


def find_erase_blocks(measured: DiskMeasurement) -> EraseBlocks | None:
    """Return the erase blocks that a measurement shows; None if it shows none."""
    many = min((places for places in _TRIED if are_long(measured, places)), default=0)
    alone = measured.took_ns(in_turns(1))[1:]
    if not many or not alone:
        return None
    times = measured.took_ns(in_turns(many))
    if not is_long(median(times[many:]), min(alone)):
        return None  # then the disk is slow whatever is written, as without credits
    few = _for_nothing(measured, many)
    # Before the last round, blocks are closed that more was written to, unless one is open. The filesystem's own writes
    # (a journal's, of the new modification time) and stalls make some writes longer, and none shorter.
    took_ns = min(times[-many:] if few > 1 else times[many:])
    return EraseBlocks(few, max(took_ns - usual_ns(measured), 1) / 1e9, many)


def erase_words(measured: DiskMeasurement, erased: EraseBlocks | None, model: Model) -> Mapping[str, str]:
    """Return what is unknown of a model's erase blocks, in words by key."""
    if model.cache_bytes:
        return {"erase_block": "unknown: the cache hides it"}
    if not erased:
        most = _for_nothing(measured, MAX_OPEN + 1)
        if most > 1:
            return {"erase_block": f"none seen: {most} places in turns are as fast as one"}
        return {"erase_block": "unknown: too little was written to try it; --max-bytes and --max-time permit more"}
    words = {}
    if model.erase_block > APART:
        words["erase_block"] = f"as long as a copy of this takes; measured in places {APART >> 20} MiB apart"
    if erased.many > erased.open_blocks + 1:
        words["open_blocks"] = f"or up to {erased.many - 1}: there was no time to try all"
    return words


def _for_nothing(measured: DiskMeasurement, many: int) -> int:
    """Return the most places, fewer than many, whose writes in turns were not long."""
    return max((places for places in _TRIED if places < many and are_long(measured, places) is False), default=1)


# Stalls of a disk: writes that took far longer than their neighbours.

_AROUND = 16  # neighbours on each side that define the usual time
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


def find_stalls(measured: DiskMeasurement, closing_bytes: float = 0) -> Stalls:
    """Return the stalls of a measurement.

    closing_bytes: after a write elsewhere, writes of so many bytes may be long because erase blocks are closed.
    """
    excess_s: dict[int, float] = {}
    places: list[float] = []
    for writes in _alike(measured):
        excess_s |= dict(_longer(writes))
    written, ended, left = 0, -1, 0.0
    for number, step in enumerate(measured.steps):
        if step.action != "write":
            continue
        left = closing_bytes if step.offsets[0] != ended else left - step.size
        ended = step.offsets[0] + step.size
        if left > 0:
            excess_s.pop(number, None)
        elif step.series != FILE:
            written += step.size
            if number in excess_s:
                places.append(written - step.size / 2)
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
        if step.action == "write" and step.series != FILE:
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
        if is_long(took_s * 1e9, usual_s * 1e9):
            found.append((number, took_s - usual_s))
    return found
