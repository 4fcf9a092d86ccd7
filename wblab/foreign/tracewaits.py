"""A trace.dat of any machine: what its tasks slept for, by the stacks of sched_switch, as far as it has them."""

from collections import Counter
from collections.abc import Sequence as Many
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd import TraceError
from tracecmd.sequence import Sequence

from wblab.analysis.why.offcpu import SWITCH, OffCpu, Stacks, read_offcpu, read_stacks, switched_names
from wblab.core.errors import InputError
from wblab.foreign.judge import Wait, wait_of
from wblab.foreign.stacklines import Frame
from wblab.foreign.stacks import Task

MOST_BYTES = 4 << 30  # of an unpacked trace
_UNINTERRUPTIBLE = 2  # include/linux/sched.h: TASK_UNINTERRUPTIBLE, D
_NO_LOAD = 0x80  # TASK_IDLE is D with TASK_NOLOAD: a kernel thread without work; 0x80 as traces report it
_MOST_TASKS = 12


@dataclass(frozen=True)
class Slept:
    """A task and what it slept for. waits_ns: by what it waited for; longest: the longest single sleep in D, in ns."""

    comm: str
    pid: int
    blocked_ns: int
    longest_ns: int
    longest_at_ns: int
    waits_ns: tuple[tuple[Wait, int], ...]


@dataclass(frozen=True)
class TraceWaits:
    """What a trace says of sleeps: the tasks that slept longest in D, or those that were asked for."""

    slept: tuple[Slept, ...]
    span_ns: int
    has_stacks: bool


def read_waits(path: Path, tasks: Many[str] = ()) -> TraceWaits:
    """Read a trace. tasks: comms or pids; by default those that slept longest. Raises InputError."""
    try:
        with tracecmd.open(path, MOST_BYTES) as trace:
            return _read(trace, tasks)
    except (TraceError, OSError) as error:
        raise InputError(f"cannot read the trace {path.name!r}: {error}") from None


def _read(trace: tracecmd.TraceFile, tasks: Many[str]) -> TraceWaits:
    if SWITCH not in trace.names:
        raise InputError("the trace has no sched_switch, so it does not say who slept: record it with -e sched_switch")
    sequence = trace.sequence()
    stacks = read_stacks(trace, sequence)
    offcpu = read_offcpu(trace, sequence, stacks)
    names = switched_names(trace) | trace.comms
    begin_ns, end_ns = int(offcpu.ts_ns.min(initial=0)), int(offcpu.on_ns.max(initial=0))
    is_blocked = _blocked(trace, sequence, offcpu)
    blocked_ns = np.where(is_blocked, offcpu.woken_ns - offcpu.ts_ns, 0)
    pids, places = np.unique(offcpu.pid, return_inverse=True)
    sums = np.bincount(places, blocked_ns, len(pids)).astype(np.int64)
    wanted = [pid for pid in pids.tolist() if not tasks or str(pid) in tasks or names.get(pid, "") in tasks]
    by_pid = dict(zip(pids.tolist(), sums.tolist(), strict=True))
    longest = sorted((pid for pid in wanted if by_pid[pid]), key=lambda pid: -by_pid[pid])[:_MOST_TASKS]
    slept = tuple(_slept(pid, names.get(pid, ""), offcpu, blocked_ns, stacks, begin_ns) for pid in longest)
    return TraceWaits(slept, end_ns - begin_ns, len(stacks.after) > 0)


def _blocked(trace: tracecmd.TraceFile, sequence: Sequence, offcpu: OffCpu) -> NDArray[np.bool_]:
    """Return which spans off the processor were in D."""
    switches = trace.events(SWITCH)
    ranks, states = sequence.ranks(switches), switches["prev_state"].astype(np.int64)
    order = np.argsort(ranks)
    at = np.minimum(np.searchsorted(ranks[order], offcpu.rank), max(len(ranks) - 1, 0))
    found = states[order][at] & _UNINTERRUPTIBLE != 0
    idle = states[order][at] & _NO_LOAD != 0
    return np.asarray((offcpu.rank >= 0) & found & ~idle, np.bool_)


def _slept(  # noqa: PLR0913, PLR0917 - columns
    pid: int, comm: str, offcpu: OffCpu, blocked_ns: NDArray[np.int64], stacks: Stacks, begin_ns: int
) -> Slept:
    first, last = np.searchsorted(offcpu.pid, [pid, pid + 1]).tolist()
    sums: Counter[Wait] = Counter()
    for row in (first + np.flatnonzero(blocked_ns[first:last])).tolist():
        frames = tuple(Frame(name) for name in stacks.known[int(offcpu.stack[row])])
        sums[wait_of(Task(comm, pid, "D", frames, "bare", 0))] += int(blocked_ns[row])
    most = first + int(np.argmax(blocked_ns[first:last]))
    longest_ns, at_ns = int(blocked_ns[most]), int(offcpu.ts_ns[most]) - begin_ns
    return Slept(comm, pid, sum(sums.values()), longest_ns, at_ns, tuple(sums.most_common()))
