"""The measurement: which requests, in which order, and for how long."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, Literal, Protocol

from wblab.core.streams import NO_SEED, draw_stream
from wblab.core.units import NS_PER_S
from wblab.lab.progress import Report

# The raw measurement of a disk: requests with their times.

Action = Literal["read", "write", "flush"]
KIB = 1 << 10


@dataclass(frozen=True, slots=True)
class Step:
    """One request, or concurrent reads.

    series: the group it belongs to. offsets: in the file; none for a flush. size: of each, in bytes. at_ns: when it was
    issued, on the measurement's clock. took_ns: until the last one was done.
    """

    series: str
    action: Action
    offsets: tuple[int, ...]
    size: int
    at_ns: int
    took_ns: int


@dataclass(frozen=True)
class DiskMeasurement:
    """A measurement. steps: in order. call_ns: time of an empty system call."""

    steps: tuple[Step, ...]
    call_ns: int

    def took_ns(self, series: str) -> list[int]:
        """Return how long each request of a series took, without the system call itself."""
        return [self.device_ns(step) for step in self.steps if step.series == series]

    def device_ns(self, step: Step) -> int:
        """Return the disk's part of a request's time."""
        return max(step.took_ns - self.call_ns, 1)

    def series(self) -> list[str]:
        """Return the names of the series, in order of their start."""
        return list(dict.fromkeys(step.series for step in self.steps))

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object, each step as a list of its values."""
        rows = [
            [step.series, step.action, list(step.offsets), step.size, step.at_ns, step.took_ns] for step in self.steps
        ]
        return {"call_ns": self.call_ns, "steps": rows}


def from_json(table: dict[str, Any]) -> DiskMeasurement:
    """Return the measurement from what `to_json` returned."""
    steps = (Step(row[0], row[1], tuple(row[2]), row[3], row[4], row[5]) for row in table["steps"])
    return DiskMeasurement(tuple(steps), table["call_ns"])


def quantile(values: Sequence[int], share: float) -> int:
    """Return the value that this share of the values does not exceed."""
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


SMALLEST, LARGEST = 4 * KIB, 64 * KIB  # the largest that every disk takes as one request: USB takes 120 KiB
SIZES = (SMALLEST, 4 * SMALLEST, LARGEST)
TOGETHER = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
FILE, BURST, AFTER, FLUSHED = "file", "burst", "read after burst", "flush after"
PLACES = (2, 3, 4, 6, 8, 12, 16)  # that take turns to be written
# From one to the next: more than the erase blocks of sticks and cards, so that no two places leave one at once.
APART = (8 << 20) + 3 * LARGEST
LEAST_FILE, MOST_FILE = 4 << 20, 128 << 20

_CHUNK = 2 << 20  # of the file's first content: flushed after each
_EACH, _TIMES = 32, 4
_FEWEST = 3  # of each series, even if there is little time
_ROUNDS = 3  # of turns; the first one closes what was open before
_PLACE = 2 << 20  # the most that is written to one
_ALONE = 6  # writes to one place after others took turns
_BLOCKS = (1, 4, 16, 64, 256)  # written before a flush
_FLUSHES = 5
# The share of the time at which each part must end. Time that one leaves goes to the next.
_UNTIL = {FILE: 0.2, "requests": 0.45, "flushes": 0.55, "depth": 0.6, "turns": 0.8, BURST: 0.98, AFTER: 1.0}


def in_turns(places: int) -> str:
    """Return the name of the series of writes that take turns among places."""
    return f"{places} in turns"


def are_long(measured: DiskMeasurement, places: int) -> bool | None:
    """Whether most writes in turns among places were long, after the first round; None if there were too few."""
    times, usual = measured.took_ns(in_turns(places)), usual_ns(measured)
    return is_long(quantile(times[places:], 0.25), usual) if len(times) >= 2 * places and usual else None


def is_long(took_ns: float, usual_ns: float) -> bool:
    """Whether a request took far longer than usual; other programs on a busy machine cause less."""
    return took_ns > 3 * usual_ns + 2_000_000


def usual_ns(measured: DiskMeasurement) -> float:
    """Return the time of a write elsewhere on a disk of which reads show what a seek takes; 0 if that is unknown."""
    kinds = ("write sequential", "read random", "read sequential")
    write, random, sequential = (
        [measured.device_ns(step) for step in measured.steps if (step.series, step.size) == (kind, LARGEST)]
        for kind in kinds
    )
    return median(write) + max(median(random) - median(sequential), 0) if write and random and sequential else 0.0


