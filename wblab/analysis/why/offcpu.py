"""Spans in which each task was off the processor, and its wake-ups: from sched_switch and sched_waking."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd.sequence import Sequence

from wblab.analysis.runs.pagecache import Columns

# Kernel stacks of a trace, each distinct one stored once.

STACKS = "kernel_stack"
Stack = tuple[str, ...]  # functions, innermost first


@dataclass(frozen=True)
class Stacks:
    """The stacks of events. known: each distinct one; the first is empty.

    after: the places in the trace of the events with a stack, in order; ids: the index in `known` of each.
    """

    known: tuple[Stack, ...]
    after: NDArray[np.int64]
    ids: NDArray[np.int64]

    def of(self, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the index in `known` for the events at these places: 0, the empty stack, if none was recorded."""
        if not len(self.after):
            return np.zeros(len(ranks), np.int64)
        at = np.minimum(np.searchsorted(self.after, ranks), len(self.after) - 1)
        return np.where(self.after[at] == ranks, self.ids[at], 0)


def read_stacks(trace: tracecmd.TraceFile, sequence: Sequence) -> Stacks:
    """Read the stacks of a trace. Raises TraceError for a damaged one."""
    if STACKS not in trace.names:
        return Stacks(((),), np.zeros(0, np.int64), np.zeros(0, np.int64))
    events, functions = trace.events(STACKS), _symbols(trace.text("kallsyms")).functions
    known: dict[Stack, int] = {(): 0}
    raw: dict[bytes, int] = {}
    ids = []
    for row in events["caller"]:
        key = row.tobytes()
        if key not in raw:
            raw[key] = known.setdefault(functions(row), len(known))
        ids.append(raw[key])
    after = sequence.ranks_before(events)
    order = np.argsort(after, kind="stable")
    return Stacks(tuple(known), after[order], np.array(ids, np.int64)[order])


@lru_cache(maxsize=1)
def _symbols(text: str) -> tracecmd.Symbols:
    """Return what a trace has as its `symbols`: the same for many runs of a kernel, and long to read."""
    return tracecmd.Symbols(text)


SWITCH, WAKING = "sched_switch", "sched_waking"
_ASLEEP = 0xFF  # include/linux/sched.h: TASK_REPORT; a task that is only preempted has 0x100 in traces, or 0
_NOBODY = -1
_OUT, _WAKE, _IN = 0, 1, 2

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class OffCpu(Columns):
    """Spans off the processor, by task and in order of time: a row lasts from `ts_ns` to `on_ns`.

    Until `woken_ns` the task was blocked, from then on runnable; a preempted task was never blocked. `stack` is the
    sleeper's stack, `wake_stack` the waker's, `waker` the waking task, -1 if unknown. `rank` and `wake_rank` are the
    places of both events in the trace, -1 if there is none. Spans are cut at the begin and the end of the trace.
    """

    ts_ns: Numbers
    pid: Numbers
    woken_ns: Numbers
    on_ns: Numbers
    stack: Numbers
    wake_stack: Numbers
    waker: Numbers
    rank: Numbers
    wake_rank: Numbers

    def rows(self, pid: int, start_ns: int, end_ns: int) -> range:
        """Return the rows of a task that overlap a span of time."""
        first, last = np.searchsorted(self.pid, [pid, pid + 1]).tolist()
        return range(
            first + int(np.searchsorted(self.on_ns[first:last], start_ns, side="right")),
            first + int(np.searchsorted(self.ts_ns[first:last], end_ns)),
        )

    def ran(self, start_ns: int, end_ns: int) -> dict[int, int]:
        """Return how long each task ran in a span of time, by pid, in ns, without the idle task."""
        off_ns = np.minimum(self.on_ns, end_ns) - np.maximum(self.ts_ns, start_ns)
        tasks, places = np.unique(self.pid, return_inverse=True)
        on_ns = (end_ns - start_ns) - np.bincount(places, np.maximum(off_ns, 0), len(tasks)).astype(np.int64)
        return {task: time_ns for task, time_ns in zip(tasks.tolist(), on_ns.tolist(), strict=True) if time_ns > 0}


def switched_names(trace: tracecmd.TraceFile) -> dict[int, str]:
    """Return each task's name at its last switch to a processor: the kernel's own table of names is short."""
    if SWITCH not in trace.names:
        return {}
    switches = trace.events(SWITCH)
    _, last = np.unique(switches["next_pid"][::-1], return_index=True)
    switches = switches.only(len(switches) - 1 - last)
    return dict(zip(switches["next_pid"].tolist(), switches["next_comm"].tolist(), strict=True))


