"""The last seconds of samples in words: a sentence on who is stopped now, and lines for a terminal.

The sentence says what the samples show, and of all that were seen the longest wait. They do not show who holds up a
wait: the sentence says what does.
"""

from collections import Counter, deque
from collections.abc import Callable

from wblab.core.units import NS_PER_S
from wblab.live.monitor.probe import NAME as PROBE
from wblab.live.monitor.samples import (
    Batch,
    CacheState,
    Pressure,
    SampleSource,
    Throttled,
    Waited,
    Worked,
    WrittenSample,
)
from wblab.report.quantities import duration, enumerated, percent, quantity, size

SPAN_NS = 3 * NS_PER_S
_LONG_NS = 300_000_000  # a shorter wait is noticed by nobody
_MUCH = 0.1  # of the span
_HISTORY_NS, _MOST_OF = 60 * NS_PER_S, 0.5
_MOST_NAMES = 3
_WORKERS = ("kworker", "jbd2")
_WHO = "Who held it, samples do not show: wblab why of a capture does."


class Told:
    """What the last seconds of samples say."""

    def __init__(self) -> None:
        self._source: SampleSource | None = None
        self._batches: deque[Batch] = deque()
        self._state: CacheState | None = None
        self._waits = 0
        self._longest: Waited | None = None  # of all waits that were long
        self._history: deque[WrittenSample] = deque()
        self._writers: tuple[WrittenSample, ...] = ()
        self._disks: tuple[Worked, ...] = ()

    def begin(self, source: SampleSource) -> None:
        """Note where samples come from."""
        self._source = source

    def add(self, batch: Batch) -> None:
        """Note a batch, and forget what is older than the span."""
        self._batches.append(batch)
        while batch.now_ns - self._batches[0].now_ns > SPAN_NS:
            self._batches.popleft()
        self._state = batch.states[-1] if batch.states else self._state
        self._waits += len(batch.waits)
        for wait in batch.waits:
            if _lasted_ns(wait) > max(_LONG_NS, _lasted_ns(self._longest) if self._longest else 0):
                self._longest = wait
        self._history.extend(batch.writers)
        while self._history and batch.now_ns - self._history[0].at_ns > _HISTORY_NS:
            self._history.popleft()
        self._writers, self._disks = batch.writers or self._writers, batch.disks or self._disks

    def sentence(self) -> str:
        """Say who is stopped now, by what as far as the samples show it, who writes most, and the longest wait seen."""
        waiting = self._waiting()
        found = [*self._throttling(), *waiting]
        if not found and (share := self._pressure().get("some", 0.0)) >= _MUCH:
            found = [f"In {percent(share)} of the last 3 s some task waited for I/O: for what, and which, is unknown."]
        if found:
            return " ".join([*found, *self._most(), *([_WHO] if waiting else []), *self._before()])
        if self._source and self._source.untraced and not self._waits:
            return "Whether a writer is stopped is unknown: there are no kernel events, and no --dir to try."
        return " ".join(["Nobody is seen to be stopped now.", *self._before()])

    def lines(self) -> list[str]:
        """Return lines for a terminal: the sentence, the page cache, who is throttled, who writes, disks, pressure."""
        pressure = self._pressure()
        some = ", ".join(f"{what} {percent(share)}" for what, share in pressure.items())
        return [
            f"now       {self.sentence()}",
            f"dirty     {self._cache()}",
            f"throttled {self._table(self._throttled(), lambda time_ns: f'{duration(time_ns)} of 3 s') or 'nobody'}",
            f"writers   {self._table(self._written(), lambda rate: quantity(rate, 'bytes/s')) or 'none seen'}",
            f"disks     {', '.join(map(_disk, self._disks)) or 'idle'}; I/O pressure: {some or 'not shown here'}",
        ]

    def _recent(self, rows: str) -> list[Throttled | Pressure | Waited]:
        return [row for batch in self._batches for row in getattr(batch, rows)]

    def _throttled(self) -> dict[str, int]:
        found: Counter[str] = Counter()
        for row in self._recent("throttled"):
            if isinstance(row, Throttled):
                found[_on(row.task, row.disk)] += row.pause_ns
        return dict(found.most_common())

    def _throttling(self) -> list[str]:
        slowed = {name: time_ns for name, time_ns in self._throttled().items() if time_ns > _MUCH * SPAN_NS}
        if not slowed:
            return []
        return [f"The kernel slows {enumerated(list(slowed)[:_MOST_NAMES])}: dirty memory is near a limit."]

    def _waiting(self) -> list[str]:
        longest: dict[str, Waited] = {}
        for row in self._recent("waits"):
            if isinstance(row, Waited) and (
                row.name not in longest or _lasted_ns(row) >= _lasted_ns(longest[row.name])
            ):
                longest[row.name] = row
        found = []
        for wait in longest.values():
            if (lasted_ns := _lasted_ns(wait)) > _LONG_NS:
                did = "was stopped" if wait.over else "has been stopped"
                who = _who(wait).capitalize() if wait.name == PROBE else wait.name
                found.append(f"{who} {did} for {duration(lasted_ns)}.")
        return found

    def _before(self) -> list[str]:
        """Name the longest wait seen, if it is not one of the last seconds, which are named already."""
        wait, now_ns = self._longest, self._batches[-1].now_ns if self._batches else 0
        if wait is None or now_ns - wait.at_ns <= SPAN_NS:
            return []
        ago = duration(round(now_ns - wait.at_ns, -9))
        return [f"The longest seen: {_who(wait)} was stopped for {duration(_lasted_ns(wait))}, {ago} ago."]

    def _written(self) -> dict[str, float]:
        return {_on(row.task, row.disk): row.written * NS_PER_S / row.span_ns for row in self._writers if row.span_ns}

    def _most(self) -> list[str]:
        """Name who wrote most of what the disks may still have to write, if that is known."""
        sums: Counter[str] = Counter()
        for row in self._history:
            if not row.task.startswith(_WORKERS):  # they write for others
                sums[_on(row.task, row.disk)] += row.written
        left = self._state.dirty + self._state.writeback if self._state else 0
        name, most = next(iter(sums.most_common(1)), ("", 0))
        if most < max(_MOST_OF * sums.total(), _MOST_OF * left, 1):
            return ["Whose data the disks are writing is unknown."]
        return [f"In the last minute {name} wrote most: {size(most)} of the {size(sums.total())} seen."]

    def _pressure(self) -> dict[str, float]:
        rows = [row for row in self._recent("pressures") if isinstance(row, Pressure)]
        if not (span_ns := sum(row.span_ns for row in rows)):
            return {}
        return {"some": sum(row.some_ns for row in rows) / span_ns, "full": sum(row.full_ns for row in rows) / span_ns}

    def _cache(self) -> str:
        if (state := self._state) is None:
            return "unknown"
        # hard_dirty_limit() in mm/page-writeback.c; the limit of events is only renewed while somebody is slowed.
        limit = f"limit {size(max(state.threshold, state.limit or 0))}"
        shown = f"{size(state.dirty)} dirty, {size(state.writeback)} under writeback"
        return f"{shown}; background {size(state.background)}, {limit}"

    @staticmethod
    def _table(found: dict[str, int] | dict[str, float], text: Callable[[float], str]) -> str:
        return ", ".join(f"{name} {text(value)}" for name, value in list(found.items())[:_MOST_NAMES])


def _on(task: str, disk: str) -> str:
    return f"{task} (to {disk})" if disk else task


def _who(wait: Waited) -> str:
    return "a small write" if wait.name == PROBE else wait.name


def _lasted_ns(wait: Waited) -> int:
    return wait.at_ns - wait.start_ns


def _disk(row: Worked) -> str:
    rate = quantity(row.written * NS_PER_S / max(1, row.span_ns), "bytes/s")
    return f"{row.disk} {rate}" + (f", {percent(min(1.0, row.busy_ns / row.span_ns))} busy" if row.busy_ns else "")
