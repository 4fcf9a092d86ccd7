"""A trace of any machine, read as a run: its tasks are the loads, and their system calls the cycles.

So what explains and draws the lab's own runs explains it too. A task has no measurements of its own there: how long it
stalled is how long a system call took, or without events of calls how long it slept uninterruptibly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd import TraceError
from tracecmd.sequence import Sequence as InOrder

from wblab.analysis.runs.pagecache import PageCache
from wblab.analysis.runs.places import NEVER
from wblab.analysis.runs.run import LoadCycles, Run
from wblab.analysis.why.account import ASLEEP, account
from wblab.analysis.why.explain import explain
from wblab.analysis.why.explanations import Explained
from wblab.analysis.why.offcpu import SWITCH, OffCpu
from wblab.analysis.why.recorded import Recorded, recorded_of
from wblab.core.errors import InputError
from wblab.core.files import open_file
from wblab.core.loads import Load
from wblab.core.units import NS_PER_S, Bytes
from wblab.foreign.recording import Recording, in_member
from wblab.lab.printable import printable
from wblab.lab.specfile import HostDisk, LiveSpec

Numbers = NDArray[np.int64]
_UNINTERRUPTIBLE = 2  # include/linux/sched.h: TASK_UNINTERRUPTIBLE; TASK_KILLABLE has it too
_MOST_TASKS = 5  # that are chosen by themselves
_SHORT_NS = 1_000_000  # calls below are not told apart from what is between them
_ENTER, _EXIT = "sys_enter", "sys_exit"


@dataclass(frozen=True, kw_only=True)
class Task(Load):
    """A task of a machine. Each of its long system calls is a cycle, and what lies between two is another one."""

    kind = "task"

    @property
    def description(self) -> str:
        """What it is."""
        return "a program of that machine"

    def idle_ns(self, number: int) -> int:
        """Return 0: nobody knows what it meant to sleep. `Calls` counts what is between calls as meant."""
        return 0


@dataclass(frozen=True)
class Calls(LoadCycles):
    """The calls of a task; the cycles between two of them have no pause."""

    is_call: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))

    @cached_property
    def idle_ns(self) -> Numbers:
        """All of what lies between calls."""
        return np.where(self.is_call, 0, self.durations_ns)


@dataclass(frozen=True)
class Traced:
    """A trace as a run, with what explains it."""

    run: Run
    recorded: Recorded
    cache: PageCache

    def explanations(self, bound_ns: int) -> list[Explained]:
        """Explain each call over a bound, in the order of time."""
        return [Explained(each, self.recorded) for each in explain(self.run, self.recorded, "", bound_ns)]


@dataclass(frozen=True)
class Asked:
    """What of a trace is asked for. tasks: names or pids; none: those that slept uninterruptibly for longest.

    start_ns, end_ns: since the trace's begin; None: from its begin, to its end.
    """

    tasks: Sequence[str] = ()
    start_ns: int | None = None
    end_ns: int | None = None


def read_traced(path: Path, asked: Asked, recording: Recording | None = None) -> Traced:
    """Read a trace.dat. Raises InputError. recording: the user's file, if the trace is out of that."""
    name = recording.path if recording else path
    try:
        open_file(path).close()
        trace = tracecmd.open(path)
        trace.counts()  # reads all pages, so that damage shows here
        if SWITCH not in trace.names:
            has = ", ".join(sorted(trace.names)[:6]) or "no events"
            raise InputError(f"{name} has no event {SWITCH}, so nobody can say who slept: it has {has}")
        if not trace.info.clock_is_ns:
            raise InputError(f"{name} has the clock {trace.info.clock!r}, which does not count ns: record it with mono")
        found = _traced(name, trace, asked, recording.devices if recording else {})
        return replace(found, recorded=replace(found.recorded, groups=recording.groups)) if recording else found
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror}") from None
    except TraceError as error:
        raise InputError(f"{name}: {in_member(error, path) if recording else error}") from None


