"""The raw measurement of a disk: requests with their times."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

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
class Measured:
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


def from_json(table: dict[str, Any]) -> Measured:
    """Return the measurement from what `to_json` returned."""
    steps = (Step(row[0], row[1], tuple(row[2]), row[3], row[4], row[5]) for row in table["steps"])
    return Measured(tuple(steps), table["call_ns"])


def quantile(values: Sequence[int], share: float) -> int:
    """Return the value that this share of the values does not exceed."""
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]
