"""Each write and sync of another machine's tasks taken apart by layer, as far as its trace has events for that."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import tracecmd
from tracecmd.sequence import Sequence as InOrder

from wblab.analysis.layers.bylayer import CalledTask, LayeredCall, taken_apart
from wblab.analysis.layers.calls import ENTER, EXIT, Name, TracedCall, calls
from wblab.core.errors import InputError
from wblab.foreign.recording import is_recording
from wblab.foreign.traced import Asked, Traced
from wblab.foreign.tracereport import opened

# The calls by the names of their own events; raw_syscalls has numbers, which are read of x86-64 alone.
_CALLS: dict[str, Name] = {
    "write": "write",
    "pwrite64": "write",
    "fsync": "fsync",
    "fdatasync": "fdatasync",
    "sync_file_range": "sync_file_range",
}
_LACKING = {
    "sched_waking": "what a call waited for: record sched:sched_waking, with the stacks of it and of sched_switch",
    "kernel_stack": "what a call waited for: record stacks, with the triggers of the recorder",
    "block_rq_insert": "the time in the disk's queue: record block:block_rq_insert",
    "block_rq_issue": "the time at the device: record block:block_rq_issue",
    "block_rq_complete": "which request ended a wait: record block:block_rq_complete",
    "jbd2_start_commit": "the phases of a commit of ext4's journal: record jbd2",
}


def layered(file: Path, task: str = "") -> tuple[list[LayeredCall], list[str]]:
    """Return the writes and syncs of a trace's tasks, and what it lacks, a line each.

    task: its name or pid; empty: those that slept uninterruptibly for longest. Raises InputError for what is no trace,
    has no system calls, or none of these by such a task.
    """
    with opened(file, Asked((task,) if task else ()), is_kept=is_recording(file)) as traced:
        named = {load.pid: load.name for load in traced.run.loads}
        called = [CalledTask(name, pid, _calls(traced, pid)) for pid, name in named.items()]
        if not any(each.calls for each in called):
            who = ", ".join(named.values())
            raise InputError(f"{file} has no write and no sync of {who}: give --load NAME, or record raw_syscalls")
        found = taken_apart(traced.recorded, called, traced.recorded.start_ns, {})
        return found, list(_lacking(set(traced.recorded.trace.names)))


def _calls(traced: Traced, pid: int) -> Sequence[TracedCall]:
    """Return the writes and syncs of a task that began and ended while it was traced."""
    trace, sequence = traced.recorded.trace, traced.recorded.sequence
    own = [call for event, name in _CALLS.items() for call in _paired(trace, sequence, event, name, pid)]
    if own or not {ENTER, EXIT} <= set(trace.names) or "x86_64" not in trace.info.uname.split():
        return sorted(own, key=lambda call: call.start_ns)
    return calls(trace, sequence, next(load for load in traced.run.loads if load.pid == pid))


def _paired(trace: tracecmd.TraceFile, sequence: InOrder, event: str, name: Name, pid: int) -> Iterator[TracedCall]:
    """Yield a task's calls of which both ends are there: each enter with the next exit, before the next enter."""
    if not {f"{ENTER}_{event}", f"{EXIT}_{event}"} <= set(trace.names):
        return
    enter, leave = (_of(trace.events(f"{side}_{event}"), sequence, pid) for side in (ENTER, EXIT))
    ranks = [rank for rank, _ in leave]
    for number, (rank, start_ns) in enumerate(enter):
        at = bisect_left(ranks, rank)
        is_next = number + 1 == len(enter) or (at < len(ranks) and ranks[at] < enter[number + 1][0])
        if at < len(leave) and is_next:
            yield TracedCall(number, name, start_ns, leave[at][1])


def _of(events: tracecmd.Events, sequence: InOrder, pid: int) -> list[tuple[int, int]]:
    """Return the places in the trace and the times of a task's events."""
    own = np.flatnonzero(events.pid == pid)
    return sorted(zip(sequence.ranks(events)[own].tolist(), events.ts_ns[own].tolist(), strict=True))


def _lacking(names: set[str]) -> Iterator[str]:
    for event, what in _LACKING.items():
        if event not in names:
            yield f"not in it: {what}"
