"""Page-cache activity of a run: columns of its trace, in bytes and ns, independent of the kernel's field names."""

import re
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd import TraceError

from wblab.analysis.runs.folios import pages_of, sizes_known
from wblab.analysis.runs.names import EVENTS, disk_names, event_name, field_name
from wblab.analysis.runs.run import Run, Times, own_machine
from wblab.core import rundir
from wblab.core.errors import InputError
from wblab.core.files import open_file
from wblab.core.units import NS_PER_MS

DIRTY_STATE, THROTTLING = "global_dirty_state", "balance_dirty_pages"
COMPLETED, DIRTIED = "block_rq_complete", EVENTS["writeback_dirty_folio"]
_KIB, _SECTOR = 1024, 512
_MINOR_BITS = 20  # include/linux/kdev_t.h

Bytes = NDArray[np.int64]
Names = NDArray[np.object_]


class Columns:
    """Columns of equal length, `ts_ns` first: a dataclass of arrays that can be sliced together."""

    ts_ns: Times

    def __len__(self) -> int:
        return len(self.ts_ns)

    def where(self, rows: NDArray[Any] | slice) -> Self:
        """Return the rows selected by a mask, indices or a slice."""
        return type(self)(**{item.name: getattr(self, item.name)[rows] for item in fields(self)})  # type: ignore[arg-type]

    def reaches(self, start_ns: int, end_ns: int) -> bool:
        """Whether a line through these rows overlaps a span."""
        return bool(len(self)) and bool(self.ts_ns[0] <= end_ns and self.ts_ns[-1] >= start_ns)

    def within(self, start_ns: int, end_ns: int) -> Self:
        """Return the rows of a span, with one row before and one after, so that lines reach its ends."""
        first = max(0, int(np.searchsorted(self.ts_ns, start_ns)) - 1)
        last = int(np.searchsorted(self.ts_ns, end_ns, side="right")) + 1
        return self.where(slice(first, last))


@dataclass(frozen=True)
class DirtyState(Columns):
    """The state of the whole page cache whenever the kernel checked its limits (global_dirty_state).

    Writers are throttled by `dirty` + `writeback`, against `limit`, which follows `threshold`.
    """

    ts_ns: Times
    background: Bytes  # threshold
    threshold: Bytes
    limit: Bytes
    dirty: Bytes
    writeback: Bytes


@dataclass(frozen=True)
class Throttling(Columns):
    """The kernel's decisions on throttling tasks that dirty pages (balance_dirty_pages).

    pause_ns: how long the task must sleep now; at 0 or below it may continue. paused_ns: how long it has slept since
    throttling began. Rates are bytes/s: the task's own limit, and the device's base rate, of which that is a multiple.
    """

    ts_ns: Times
    pid: NDArray[np.int64]
    task: Names
    pause_ns: Times
    paused_ns: Times
    task_rate: Bytes
    base_rate: Bytes
    limit: Bytes
    setpoint: Bytes
    dirty: Bytes
    wb_setpoint: Bytes  # of the device that the task writes to
    wb_dirty: Bytes
    disk: Names  # that the task writes to; empty in a run with one disk


@dataclass(frozen=True)
class Written(Columns):
    """Write requests that a disk completed (block_rq_complete)."""

    ts_ns: Times
    size: Bytes
    disk: Names  # of a run with several; else empty


@dataclass(frozen=True)
class DirtiedPages(Columns):
    """Folios dirtied by a task (writeback_dirty_folio), each of one or more pages.

    A folio becomes dirty as a whole, so its size may be more than the task wrote there.
    """

    ts_ns: Times
    task: Names
    disk: Names  # of a run with several; else empty
    size: Bytes  # 0 if the trace does not show it

    @property
    def has_sizes(self) -> bool:
        """Whether the trace shows the size of each."""
        return bool(np.all(self.size > 0))


