"""The system calls with which a load writes and waits, from raw_syscalls."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd.sequence import Sequence

from wblab.analysis.runs.run import LoadCycles, Run
from wblab.core.errors import InputError

Name = Literal["write", "fsync", "fdatasync", "sync_file_range"]
NAMES: tuple[Name, ...] = get_args(Name)
Numbers = NDArray[np.int64]
_SYSTEM, ENTER, EXIT = "raw_syscalls:", "sys_enter", "sys_exit"
_WRITE: Name = "write"
# x86-64, also for UML (arch/x86/entry/syscalls/syscall_64.tbl): write and pwrite64 both count as write().
_NUMBERS: dict[int, Name] = {1: _WRITE, 18: _WRITE, 74: "fsync", 75: "fdatasync", 277: "sync_file_range"}


@dataclass(frozen=True)
class Call:
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


def calls(trace: tracecmd.TraceFile, sequence: Sequence, item: LoadCycles) -> list[Call]:
    """Return the calls of a load in the order of time, without one that had not returned when the trace ended."""
    enter, leave = (_of(trace.events(event), sequence, item.pid) for event in (ENTER, EXIT))
    after = np.searchsorted(leave[0], enter[0])
    cycle = np.searchsorted(item.boundaries_ns, enter[2], side="right") - 1
    found = []
    for row in np.flatnonzero((after < len(leave[0])) & (cycle >= 0) & (cycle < len(item.starts_ns))).tolist():
        number, back = int(enter[1][row]), int(after[row])
        if number in _NUMBERS and number == leave[1][back]:
            span_ns = int(enter[2][row]), int(leave[2][back])
            found.append(Call(int(cycle[row]), _NUMBERS[number], *span_ns))
    return found


def _of(events: tracecmd.Events, sequence: Sequence, pid: int) -> tuple[Numbers, Numbers, Numbers]:
    """Return the places in the trace, the numbers and the times of a task's calls."""
    own = events.pid == pid
    return sequence.ranks(events)[own], events["id"][own], events.ts_ns[own]
