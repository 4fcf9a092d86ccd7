"""The system calls with which a load writes and waits, from raw_syscalls."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd.sequence import Sequence

from wblab.analysis.layers.stages import Disks
from wblab.analysis.runs.run import LoadCycles, Run
from wblab.analysis.why.kinds import UNKNOWN
from wblab.analysis.why.recorded import Recorded
from wblab.core.errors import InputError

# The phases of a journal's commits, in the order of fs/jbd2/commit.c.

# Each phase begins with its event. The transaction is locked until its last handle is closed; then its data are
# written, then its blocks and the commit record.
_BEGINS = {
    "jbd2_start_commit": "starting",
    "jbd2_commit_locking": "locking",
    "jbd2_commit_flushing": "flushing",
    "jbd2_commit_logging": "logging",
    "jbd2_end_commit": "",
}


@dataclass(frozen=True)
class CallPhases:
    """The begins and names of the phases of each journal's task, in order; an empty name ends a commit."""

    starts_ns: dict[int, NDArray[np.int64]]
    names: dict[int, list[str]]

    def of(self, pid: int, start_ns: int, end_ns: int) -> Iterator[tuple[str, int, int]]:
        """Yield a task's phases in a span of time, with begin and end in ns; the name is empty outside a commit."""
        starts = self.starts_ns.get(pid, np.zeros(0, np.int64))
        row = int(np.searchsorted(starts, start_ns, side="right"))
        at, name = start_ns, self.names[pid][row - 1] if row else ""
        while row < len(starts) and starts[row] < end_ns:
            yield name, at, int(starts[row])
            at, name = int(starts[row]), self.names[pid][row]
            row += 1
        yield name, at, end_ns


def read_phases(trace: tracecmd.TraceFile, sequence: Sequence) -> CallPhases:
    """Read the phases of all journals of a trace; empty if it has no such events."""
    rows: dict[int, list[tuple[int, int, str]]] = {}
    for event, name in _BEGINS.items():
        if event in trace.names:
            events = trace.events(event)
            columns = (events.pid, sequence.ranks(events), events.ts_ns)
            for pid, rank, ts_ns in zip(*(column.tolist() for column in columns), strict=True):
                rows.setdefault(pid, []).append((rank, ts_ns, name))
    ordered = {pid: sorted(found) for pid, found in rows.items()}
    return CallPhases(
        {pid: np.array([ts_ns for _, ts_ns, _ in found], np.int64) for pid, found in ordered.items()},
        {pid: [name for _, _, name in found] for pid, found in ordered.items()},
    )


Name = Literal["write", "fsync", "fdatasync", "sync_file_range"]
NAMES: tuple[Name, ...] = get_args(Name)
Numbers = NDArray[np.int64]
_SYSTEM, ENTER, EXIT = "raw_syscalls:", "sys_enter", "sys_exit"
_WRITE: Name = "write"
# x86-64, also for UML (arch/x86/entry/syscalls/syscall_64.tbl): write and pwrite64 both count as write().
_NUMBERS: dict[int, Name] = {1: _WRITE, 18: _WRITE, 74: "fsync", 75: "fdatasync", 277: "sync_file_range"}


@dataclass(frozen=True)
class TracedCall:
    """One system call. number: the load's cycle, from 0. Times are ns of the trace's clock."""

    number: int
    name: Name
    start_ns: int
    end_ns: int


def check_calls(run: Run, trace: tracecmd.TraceFile) -> None:
    """Raise InputError for a trace without system calls."""
    if {ENTER, EXIT} <= set(trace.names):
        return
    if any(event.startswith(_SYSTEM) for event in run.record.get("left_out") or ()):
        release = (run.record.get("kernel") or {}).get("release", "of this run")
        raise InputError(f"Linux {release} does not trace system calls here: repeat the run on 7.2 (--kernel 7.2)")
    raise InputError("the trace has no system calls: repeat the run with --set trace.blame=always")


def calls(trace: tracecmd.TraceFile, sequence: Sequence, item: LoadCycles) -> list[TracedCall]:
    """Return the calls of a load in the order of time, without one that had not returned when the trace ended."""
    enter, leave = (_of(trace.events(event), sequence, item.pid) for event in (ENTER, EXIT))
    after = np.searchsorted(leave[0], enter[0])
    cycle = np.searchsorted(item.boundaries_ns, enter[2], side="right") - 1
    found = []
    for row in np.flatnonzero((after < len(leave[0])) & (cycle >= 0) & (cycle < len(item.starts_ns))).tolist():
        number, back = int(enter[1][row]), int(after[row])
        if number in _NUMBERS and number == leave[1][back]:
            span_ns = int(enter[2][row]), int(leave[2][back])
            found.append(TracedCall(int(cycle[row]), _NUMBERS[number], *span_ns))
    return found


def _of(events: tracecmd.Events, sequence: Sequence, pid: int) -> tuple[Numbers, Numbers, Numbers]:
    """Return the places in the trace, the numbers and the times of a task's calls."""
    own = events.pid == pid
    return sequence.ranks(events)[own], events["id"][own], events.ts_ns[own]


