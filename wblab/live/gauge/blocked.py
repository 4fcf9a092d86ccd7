"""Tasks that are blocked, by the kind of their wait, from looks at all tasks that come at intervals."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from wblab.analysis.why.kinds import KINDS
from wblab.analysis.why.onestack import UNKNOWN, wait_in
from wblab.live.gauge.catalogue import BLOCKED, BLOCKED_TIME, LONGEST, LOOK_APART
from wblab.live.gauge.counts import Counts
from wblab.machine.tasks import Asleep

OF = ("program", "kernel")
_COUNTED = ("waits", "stopped")  # natures of kinds: not the idle, nor who means to sleep
KIND_NAMES = (*dict.fromkeys(kind.name for kind in KINDS if kind.nature in _COUNTED), UNKNOWN)

# Looks take at most this part of a processor: 0.3 % while tasks wait for I/O, else 0.1 %.
_TIMES_COST = {True: 333, False: 1000}


@dataclass(frozen=True)
class _Sleep:
    number: int
    since_ns: int
    of: str
    kind: str  # empty: not counted


class Blocked:
    """Counts the tasks of one machine. A sleep that two looks see is long; a disk's usual work is shorter."""

    def __init__(self, counts: Counts, stack_of: Callable[[int], list[str]]) -> None:
        self._counts, self._stack_of = counts, stack_of
        self._sleeps: dict[int, _Sleep] = {}
        self._looked_ns: int | None = None
        for of in OF:
            counts.begin(LONGEST, of)
            for kind in KIND_NAMES:
                for metric in (BLOCKED, BLOCKED_TIME):
                    counts.begin(metric, of, kind)
        counts.begin(LOOK_APART)

    def look(self, now_ns: int, tasks: Iterable[Asleep]) -> None:
        """Count the tasks in state D now."""
        before, apart_ns = self._sleeps, 0 if self._looked_ns is None else now_ns - self._looked_ns
        self._sleeps = {task.tid: self._sleep(task, now_ns) for task in tasks}
        self._counts.clear(BLOCKED)
        self._counts.clear(LONGEST)
        longest_ns = dict.fromkeys(OF, 0)
        for tid, sleep in self._sleeps.items():
            if sleep.kind:
                self._counts.add(BLOCKED, 1, sleep.of, sleep.kind)
                if before.get(tid) == sleep:
                    self._counts.add(BLOCKED_TIME, apart_ns, sleep.of, sleep.kind)
                longest_ns[sleep.of] = max(longest_ns[sleep.of], now_ns - sleep.since_ns)
        for of, lasted_ns in longest_ns.items():
            self._counts.put(LONGEST, lasted_ns, of)
        self._counts.put(LOOK_APART, apart_ns)
        self._looked_ns = now_ns

    def _sleep(self, task: Asleep, now_ns: int) -> _Sleep:
        """Return a task's sleep: the one that we know already, whose stack is not read again, or a new one."""
        known = self._sleeps.get(task.tid)
        if known and known.number == task.sleep:
            return known
        wait = wait_in(names) if (names := self._stack_of(task.tid)) else None
        kind = UNKNOWN if wait is None else wait.kind if wait.nature in _COUNTED else ""
        return _Sleep(task.sleep, now_ns, OF[task.is_kernel], kind)


class Due:
    """When to look again: each second, but so rarely that all looks together cost little, however many tasks."""

    def __init__(self) -> None:
        self._next_ns = {True: 0, False: 0}

    def is_now(self, now_ns: int, *, is_pressed: bool) -> bool:
        """Whether a look is due. is_pressed: tasks waited for I/O in the last second."""
        return now_ns >= self._next_ns[is_pressed]

    def looked(self, now_ns: int, cost_ns: int) -> None:
        """Note a look and the processor time that it took."""
        self._next_ns = {is_pressed: now_ns + cost_ns * times for is_pressed, times in _TIMES_COST.items()}
