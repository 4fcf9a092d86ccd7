"""A run of a case, as columns: the input of a check."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wblab.analysis.runs.pagecache import DirtyState, Throttling, page_cache
from wblab.analysis.runs.pauses import LoadPauses, load_pauses
from wblab.analysis.runs.run import LoadCycles, Run, Times
from wblab.core.units import NS_PER_S

_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Calls:
    """The openat calls of all tasks, one row each. `traced` is False where the kernel has no events for them."""

    pid: NDArray[np.int64] = field(default_factory=lambda: _NONE)
    starts_ns: Times = field(default_factory=lambda: _NONE)
    ends_ns: Times = field(default_factory=lambda: _NONE)
    traced: bool = False


@dataclass(frozen=True)
class Traced:
    """The parts of a trace that claims use. released_ns: when an inode's writeback ended (sb_clear_inode_writeback)."""

    state: DirtyState
    throttling: Throttling
    opens: Calls = field(default_factory=Calls)
    released_ns: Times = field(default_factory=lambda: _NONE)


@dataclass(frozen=True)
class Sample:
    """One run."""

    run: Run

    @cached_property
    def traced(self) -> Traced:
        """The run's trace, read when first used. Raises InputError if it is missing or damaged."""
        return read_traced(self.run)

    def seconds(self, time_ns: float) -> float:
        """Return a time of the guest's clock in s since the loads started."""
        return float(time_ns - self.run.zero_ns) / NS_PER_S

    def figures(self, name: str) -> LoadPauses:
        """Return the figures of a load."""
        return load_pauses(self.run.load(name), self.run.zero_ns)

    def longest_s(self, *names: str) -> float:
        """Return the longest pause of these loads, in s."""
        return max(self.figures(name).longest_pause_s for name in names)

    def decisions(self, item: LoadCycles) -> Throttling:
        """Return the kernel's throttling decisions on one load."""
        return self.traced.throttling.where(self.traced.throttling.pid == item.pid)


@dataclass(frozen=True)
class Stop:
    """One pause of a load, from the start of its cycle to its end, in ns of the guest's clock."""

    item: LoadCycles
    start_ns: int
    end_ns: int

    @property
    def duration_ns(self) -> int:
        """Its length in ns."""
        return self.end_ns - self.start_ns


def stops(sample: Sample, names: Sequence[str], over_ns: int) -> list[Stop]:
    """Return the pauses of these loads longer than a threshold in ns."""
    return [
        Stop(item, int(item.starts_ns[i]), int(item.starts_ns[i] + item.pauses_ns[i]))
        for item in map(sample.run.load, names)
        for i in np.flatnonzero(item.pauses_ns > over_ns).tolist()
    ]


def is_throttled(sample: Sample, stop: Stop) -> bool:
    """Return whether the kernel throttled the load during this pause."""
    own = sample.decisions(stop.item)
    inside = (own.ts_ns >= stop.start_ns) & (own.ts_ns <= stop.end_ns)
    return bool((inside & (own.pause_ns > 0)).any())


def in_open_ns(sample: Sample, stop: Stop) -> int:
    """Return how much of this pause the load spent in openat, in ns."""
    calls = sample.traced.opens
    own = (calls.pid == stop.item.pid) & (calls.starts_ns < stop.end_ns) & (calls.ends_ns > stop.start_ns)
    starts, ends = np.maximum(calls.starts_ns[own], stop.start_ns), np.minimum(calls.ends_ns[own], stop.end_ns)
    return int((ends - starts).sum())


def read_traced(run: Run) -> Traced:
    """Return the columns of a run's trace. Raises InputError if its trace is missing or damaged."""
    cache = page_cache(run)
    known = {key.partition(":")[2] for key in cache.trace.formats}
    opens = Calls()
    if {"sys_enter_openat", "sys_exit_openat"} <= known:
        enter, leave = cache.trace.events("sys_enter_openat"), cache.trace.events("sys_exit_openat")
        opens = pair_calls((enter.pid, enter.ts_ns), (leave.pid, leave.ts_ns))
    return Traced(cache.dirty_state, cache.throttling, opens, cache.times_ns("sb_clear_inode_writeback"))


Marks = tuple[NDArray[np.signedinteger[Any]], Times]  # task and time of events


def pair_calls(enter: Marks, leave: Marks) -> Calls:
    """Pair each start of a call with the next end of its task; a start without an end is left out."""
    rows: list[tuple[int, int, int]] = []
    for pid in np.unique(enter[0]).tolist():
        starts, ends = enter[1][enter[0] == pid], leave[1][leave[0] == pid]
        after = np.searchsorted(ends, starts)
        rows += [(pid, int(start), int(ends[i])) for start, i in zip(starts, after, strict=True) if i < len(ends)]
    columns = np.array(sorted(rows, key=lambda row: row[1]), np.int64).reshape(-1, 3)
    return Calls(columns[:, 0], columns[:, 1], columns[:, 2], traced=True)
