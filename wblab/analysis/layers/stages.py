"""The stages of a request in the block layer: submitted, inserted into the queue, issued to the device, completed."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import tracecmd
from tracecmd.sequence import Sequence

from wblab.analysis.runs.places import NEVER
from wblab.analysis.why.offcpu import Stack
from wblab.analysis.why.recorded import Recorded
from wblab.analysis.why.requests import COMPLETED, INSERTED, ISSUED, Done, submitted

# The time that a call slept in each kernel function and below it: a function tracer's result, for sleep only.
#
# The stack of each sleep lists the functions that were entered and not left. For sleep that equals a function tracer;
# it
# does not show running time. UML has no function tracer, and its code takes no virtual time.

# Stephens's layers: functions with these prefixes, each with all that it calls; nested ones count again.
PREFIXES = {"FS": ("ext2_", "ext4_", "xfs_", "btrfs_", "f2fs_"), "MM": ("generic_",), "block": ("blk_",)}
_SLEEPS = "__schedule"


def asleep_in(recorded: Recorded, pid: int, start_ns: int, end_ns: int) -> list[tuple[Stack, int]]:
    """Return the stacks of all sleeps of a task in a span of time, with their durations in ns."""
    spans = recorded.offcpu
    found = []
    for row in spans.rows(pid, start_ns, end_ns):
        slept_ns = min(int(spans.woken_ns[row]), end_ns) - max(int(spans.ts_ns[row]), start_ns)
        if slept_ns > 0:
            found.append((_entered(recorded.sleep_stack(row)), slept_ns))
    return found


def _entered(stack: Stack) -> Stack:
    """Return a stack without the tracer's own functions."""
    return stack[stack.index(_SLEEPS) :] if _SLEEPS in stack else stack


def inclusive(sleeps: Iterable[tuple[Stack, int]]) -> dict[str, int]:
    """Return for each function how long it, or a function that it called, slept, in ns; the most first."""
    found: Counter[str] = Counter()
    for stack, slept_ns in sleeps:
        for name in dict.fromkeys(stack):
            found[name] += slept_ns
    return dict(found.most_common())


def summed(functions: dict[str, int]) -> dict[str, int]:
    """Return the sums of the functions with each prefix, as Stephens computes them: nested ones count again."""
    return {
        layer: sum(time_ns for name, time_ns in functions.items() if name.startswith(prefixes))
        for layer, prefixes in PREFIXES.items()
    }


def once(sleeps: Iterable[tuple[Stack, int]]) -> dict[str, int]:
    """Return how long at least one function with each prefix was entered: nothing counts again within a layer."""
    listed = list(sleeps)
    return {
        layer: sum(slept_ns for stack, slept_ns in listed if any(name.startswith(prefixes) for name in stack))
        for layer, prefixes in PREFIXES.items()
    }


HELD, QUEUE, BEHIND, DEVICE, FLUSH, COMPLETION = "held", "queue", "behind", "device", "flush", "completion"
NOBODY = -1
_FLUSH_REQUEST = "FF"  # how blk_fill_rwbs() denotes a request that only flushes

Sector = tuple[int, int]  # device, sector
Marks = dict[Sector, list[tuple[int, int]]]  # rank and ns of the events there, in order


@dataclass(frozen=True)
class Way:
    """The times of one request's stages, in ns; None for a stage that it did not pass, or that is unknown.

    begun_ns: when the device began to serve it: until then it served others. flushes: the spans of its device's
    flushes, which count for a request that asked for one.
    """

    handed_ns: int | None
    submitter: int
    inserted_ns: int | None
    issued_ns: int | None
    begun_ns: int | None
    served_ns: int | None
    done_ns: int
    flushes: tuple[tuple[int, int], ...]

    def at(self, ns: int) -> str:
        """Return its stage at a moment not before `handed_ns`."""
        if self.issued_ns is not None and self.served_ns is not None and self.issued_ns <= ns < self.served_ns:
            return BEHIND if self.begun_ns is not None and ns < self.begun_ns else DEVICE
        if any(start <= ns < end for start, end in self.flushes):
            return FLUSH
        if self.inserted_ns is not None and self.issued_ns is not None and self.inserted_ns <= ns < self.issued_ns:
            return QUEUE
        return HELD if ns < self.done_ns else COMPLETION

    def stages(self, start_ns: int, end_ns: int) -> Iterator[tuple[str, int, int]]:
        """Yield the stages in a span of time that begins at `handed_ns` or later, with begin and end in ns."""
        known = (self.inserted_ns, self.issued_ns, self.begun_ns, self.served_ns, self.done_ns)
        edges = {ns for ns in known if ns is not None} | {ns for span in self.flushes for ns in span}
        cuts = [start_ns, *sorted(ns for ns in edges if start_ns < ns < end_ns), end_ns]
        for first, last in pairwise(cuts):
            yield self.at(first), first, last


