"""Bytes that a device wrote and read during a run."""

from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from wblab.core.units import NS_PER_S
from wblab.machine.place import Traffic, traffic


@dataclass(frozen=True)
class Measured:
    """A device during a run. busy_s: time with a request in flight.

    written_per_busy_s: its throughput while busy. most_written_per_s: in the best second.
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
        self._samples: list[tuple[int, Traffic]] = []
        self.notes = [] if device else ["no throughput: the directory is not on a block device"]

    def sample(self, now_ns: int, *, at_once: bool = False) -> None:
        """Take a sample if one is due."""
        if self._device and (at_once or not self._samples or now_ns - self._samples[-1][0] >= NS_PER_S):
            self._samples.append((now_ns, traffic(self._device)))

    def to_json(self) -> dict[str, Any] | None:
        """Return the measurements as a JSON object; None without a device."""
        measured = summary(self._samples)
        return asdict(measured) if measured else None


def summary(samples: list[tuple[int, Traffic]]) -> Measured | None:
    """Return the traffic between the first and the last sample; None if there are fewer than two."""
    if len(samples) < 2 or samples[-1][0] <= samples[0][0]:
        return None
    (first_ns, first), (last_ns, last) = samples[0], samples[-1]
    seconds, busy_s = (last_ns - first_ns) / NS_PER_S, (last.busy_ns - first.busy_ns) / NS_PER_S
    written = last.written_bytes - first.written_bytes
    rates = (
        (after.written_bytes - before.written_bytes) * NS_PER_S // (after_ns - before_ns)
        for (before_ns, before), (after_ns, after) in pairwise(samples)
        if after_ns - before_ns >= NS_PER_S // 2
    )
    return Measured(
        seconds=round(seconds, 3),
        read_bytes=last.read_bytes - first.read_bytes,
        written_bytes=written,
        busy_s=round(busy_s, 3),
        written_per_s=int(written / seconds),
        written_per_busy_s=int(written / busy_s) if busy_s else 0,
        most_written_per_s=max(rates, default=0),
    )
