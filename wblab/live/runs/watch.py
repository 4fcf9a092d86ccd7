"""Watch the innocent loads while they run: which pauses have ended, and which of them to save in one capture."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from wblab.core.units import NS_PER_S
from wblab.live.runs.startedloads import StartedLoad
from wblab.machine.block import whole_disk
from wblab.machine.storage import Traffic, traffic

# Bytes that a device wrote and read during a run.


@dataclass(frozen=True)
class DeviceUse:
    """A device during a run. busy_s: time with a request in flight.

    written_per_busy_s: its throughput while busy. most_written_per_s: what it wrote at least in its best second, or in
    its best time of 2, 4, 8, ... seconds where its requests are so large that one more or less makes a difference.
    """

    seconds: float
    read_bytes: int
    written_bytes: int
    busy_s: float
    written_per_s: int
    written_per_busy_s: int
    most_written_per_s: int


class Throughput:
    """Traffic of a device (in /sys; None: no device), sampled once a second."""

    def __init__(self, device: Path | None) -> None:
        self._device = device
        self._request_bytes = _largest_request(device) if device else 0
        self._samples: list[tuple[int, Traffic]] = []
        self.notes = [] if device else ["no throughput: the directory is not on a block device"]

    def sample(self, now_ns: int, *, at_once: bool = False) -> None:
        """Take a sample if one is due."""
        if self._device and (at_once or not self._samples or now_ns - self._samples[-1][0] >= NS_PER_S):
            self._samples.append((now_ns, traffic(self._device)))

    def to_json(self) -> dict[str, Any] | None:
        """Return the measurements as a JSON object; None without a device."""
        measured = summary(self._samples, self._request_bytes)
        return asdict(measured) if measured else None


def summary(samples: list[tuple[int, Traffic]], request_bytes: int = 0) -> DeviceUse | None:
    """Return the traffic between the first and the last sample; None if there are fewer than two.

    request_bytes: its largest request.
    """
    if len(samples) < 2 or samples[-1][0] <= samples[0][0]:
        return None
    (first_ns, first), (last_ns, last) = samples[0], samples[-1]
    seconds, busy_s = (last_ns - first_ns) / NS_PER_S, (last.busy_ns - first.busy_ns) / NS_PER_S
    written = last.written_bytes - first.written_bytes
    return DeviceUse(
        seconds=round(seconds, 3),
        read_bytes=last.read_bytes - first.read_bytes,
        written_bytes=written,
        busy_s=round(busy_s, 3),
        written_per_s=int(written / seconds),
        written_per_busy_s=int(written / busy_s) if busy_s else 0,
        most_written_per_s=max(_rates(samples, request_bytes), default=0),
    )


def _rates(samples: list[tuple[int, Traffic]], request_bytes: int) -> Iterator[int]:
    """Yield how much was written per second at least, in times of 1, 2, 4, 8, ... samples.

    The kernel counts a request when it ends: one request may have begun before the time, and is taken off. A disk of
    1 MiB/s whose requests have 4 MiB would otherwise show 4 MiB/s in one second of four.
    """
    apart = 1
    while apart < len(samples):
        for (before_ns, before), (after_ns, after) in zip(samples, samples[apart:], strict=False):
            if after_ns - before_ns >= NS_PER_S // 2:
                least = after.written_bytes - before.written_bytes - request_bytes
                yield max(least, 0) * NS_PER_S // (after_ns - before_ns)
        apart *= 2


def _largest_request(device: Path) -> int:
    """Return the largest request of a device's disk in bytes (sysfs, queue/max_sectors_kb); 0 if it shows none."""
    with suppress(OSError, ValueError):
        return int((whole_disk(device.resolve()) / "queue/max_sectors_kb").read_text()) << 10
    return 0


_TOGETHER_NS = 10 * NS_PER_S


@dataclass(frozen=True)
class WatchedPause:
    """A pause that has ended, without the idle time of its cycle; in ns of CLOCK_MONOTONIC."""

    load: str
    start_ns: int
    end_ns: int

    @property
    def duration_ns(self) -> int:
        """Its length, in ns."""
        return self.end_ns - self.start_ns


class Watch:
    """Reads what running loads record. Control loads do not count: their pauses are stalls of the machine."""

    def __init__(self, running: Sequence[StartedLoad], bound_ns: int) -> None:
        self.longest: WatchedPause | None = None
        self._loads = [item for item in running if item.load.role == "innocent"]
        self._seen = {item.name: 0 for item in self._loads}
        self._bound_ns = bound_ns

    def look(self) -> list[WatchedPause]:
        """Return the pauses over the threshold that have ended since the last call."""
        found = []
        for item in self._loads:
            times_ns, idle_ns = item.stamps.times_ns(self._seen[item.name]), item.load.idle_ns(1)
            for start_ns, end_ns in pairwise(times_ns):
                pause = WatchedPause(item.name, start_ns, max(start_ns, end_ns - idle_ns))
                if self.longest is None or pause.duration_ns > self.longest.duration_ns:
                    self.longest = pause
                if pause.duration_ns > self._bound_ns:
                    found.append(pause)
            self._seen[item.name] += max(0, len(times_ns) - 1)
        return found

    def paused(self, now_ns: int) -> bool:
        """Whether a pause over the threshold is in progress."""
        return any(
            now_ns - time_ns > item.load.idle_ns(1) + self._bound_ns
            for item in self._loads
            for time_ns in item.stamps.times_ns(self._seen[item.name])[-1:]
        )

    def oldest_ns(self, now_ns: int) -> int:
        """Return the start, in ns, of the oldest cycle not returned by `look`; no later pause began earlier."""
        begun = [item.stamps.times_ns(self._seen[item.name])[:1] for item in self._loads]
        return min((times_ns[0] for times_ns in begun if times_ns), default=now_ns)


class Pending:
    """Pauses waiting to be captured. Pauses close together go into one capture."""

    def __init__(self, around_ns: int) -> None:
        self._around_ns = around_ns
        self._pauses: list[WatchedPause] = []

    def add(self, pauses: Sequence[WatchedPause]) -> None:
        """Add pauses that have ended."""
        self._pauses += pauses

    def due(self, now_ns: int, paused: bool) -> list[WatchedPause]:
        """Return the pauses to capture now, and forget them: once all is quiet, or if that takes too long."""
        if not self._pauses:
            return []
        quiet = not paused and now_ns >= max(pause.end_ns for pause in self._pauses) + self._around_ns
        if not quiet and now_ns < min(pause.start_ns for pause in self._pauses) + _TOGETHER_NS + self._around_ns:
            return []
        return self.rest()

    def oldest_ns(self, otherwise_ns: int) -> int:
        """Return the start of the earliest, in ns; another time where that is earlier, or where none waits."""
        return min([otherwise_ns, *(pause.start_ns for pause in self._pauses)])

    def rest(self) -> list[WatchedPause]:
        """Return all of them, and forget them."""
        pauses, self._pauses = self._pauses, []
        return pauses