# A span of a task's time charged to its states, or to those of the tasks it waited for, to the nanosecond.

CPU, RUNNABLE, ASLEEP, UNEXPLAINED = "cpu", "runnable", "asleep", UNKNOWN.name
JOURNAL, WORKER, TASK = "journal", "worker", "task"  # other tasks that run, or are ready to run
_IDLE = "idle"
_DEEPEST = 8
_JOURNALS = ("jbd2/", "xfsaild/", "xfs-cil/", "xfs-log/")

Path = tuple[str, ...]  # kinds of wait along the chain, and the final state
Piece = tuple[Path, int, int]  # path, begin and end in ns


@dataclass(frozen=True)
class Charged:
    """The data that time is charged by."""

    recorded: Recorded
    disks: Disks
    phases: CallPhases

    def of_task(
        self, pid: int, start_ns: int, end_ns: int, path: Path = (), seen: frozenset[int] = frozenset()
    ) -> Iterator[Piece]:
        """Yield consecutive pieces that cover a span of a task's time; some may be empty.

        seen: the tasks that wait for this one; empty for the caller itself.
        """
        recorded, at = self.recorded, start_ns
        busy, ready = (CPU, RUNNABLE) if not seen else (_role(recorded.name(pid)),) * 2
        if seen and (begun := self._begun(pid, start_ns, end_ns)) is not None:
            at = min(int(recorded.offcpu.woken_ns[begun]), end_ns)
            yield from self._of_sleep(begun, start_ns, at, path, seen | {pid})
        for phase, first, last in self.phases.of(pid, at, end_ns):
            named = (*path, phase) if phase and seen else path
            at = first
            for row in recorded.offcpu.rows(pid, first, last):
                out, woken, on = (
                    min(max(int(column[row]), at), last)
                    for column in (recorded.offcpu.ts_ns, recorded.offcpu.woken_ns, recorded.offcpu.on_ns)
                )
                yield (*named, busy), at, out
                if woken > out:
                    yield from self._of_sleep(row, out, woken, named, seen | {pid})
                yield (*named, ready), woken, on
                at = on
            yield (*named, busy), at, last

    def _begun(self, pid: int, start_ns: int, end_ns: int) -> int | None:
        """Return the last span in which a task that is waited for was idle: at its end it began the awaited work."""
        rows = self.recorded.offcpu.rows(pid, start_ns, end_ns)
        return next((row for row in reversed(rows) if self.recorded.verdict(row).kind.name == _IDLE), None)

    def _of_sleep(self, row: int, start_ns: int, end_ns: int, path: Path, seen: frozenset[int]) -> Iterator[Piece]:
        """Charge a sleep, or a part of it, to what ended it. seen: includes the sleeper."""
        recorded = self.recorded
        verdict, last = recorded.verdict(row), recorded.ends(row)
        kind, waker = verdict.kind, int(recorded.offcpu.waker[last])
        followed = len(seen) > 1 and kind.name == _IDLE
        below = path if followed else (*path, ASLEEP if kind.nature == "own will" else kind.name)
        if kind is UNKNOWN or (kind.nature != "waits" and not followed):
            yield below, start_ns, end_ns
        elif verdict.context == "request":
            yield from self._of_request(row, start_ns, end_ns, below, seen)
        elif verdict.context == "task" and 0 < waker not in seen and len(seen) < _DEEPEST:
            yield from self.of_task(waker, start_ns, end_ns, below, seen)
        elif verdict.context == "timer" and below:
            yield below, start_ns, end_ns
        else:
            yield (*below, UNEXPLAINED), start_ns, end_ns

    def _of_request(self, slept: int, start_ns: int, end_ns: int, path: Path, seen: frozenset[int]) -> Iterator[Piece]:
        """Charge a sleep that a request ended to the request's stages, and the time before to the submitting task."""
        wake_rank = int(self.recorded.offcpu.wake_rank[self.recorded.ends(slept)])
        row = self.disks.done.before(wake_rank, self.recorded.cpu(wake_rank))
        if row < 0:
            yield (*path, UNEXPLAINED), start_ns, end_ns
            return
        way, at = self.disks.way(row), start_ns
        if way.handed_ns is not None and way.handed_ns > start_ns:
            at = min(way.handed_ns, end_ns)
            if len(seen) > 1 and at < end_ns:  # until then, the submitting task may itself have waited for the sleeper
                seen = seen - {int(self.recorded.offcpu.pid[slept])} | {-len(seen)}
            if 0 < way.submitter not in seen and len(seen) < _DEEPEST:
                yield from self.of_task(way.submitter, start_ns, at, path, seen)
            else:
                yield (*path, UNEXPLAINED), start_ns, at
        for stage, first, last in way.stages(at, end_ns):
            yield (*path, stage), first, last


def _role(name: str) -> str:
    return JOURNAL if name.startswith(_JOURNALS) else WORKER if name.startswith("kworker/") else TASK