@dataclass(frozen=True)
class Disks:
    """The requests of disks: `done` of wblab.analysis.why, and when each was inserted and issued, by place."""

    done: Done
    inserted: Marks
    issued: Marks
    submitters: dict[int, int]  # of bios, by their rank
    asks_flush: frozenset[int]  # the ranks of bios that asked for a flush before or after themselves
    flushes: dict[int, tuple[tuple[int, int], ...]]  # by device: issued, done
    depths: Mapping[int, int] = field(default_factory=dict)  # by device: how many requests it serves at once, if known

    def way(self, row: int) -> Way:
        """Return the stages of a row of `done`."""
        done = self.done
        device, sector, end_ns = int(done.device[row]), int(done.sector[row]), int(done.ts_ns[row])
        data = self._data(row)
        if data is None:  # a flush without data
            return Way(None, NOBODY, None, None, None, None, end_ns, self.flushes.get(device, ()))
        first, rank = int(done.first_rank[data]), int(done.rank[data])
        issued = _last(self.issued.get((device, sector), []), rank)
        inserted = _last(self.inserted.get((device, sector), []), issued[0]) if issued else None
        known = first != NEVER
        flushing = row != data or first in self.asks_flush
        return Way(
            handed_ns=int(done.first_ns[data]) if known else None,
            submitter=self.submitters.get(first, NOBODY) if known else NOBODY,
            inserted_ns=inserted[1] if inserted and inserted[0] > (first if known else -1) else None,
            issued_ns=issued[1] if issued else None,
            begun_ns=self._begun_ns(data),
            served_ns=int(done.ts_ns[data]),
            done_ns=end_ns,
            flushes=self.flushes.get(device, ()) if flushing else (),
        )

    def _begun_ns(self, row: int) -> int | None:
        """Return when its device began to serve it; None if at once.

        A device of depth n begins when fewer than n requests that were issued before are still incomplete.
        """
        done, depth = self.done, self.depths.get(int(self.done.device[row]), 0)
        issued_ns, done_ns = int(done.issued_ns[row]), done.ts_ns
        if not depth or issued_ns == NEVER:
            return None
        sooner = (done.issued_ns < issued_ns) | ((done.issued_ns == issued_ns) & (np.arange(len(done_ns)) < row))
        before = done_ns[(done.device == done.device[row]) & sooner & (done_ns > issued_ns) & (done.size > 0)]
        return int(np.sort(before)[-depth]) if len(before) >= depth else None

    def _data(self, row: int) -> int | None:
        """Return the row that completed a request's data: its own or, before its final flush, an earlier one."""
        done = self.done
        if done.size[row]:
            return row
        same = np.flatnonzero((done.device[:row] == done.device[row]) & (done.sector[:row] == done.sector[row]))
        last = int(same[-1]) if len(same) else None
        return last if last is not None and done.size[last] and int(done.first_rank[last]) in self.asks_flush else None


def read_disks(
    trace: tracecmd.TraceFile, sequence: Sequence, done: Done, depths: Mapping[int, int] | None = None
) -> Disks:
    """Read the requests of a trace's disks. depths: how many each disk serves at once, if known."""
    handed = submitted(trace)
    if handed is None:
        return Disks(done, {}, {}, {}, frozenset(), {})
    bios = trace.events(handed)
    ranks = sequence.ranks(bios).tolist()
    return Disks(
        done,
        _marks(trace, sequence, INSERTED),
        _marks(trace, sequence, ISSUED),
        dict(zip(ranks, bios.pid.tolist(), strict=True)),
        frozenset(rank for rank, text in zip(ranks, bios["rwbs"].tolist(), strict=True) if "F" in text),
        _flushes(trace, sequence),
        depths or {},
    )


def _marks(trace: tracecmd.TraceFile, sequence: Sequence, event: str) -> Marks:
    found: Marks = {}
    if event in trace.names:
        events = trace.events(event)
        columns = (events["dev"], events["sector"].astype(np.int64), sequence.ranks(events), events.ts_ns)
        for device, sector, rank, ns, text in zip(*(item.tolist() for item in (*columns, events["rwbs"])), strict=True):
            if text != _FLUSH_REQUEST:
                found.setdefault((device, sector), []).append((rank, ns))
    return found


def _flushes(trace: tracecmd.TraceFile, sequence: Sequence) -> dict[int, tuple[tuple[int, int], ...]]:
    """Return when each device's flushes were issued and completed; a device has one at a time."""
    steps = []
    for event, begins in ((ISSUED, True), (COMPLETED, False)):
        if event in trace.names:
            events = trace.events(event)
            own = events["rwbs"] == _FLUSH_REQUEST
            columns = (sequence.ranks(events)[own], events["dev"][own], events.ts_ns[own])
            steps += [(*each, begins) for each in zip(*(item.tolist() for item in columns), strict=True)]
    found: dict[int, list[tuple[int, int]]] = {}
    open_ns: dict[int, int] = {}
    for _, device, ns, begins in sorted(steps):
        if begins:
            open_ns[device] = ns
        elif device in open_ns:
            found.setdefault(device, []).append((open_ns.pop(device), ns))
    return {device: tuple(spans) for device, spans in found.items()}


def _last(marks: list[tuple[int, int]], rank: int) -> tuple[int, int] | None:
    """Return the last mark before a place in the trace; None if none."""
    at = bisect_left(marks, (rank, 0))
    return marks[at - 1] if at else None
