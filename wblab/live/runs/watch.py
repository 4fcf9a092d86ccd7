"""Watch the innocent loads while they run: which pauses have ended, and which of them to save in one capture."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from wblab.core.units import NS_PER_S
from wblab.live.runs.loads import Running

_TOGETHER_NS = 10 * NS_PER_S


@dataclass(frozen=True)
class Pause:
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

    def __init__(self, running: Sequence[Running], bound_ns: int) -> None:
        self.longest: Pause | None = None
        self._loads = [item for item in running if item.load.role == "innocent"]
        self._seen = {item.name: 0 for item in self._loads}
        self._bound_ns = bound_ns

    def look(self) -> list[Pause]:
        """Return the pauses over the threshold that have ended since the last call."""
        found = []
        for item in self._loads:
            times_ns, idle_ns = item.stamps.times_ns(self._seen[item.name]), item.load.idle_ns(1)
            for start_ns, end_ns in pairwise(times_ns):
                pause = Pause(item.name, start_ns, max(start_ns, end_ns - idle_ns))
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
        self._pauses: list[Pause] = []

    def add(self, pauses: Sequence[Pause]) -> None:
        """Add pauses that have ended."""
        self._pauses += pauses

    def due(self, now_ns: int, paused: bool) -> list[Pause]:
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

    def rest(self) -> list[Pause]:
        """Return all of them, and forget them."""
        pauses, self._pauses = self._pauses, []
        return pauses
