"""All events of a buffer in time order, whatever their types."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tracecmd.buffers import Walked
from tracecmd.events import Events


@dataclass(frozen=True)
class Described:
    """One event in words: ts_ns on the trace's clock, the task running on its CPU, and its own fields."""

    ts_ns: int
    cpu: int
    comm: str
    pid: int
    name: str
    fields: dict[str, str]

    def __str__(self) -> str:
        """Return the event as a line."""
        fields = " ".join(f"{name}={value}".strip() for name, value in self.fields.items())
        return f"{self.ts_ns / 1e9:.9f} CPU{self.cpu} {self.comm}-{self.pid} {self.name}: {fields}"


@dataclass(frozen=True)
class Sequence:
    """The events of a buffer in time order; simultaneous ones by CPU, then as recorded.

    `order` has each event's index in the decoded buffer, which is sorted by CPU.
    """

    walked: Walked
    order: NDArray[np.int64]
    events_of: Callable[[int], Events]  # events of a type, by its number

    @property
    def ts_ns(self) -> NDArray[np.int64]:
        """When each occurred."""
        return self.walked.ts_ns[self.order]

    @property
    def types(self) -> NDArray[np.int64]:
        """The type of each, as a number."""
        types = np.zeros(len(self.order), np.int64)
        for number, where in self.walked.by_type.items():
            types[where] = number
        return types[self.order]

    def __len__(self) -> int:
        return len(self.order)

    @cached_property
    def _rank_of(self) -> NDArray[np.int64]:
        ranks = np.empty(len(self.order), np.int64)
        ranks[self.order] = np.arange(len(self.order))
        return ranks

    def ranks(self, events: Events) -> NDArray[np.int64]:
        """Return the rank in the sequence of each of some events of this buffer."""
        return self._rank_of[self._entries(events)]

    def ranks_before(self, events: Events) -> NDArray[np.int64]:
        """Return the rank of the event recorded just before each one on its CPU; -1 if there is none.

        A stack follows the event that it belongs to.
        """
        entries = self._entries(events)
        first = entries == 0
        before = np.where(first, 0, entries - 1)
        other = self.walked.cpu[before] != self.walked.cpu[entries]
        return np.where(first | other, -1, self._rank_of[before])

    def _entries(self, events: Events) -> NDArray[np.int64]:
        return np.searchsorted(self.walked.entries.places, events.places)

    def record(self, index: int) -> bytes:
        """Return an event's bytes as recorded, including the common fields."""
        at = self.order[index]
        start = 4 * int(self.walked.entries.places[at])
        return self.walked.data[start : start + int(self.walked.entries.sizes[at])].tobytes()

    def described(self, index: int) -> Described:
        """Return an event in words."""
        at = int(self.order[index])
        number = next(number for number, where in self.walked.by_type.items() if at in where)
        events = self.events_of(number)
        event = events.only(np.flatnonzero(events.places == self.walked.entries.places[at]))
        fields = {item.name: str(event.field(item.name)[0]) for item in event.format.fields}
        return Described(int(event.ts_ns[0]), int(event.cpu[0]), event.comm[0], int(event.pid[0]), event.name, fields)

    def text(self, index: int) -> str:
        """Return an event as a line: its time in s, CPU, task, name and fields."""
        return str(self.described(index))


def in_order(walked: Walked, events_of: Callable[[int], Events]) -> Sequence:
    """Return a decoded buffer as one sequence."""
    return Sequence(walked, np.lexsort((walked.cpu, walked.ts_ns)), events_of)