def _traced(path: Path, trace: tracecmd.TraceFile, asked: Asked, devices: dict[str, str]) -> Traced:
    cache = PageCache(trace, {}, devices)
    recorded = recorded_of(cache)
    times_ns = recorded.sequence.ts_ns
    if not len(times_ns):
        raise InputError(f"{path} has no events")
    first_ns, last_ns = int(times_ns[0]), int(times_ns[-1])
    span = _span(path, asked, first_ns, last_ns)
    rows, slept_ns = _uninterruptible(recorded, span)
    programs = _programs(recorded, rows, slept_ns)
    names = _chosen(recorded, asked, programs) if asked.tasks else _longest(recorded, programs)
    if not names:
        told = (
            f"no task {' or '.join(map(repr, asked.tasks))}" if asked.tasks else "no program that slept uninterruptibly"
        )
        raise InputError(f"{path} has {told}: {_tasks_words(recorded, programs)}")
    keyed = {recorded.tasks.lives.key(pid, NEVER): name for pid, name in names.items()}
    tasks = replace(recorded.tasks, names={**recorded.tasks.names, **keyed}, loads=keyed)
    recorded = replace(recorded, tasks=tasks, start_ns=first_ns, end_ns=last_ns)
    calls, slept = _calls(trace, recorded.sequence, set(names)), _slept(recorded, set(names), rows)
    loads = tuple(
        _load(pid, name, [*(each for each in calls[pid] if not _is_meant(recorded, pid, *each)), *slept[pid]], span)
        for pid, name in names.items()
    )
    spec = LiveSpec(
        name=path.name,
        memory=Bytes(0),
        disk=HostDisk(filesystem="unknown"),
        load={item.name: item.load for item in loads},
    )
    live = {"device_names": devices}
    record = {"kind": "live", "outcome": "succeeded", "kernel": {"release": printable(trace.info.uname)}, "live": live}
    run = Run(path, record, spec, loads)
    return Traced(run, recorded, cache)


def _span(path: Path, asked: Asked, first_ns: int, last_ns: int) -> tuple[int, int]:
    start_ns = first_ns + (asked.start_ns or 0)
    end_ns = last_ns if asked.end_ns is None else min(last_ns, first_ns + asked.end_ns)
    if start_ns >= end_ns:
        lasts_s = (last_ns - first_ns) / NS_PER_S
        raise InputError(f"{path} covers {lasts_s:.2f} s: --from and --to must lie within that, one before the other")
    return start_ns, end_ns


def _uninterruptible(recorded: Recorded, span: tuple[int, int]) -> tuple[Numbers, Numbers]:
    """Return the rows of `offcpu` in which a task slept uninterruptibly within a span, and for how long, in ns."""
    switches = recorded.trace.events(SWITCH)
    ranks = recorded.sequence.ranks(switches)
    state = switches["prev_state"].astype(np.int64)
    order = np.argsort(ranks)
    spans: OffCpu = recorded.offcpu
    at = np.minimum(np.searchsorted(ranks[order], spans.rank), len(order) - 1)
    is_known = ranks[order][at] == spans.rank
    asleep = is_known & ((state[order][at] & _UNINTERRUPTIBLE) != 0)
    slept_ns = np.minimum(spans.woken_ns, span[1]) - np.maximum(spans.ts_ns, span[0])
    rows = np.flatnonzero(asleep & (slept_ns > 0))
    return rows, slept_ns[rows]


def _programs(recorded: Recorded, rows: Numbers, slept_ns: Numbers) -> dict[int, int]:
    """Return for how long each program slept uninterruptibly, in ns by pid, the longest first."""
    pids = recorded.offcpu.pid[rows]
    found = []
    for pid in np.unique(pids).tolist():
        last = int(rows[pids == pid][-1])
        key = recorded.tasks.lives.key(pid, int(recorded.offcpu.rank[last]))
        if not recorded.tasks.is_kernel(key):
            found.append((pid, int(slept_ns[pids == pid].sum())))
    return dict(sorted(found, key=lambda each: -each[1]))


def _longest(recorded: Recorded, programs: Mapping[int, int]) -> dict[int, str]:
    return _named(recorded, list(programs)[:_MOST_TASKS])


