"""The measurement: which requests, in which order, and for how long."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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
BURST, FLUSHED = "burst", "flush after"
LEAST_FILE, MOST_FILE = 4 << 20, 32 << 20

_CHUNK = 2 << 20  # of the file's first content: flushed after each
_EACH, _TIMES = 32, 4
_BLOCKS = (1, 4, 16, 64, 256)  # written before a flush
_FLUSHES = 5
# The share of the time at which each part must end. Time that one leaves goes to the next.
_UNTIL = {"file": 0.2, "requests": 0.5, "flushes": 0.6, "depth": 0.7, BURST: 1.0}


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
        self._file = 0

    def run(self) -> DiskMeasurement:
        call_ns = self._target.call_ns()
        self._fill()
        self._requests()
        self._flushes()
        if self._target.has_together:
            self._depth()
        self._burst()
        return DiskMeasurement(tuple(self._steps), call_ns)

    def _fill(self) -> None:
        """Allocate the file's blocks, so that the measurement changes no metadata."""
        while self._file < self._bounds.file_bytes and (self._goes_on("file") or self._file < LEAST_FILE):
            for offset in range(self._file, self._file + _CHUNK, LARGEST):
                self._target.write(offset, LARGEST)
            self._target.flush()
            self._file += _CHUNK
            self._room -= _CHUNK

    def _requests(self) -> None:
        for size in SIZES:
            for action in ("write", "read"):
                for order, places in (("sequential", self._follow), ("random", self._scattered)):
                    self._flush("before")
                    for offset in places(_EACH, size):
                        if not self._goes_on("requests"):
                            break
                        self._one(f"{action} {order}", action, offset, size)
        self._flush("before")

    def _flushes(self) -> None:
        for blocks in (*(1,) * _FLUSHES, *_BLOCKS[1:]):
            for offset in self._follow(blocks, LARGEST):
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

    def _burst(self) -> None:
        offset = 0
        while self._goes_on(BURST) and self._room >= LARGEST:
            self._one(BURST, "write", offset, LARGEST)
            offset = (offset + LARGEST) % self._file
        self._flush(BURST)

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
        share = (self._target.now_ns() - self._begin_ns) / NS_PER_S / self._bounds.most_s
        self._report(min(share, 1.0), part)
        return share < _UNTIL[part]
