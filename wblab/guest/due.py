"""Actions at given times of a run, which may move while it runs."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Due:
    """An action and its time, in ns of CLOCK_MONOTONIC, as it is now."""

    time_ns: Callable[[], int]
    act: Callable[[], None]


@dataclass(frozen=True)
class Deadline:
    """When a wait ends at the latest, in ns of CLOCK_MONOTONIC; and whether that is no failure; both as they are."""

    time_ns: Callable[[], int]
    is_cut: Callable[[], bool] = lambda: False


@dataclass
class Agenda:
    """Actions that are still to come; of those due at the same time, the one that was added first comes first."""

    due: list[Due] = field(default_factory=list)

    def next_ns(self) -> int | None:
        """Return when the next action is due, in ns of CLOCK_MONOTONIC; None if none is left."""
        return min((each.time_ns() for each in self.due), default=None)

    def act(self) -> None:
        """Do what is due by now; what has been done is removed."""
        while (next_ns := self.next_ns()) is not None and next_ns <= time.monotonic_ns():
            first = next(each for each in self.due if each.time_ns() == next_ns)
            self.due.remove(first)
            first.act()