def _chosen(recorded: Recorded, asked: Asked, programs: Mapping[int, int]) -> dict[int, str]:
    """Return the tasks that are asked for, of many with one name those that slept for longest."""
    pids: list[int] = np.unique(recorded.offcpu.pid).tolist()
    wanted = [pid for pid in pids if {str(pid), recorded.name(pid)} & set(asked.tasks)]
    return _named(recorded, sorted(wanted, key=lambda pid: -programs.get(pid, 0))[:_MOST_TASKS])


def _named(recorded: Recorded, pids: Sequence[int]) -> dict[int, str]:
    """Return the names of tasks, with the pid where several have one name."""
    names = {pid: printable(recorded.name(pid)) for pid in pids}
    every = list(names.values())
    return {pid: f"{name}-{pid}" if every.count(name) > 1 else name for pid, name in names.items()}


def _tasks_words(recorded: Recorded, programs: Mapping[int, int]) -> str:
    there = list(_longest(recorded, programs).values())
    return f"those that slept for longest are {', '.join(there)}" if there else "record it while it happens"


Spans = dict[int, list[tuple[int, int]]]  # begins and ends, in ns, by pid


def _calls(trace: tracecmd.TraceFile, sequence: InOrder, pids: set[int]) -> Spans:
    """Return the begins and ends of the system calls that were traced, in order.

    A call without a begin began before the trace, one without an end lasts until its end.
    """
    parts = [part for name in trace.names if (part := _side(trace, sequence, name, pids))]
    found: Spans = {pid: [] for pid in pids}
    begun: dict[int, int] = {}
    first_ns, last_ns = int(sequence.ts_ns[0]), int(sequence.ts_ns[-1])
    for _, pid, at_ns, is_enter in sorted(event for part in parts for event in part):
        if is_enter:
            begun[pid] = at_ns
        elif pid in begun:
            found[pid].append((begun.pop(pid), at_ns))
        elif not found[pid]:
            found[pid].append((first_ns, at_ns))
    for pid, at_ns in begun.items():
        found[pid].append((at_ns, last_ns))
    return found


def _side(trace: tracecmd.TraceFile, sequence: InOrder, name: str, pids: set[int]) -> list[tuple[int, int, int, bool]]:
    """Return rank, pid, time and side of the begins or ends of calls."""
    is_enter = name.startswith(_ENTER)
    if not is_enter and not name.startswith(_EXIT):
        return []
    events = trace.events(name)
    rows = np.flatnonzero(np.isin(events.pid, list(pids)))
    ranks = sequence.ranks(events)
    chosen = zip(ranks[rows].tolist(), events.pid[rows].tolist(), events.ts_ns[rows].tolist(), strict=True)
    return [(rank, pid, at_ns, is_enter) for rank, pid, at_ns in chosen]


def _is_meant(recorded: Recorded, pid: int, start_ns: int, end_ns: int) -> bool:
    """Whether a call was to sleep: most of it a timer of the task's own ended."""
    if end_ns - start_ns < _SHORT_NS:
        return False
    parts = account(recorded, pid, start_ns, end_ns).parts
    return parts.get(ASLEEP, 0) > (end_ns - start_ns) // 2


def _slept(recorded: Recorded, pids: set[int], rows: Numbers) -> Spans:
    """Return when the tasks slept uninterruptibly, of these rows: what counts where no call was traced."""
    spans = recorded.offcpu
    found: Spans = {pid: [] for pid in pids}
    for row in rows.tolist():
        if (pid := int(spans.pid[row])) in pids:
            found[pid].append((int(spans.ts_ns[row]), int(spans.on_ns[row])))
    return found


def _load(pid: int, name: str, stops: Sequence[tuple[int, int]], span: tuple[int, int]) -> LoadCycles:
    """Return a task's calls, and its sleeps outside of them, as the cycles of a load."""
    boundaries, is_call = [span[0]], []
    for start_ns, end_ns in sorted(stops):
        begun_ns, ended_ns = max(start_ns, boundaries[-1]), min(end_ns, span[1])
        if ended_ns - begun_ns >= _SHORT_NS:
            boundaries += [begun_ns, ended_ns]
            is_call += [False, True]
    boundaries.append(max(span[1], boundaries[-1]))
    is_call.append(False)
    return Calls(name, Task(), pid, "", "", np.array(boundaries, np.int64), is_call=np.array(is_call, bool))