class DiskTarget(Protocol):
    """What is measured: a file, or a simulated device in tests."""

    def now_ns(self) -> int: ...  # noqa: D102
    def write(self, offset: int, size: int) -> None: ...  # noqa: D102
    def read(self, offset: int, size: int) -> None: ...  # noqa: D102
    def read_together(self, offsets: Sequence[int], size: int) -> None: ...  # noqa: D102
    def flush(self) -> None: ...  # noqa: D102
    def call_ns(self) -> int: ...  # noqa: D102
    @property
    def has_together(self) -> bool: ...  # noqa: D102


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Limits of a measurement. file_bytes: size of its file. most_bytes: limit to everything written."""

    most_bytes: int
    most_s: float
    file_bytes: int


def measure(target: DiskTarget, bounds: Bounds, report: Report) -> DiskMeasurement:
    """Measure a disk. Raises OSError."""
    return _Measurement(target, bounds, report).run()


class _Measurement:
    """A measurement in progress."""

    def __init__(self, target: DiskTarget, bounds: Bounds, report: Report) -> None:
        self._target, self._bounds, self._report = target, bounds, report
        self._random = draw_stream(NO_SEED, "measure")
        self._begin_ns = target.now_ns()
        self._room = bounds.most_bytes
        self._steps: list[Step] = []
        self._written: dict[int, int] = {}  # bytes in turns, by place
        self._file = self._call_ns = 0

    def run(self) -> DiskMeasurement:
        self._call_ns = self._target.call_ns()
        self._fill()
        self._requests()
        self._flushes()
        if self._target.has_together:
            self._depth()
        self._turns()
        self._burst()
        return self._measured()

    def _measured(self) -> DiskMeasurement:
        return DiskMeasurement(tuple(self._steps), self._call_ns)

    def _fill(self) -> None:
        """Allocate the file's blocks, so that the measurement changes no metadata."""
        while self._file < self._bounds.file_bytes and (self._goes_on(FILE) or self._file < LEAST_FILE):
            for offset in range(self._file, self._file + _CHUNK, LARGEST):
                self._one(FILE, "write", offset, LARGEST)
            self._flush(FILE)
            self._file += _CHUNK

    def _requests(self) -> None:
        """Make each series of requests, of which none takes the time of those that follow."""
        actions: tuple[Action, ...] = ("write", "read")
        kinds = [(size, action, order) for size in SIZES for action in actions for order in ("sequential", "random")]
        for number, (size, action, order) in enumerate(kinds):
            self._flush("before")
            now = self._passed()
            until = now + (_UNTIL["requests"] - now) / (len(kinds) - number)
            places = self._follow if order == "sequential" else self._scattered
            for made, offset in enumerate(places(_EACH, size)):
                if made >= _FEWEST and self._passed() > until:
                    break
                self._one(f"{action} {order}", action, offset, size)
        self._flush("before")

    def _flushes(self) -> None:
        groups = (*(1,) * _FLUSHES, *_BLOCKS[1:])
        offsets = self._follow(sum(groups), LARGEST)  # one after the other: to write elsewhere takes some disks long
        for blocks in groups:
            for _, offset in zip(range(blocks), offsets, strict=False):
                if not self._goes_on("flushes"):
                    break
                self._one(f"{FLUSHED} {blocks}", "write", offset, LARGEST)
            self._flush(f"{FLUSHED} {blocks}")

    def _depth(self) -> None:
        for at_once in TOGETHER:
            for _ in range(_TIMES):
                if self._goes_on("depth"):
                    offsets = tuple(self._scattered(at_once, SMALLEST))
                    self._timed(
                        f"{at_once} at once", "read", offsets, SMALLEST, self._target.read_together, offsets, SMALLEST
                    )

    def _turns(self) -> None:
        """Write in turns among more and more places, until all writes are long; then find out from how many on."""
        most = [places for places in PLACES if (places - 1) * APART + _PLACE <= self._file]
        for fewer, places in pairwise((1, *most)):
            if self._take_turns(places):
                for between in range(fewer + 1, places):
                    if self._take_turns(between):
                        break
                self._one_place()
                return

    def _take_turns(self, places: int) -> bool:
        """Write in turns among places, and return whether all writes are long."""
        self._flush("before")
        for place in list(range(places)) * _ROUNDS:
            if self._goes_on("turns") and self._room >= LARGEST:
                self._next(in_turns(places), place)
        return bool(are_long(self._measured(), places))

    def _one_place(self) -> None:
        """Write to one place only: whether the disk is as fast as before."""
        self._flush("before")
        for _ in range(_ALONE):
            self._next(in_turns(1), 0)

    def _next(self, series: str, place: int) -> None:
        """Write what follows in a place."""
        self._one(series, "write", place * APART + self._written.get(place, 0), LARGEST)
        self._written[place] = (self._written.get(place, 0) + LARGEST) % _PLACE

    def _burst(self) -> None:
        offset = 0
        self._flush("before")
        while self._goes_on(BURST) and self._room >= LARGEST:
            self._one(BURST, "write", offset, LARGEST)
            offset = (offset + LARGEST) % self._file
        self._flush(BURST)
        for offset in self._follow(_EACH, LARGEST):
            if self._goes_on(AFTER):
                self._one(AFTER, "read", offset, LARGEST)

    def _follow(self, count: int, size: int) -> Iterator[int]:
        """Yield consecutive offsets from somewhere in the file on."""
        begin = self._random.randrange(self._file // LARGEST) * LARGEST
        return ((begin + number * size) % self._file for number in range(count))

    def _scattered(self, count: int, size: int) -> list[int]:
        """Return offsets, none of which follows another."""
        return [2 * size * place for place in self._random.sample(range(self._file // (2 * size)), count)]

    def _one(self, series: str, action: Action, offset: int, size: int) -> None:
        if action == "read":
            self._timed(series, action, (offset,), size, self._target.read, offset, size)
        elif self._room >= size:
            self._room -= size
            self._timed(series, action, (offset,), size, self._target.write, offset, size)

    def _flush(self, series: str) -> None:
        self._timed(series, "flush", (), 0, self._target.flush)

    def _timed(
        self,
        series: str,
        action: Action,
        offsets: tuple[int, ...],
        size: int,
        call: Callable[..., None],
        *with_: object,
    ) -> None:
        at_ns = self._target.now_ns()
        call(*with_)
        self._steps.append(Step(series, action, offsets, size, at_ns, self._target.now_ns() - at_ns))

    def _goes_on(self, part: str) -> bool:
        """Whether a part of the measurement has time left."""
        self._report(min(self._passed(), 1.0), part)
        return self._passed() < _UNTIL[part]

    def _passed(self) -> float:
        """Return the share of the time that has passed."""
        return (self._target.now_ns() - self._begin_ns) / NS_PER_S / self._bounds.most_s