@dataclass(frozen=True)
class PageCache:
    """The trace of a run. Columns are read on first use; an event that was not traced gives empty ones.

    disks: their names, by device number; empty if there is only one.
    """

    trace: tracecmd.TraceFile
    load_names: dict[int, str]
    disks: dict[str, str] = field(default_factory=dict)

    @cached_property
    def counts(self) -> dict[str, int]:
        """How often each event occurred, the most frequent first."""
        return dict(sorted(self.trace.counts().items(), key=lambda item: -item[1]))

    @cached_property
    def dirty_state(self) -> DirtyState:
        """The state of the page cache over time."""
        events, page = self._events(DIRTY_STATE), self.trace.info.page_bytes
        if events is None:
            return DirtyState(**_no_rows(DirtyState))
        dirty = _scaled(events, "nr_dirty", page)
        if field_name(events, "nr_unstable") is not None:  # written to a server but not yet to its disk; removed in 5.8
            dirty = dirty + _scaled(events, "nr_unstable", page)
        return DirtyState(
            ts_ns=events.ts_ns,
            background=_scaled(events, "background_thresh", page),
            threshold=_scaled(events, "dirty_thresh", page),
            limit=_scaled(events, "dirty_limit", page),
            dirty=dirty,
            writeback=_scaled(events, "nr_writeback", page),
        )

    @cached_property
    def throttling(self) -> Throttling:
        """The kernel's throttling decisions. The events hold ms, pages and KiB/s."""
        events, page = self._events(THROTTLING), self.trace.info.page_bytes
        if events is None:
            return Throttling(task=_NO_NAMES, disk=_NO_NAMES, **_no_rows(Throttling, "task", "disk"))
        return Throttling(
            ts_ns=events.ts_ns,
            pid=events.pid.astype(np.int64),
            task=self._tasks(events),
            pause_ns=_scaled(events, "pause", NS_PER_MS),
            paused_ns=_scaled(events, "paused", NS_PER_MS),
            task_rate=_scaled(events, "task_ratelimit", _KIB),
            base_rate=_scaled(events, "dirty_ratelimit", _KIB),
            limit=_scaled(events, "limit", page),
            setpoint=_scaled(events, "setpoint", page),
            dirty=_scaled(events, "dirty", page),
            wb_setpoint=_scaled(events, "wb_setpoint", page),
            wb_dirty=_scaled(events, "wb_dirty", page),
            disk=self._disks(events["bdi"] if self.disks else np.full(len(events), "")),
        )

    @cached_property
    def written(self) -> Written:
        """The write requests that disks completed."""
        events = self._events(COMPLETED)
        if events is None:
            return Written(disk=_NO_NAMES, **_no_rows(Written, "disk"))
        number = events["dev"].astype(np.int64)
        names = [f"{device >> _MINOR_BITS}:{device & (1 << _MINOR_BITS) - 1}" for device in number.tolist()]
        done = Written(events.ts_ns, _scaled(events, "nr_sector", _SECTOR), self._disks(np.array(names, object)))
        return done.where(np.array(["W" in flags for flags in events["rwbs"].tolist()], bool))

    @cached_property
    def dirtied(self) -> DirtiedPages:
        """The folios that tasks dirtied."""
        events = self._events(DIRTIED[0])
        if events is None:
            return DirtiedPages(task=_NO_NAMES, disk=_NO_NAMES, **_no_rows(DirtiedPages, "task", "disk"))
        disk = self._disks(events["name"] if self.disks else np.full(len(events), ""))
        size = np.zeros(len(events), np.int64)
        if events.name != DIRTIED[0] or sizes_known(self.trace):  # before folios, the event was of one page
            size = pages_of(self.trace, self.trace.sequence(), events) * self.trace.info.page_bytes
        return DirtiedPages(events.ts_ns, self._tasks(events), disk, size)

    def times_ns(self, name: str) -> Times:
        """Return the times of the events of one type, in ns."""
        events = self._events(name)
        return _NO_ROWS if events is None else events.ts_ns

    def events(self, name: str) -> tracecmd.Events:
        """Return the events of one type. Raises InputError if they were not traced."""
        events = self._events(name)
        if events is None:
            raise InputError(f"{self.trace.path} has no event {name!r}: add it to trace.events")
        return events

    @cached_property
    def lost_ns(self) -> tuple[tuple[int, int], ...]:
        """Spans in which events were lost on any CPU."""
        return tuple((lost.start_ns, lost.end_ns) for lost in self.trace.lost if not lost.buffer)

    def _tasks(self, events: tracecmd.Events) -> Names:
        """Return the tasks' names; a load has its own, even if the kernel's table had lost it by the end."""
        names = events.comm.copy()
        for pid, name in self.load_names.items():
            names[events.pid == pid] = name
        return names

    def _disks(self, devices: NDArray[Any]) -> Names:
        """Return the names of the disks with these device numbers; a BDI is named by its device number, too."""
        return np.array([self.disks.get(device, "") for device in devices.tolist()], object)

    def _events(self, name: str) -> tracecmd.Events | None:
        known = event_name(self.trace, name)
        try:
            return None if known is None else self.trace.events(known)
        except TraceError as error:
            raise InputError(str(error)) from None


_NO_NAMES: Names = np.zeros(0, object)
_NO_ROWS = np.zeros(0, np.int64)


def _no_rows(columns: type[Columns], *others: str) -> dict[str, Any]:
    names = {item.name for item in fields(columns)}  # type: ignore[arg-type]
    return dict.fromkeys(names.difference(others), _NO_ROWS)


def page_cache(run: Run, path: Path | None = None) -> PageCache:
    """Read a run's trace, or another trace of it. Raises InputError if it is missing or damaged."""
    path = path or run.path / rundir.TRACE
    try:
        open_file(path).close()  # refuses a link, which could lead anywhere
        trace = tracecmd.open(path)
        trace.counts()  # reads all pages, so that damage shows here
    except OSError as error:
        hint = "it was lost, or the run failed before it was written"
        if set(run.spec.trace.events) <= set(run.record.get("left_out") or ()):
            hint = _untraced(run)
        raise InputError(f"cannot read {path}: {error.strerror}: {hint}") from None
    except TraceError as error:
        raise InputError(str(error)) from None
    return PageCache(trace, {item.pid: item.name for item in run.loads}, disk_names(run))


def _untraced(run: Run) -> str:
    if not run.spec.trace.events:
        return "its spec requests no events"
    if own_machine(run):
        return "it ran on a machine itself, where a spec's events are not recorded"
    return "the kernel has none of its spec's events"


def _scaled(events: tracecmd.Events, name: str, unit: int) -> Bytes:
    known = field_name(events, name)
    if known is None:
        raise InputError(f"event {events.name!r} of this kernel has no {name!r}: it has {', '.join(events)}")
    values: Bytes = events[known].astype(np.int64) * unit
    return values


# The number of events that the trace of a run lost.

_LOST = re.compile(r"the trace lost (\d{1,18}) events")  # wblab.guest.init, by the kernel's own counters


def events_lost(run: Run) -> int:
    """Return the number of events that a run's trace lost, which makes the run fail; 0 if it did not fail for that."""
    found = _LOST.search(run.failure)
    return int(found[1]) if found else 0


def lost_share(run: Run) -> float:
    """Return the lost share of all events, in per cent. Raises InputError for a damaged trace."""
    lost, kept = events_lost(run), sum(page_cache(run).counts.values())
    return 100 * lost / (lost + kept)