def read_offcpu(trace: tracecmd.TraceFile, sequence: Sequence, stacks: Stacks) -> OffCpu:
    """Read the spans of all tasks but the idle one. Raises TraceError for a damaged trace."""
    switches, wakings = (trace.events(name) if name in trace.names else None for name in (SWITCH, WAKING))
    if switches is None:
        return OffCpu(*(np.zeros(0, np.int64) for _ in range(9)))
    at, ts = sequence.ranks(switches), switches.ts_ns
    asleep = (switches["prev_state"].astype(np.int64) & _ASLEEP) != 0
    parts = [
        (switches["prev_pid"], at, ts, np.full(len(at), _OUT), asleep, np.full(len(at), _NOBODY)),
        (switches["next_pid"], at, ts, np.full(len(at), _IN), asleep, np.full(len(at), _NOBODY)),
    ]
    if wakings is not None:
        at = sequence.ranks(wakings)
        no = np.zeros(len(at), bool)
        parts.append((wakings["field_pid"], at, wakings.ts_ns, np.full(len(at), _WAKE), no, wakings.pid))
    pid, rank, ts_ns, what, asleep, waker = (
        np.concatenate(column).astype(np.int64) for column in zip(*parts, strict=True)
    )
    # Some kernels trace a switch from a task to itself: it goes out before it comes in.
    order = np.lexsort((what, rank, pid))
    order = order[pid[order] != 0]
    columns = tuple(column[order] for column in (pid, rank, ts_ns, what, asleep, waker))
    pid, rank, ts_ns, what, asleep, waker = _with_begins(columns, int(ts_ns.min(initial=0)))
    return _spans(pid, rank, ts_ns, what, asleep != 0, waker, stacks)


def _with_begins(columns: tuple[Numbers, ...], start_ns: int) -> tuple[Numbers, ...]:
    """Return sorted events with an added begin for each task that was off the processor when the trace began.

    The added event has no place in the trace and no stack.
    """
    pid, _, _, what, _, _ = columns
    heads = np.flatnonzero(np.append(True, pid[1:] != pid[:-1])) if len(pid) else np.zeros(0, np.int64)
    heads = heads[what[heads] != _OUT]
    begins = (pid[heads], _NOBODY, start_ns, _OUT, 1, _NOBODY)
    return tuple(np.insert(column, heads, value) for column, value in zip(columns, begins, strict=True))


def _spans(  # noqa: PLR0913, PLR0917 - columns
    pid: Numbers,
    rank: Numbers,
    ts_ns: Numbers,
    what: Numbers,
    asleep: NDArray[np.bool_],
    waker: Numbers,
    stacks: Stacks,
) -> OffCpu:
    """Return the spans of events that are sorted by task and place.

    Some kernels do not trace a switch from a processor's idle task. A task that is switched out again without having
    been switched in came in when it was woken, as an idle processor takes a task at once.
    """
    out = np.flatnonzero(what == _OUT)
    count, end_ns = len(what), int(ts_ns.max(initial=0))
    following = np.minimum(out + 1, max(0, count - 1))
    woken = (out + 1 < count) & (pid[following] == pid[out]) & (what[following] == _WAKE) & asleep[out]
    ins = np.append(np.flatnonzero(what == _IN), count)
    back = ins[np.searchsorted(ins, out)]
    inside = np.minimum(back, max(0, count - 1))
    is_back = (back < count) & (pid[inside] == pid[out])
    on_ns = np.where(is_back, ts_ns[inside], end_ns)
    again = np.append(out[1:], count)
    left = np.minimum(again, max(0, count - 1))
    is_untraced = (again < np.minimum(back, count)) & (pid[left] == pid[out])
    on_ns = np.where(is_untraced, ts_ns[np.where(woken, following, left)], on_ns)
    woken_ns = np.where(woken, ts_ns[following], np.where(asleep[out], on_ns, ts_ns[out]))
    return OffCpu(
        ts_ns=ts_ns[out],
        pid=pid[out],
        woken_ns=np.minimum(woken_ns, on_ns),
        on_ns=on_ns,
        stack=np.where(asleep[out] & (rank[out] >= 0), stacks.of(rank[out]), 0),
        wake_stack=np.where(woken, stacks.of(rank[following]), 0),
        waker=np.where(woken, waker[following], _NOBODY),
        rank=rank[out],
        wake_rank=np.where(woken, rank[following], _NOBODY),
    )
