"""Tasks told apart that had the same pid, one after the other.

A task's key is its pid, if no later task of the trace has it. The key of an earlier one also says how many had the pid
after it. So most keys are pids.
"""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd.sequence import Sequence

from wblab.analysis.why.offcpu import SWITCH

FORK = "sched_process_fork"
_PID_BITS = 22  # PID_MAX_LIMIT, include/linux/threads.h

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Lives:
    """begins: of the pids that several tasks had, the places in the trace at which each one began, in order.

    The first begins at 0 if it is older than the trace.
    """

    begins: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    def key(self, pid: int, rank: int) -> int:
        """Return the key of the task that has a pid at a place in the trace."""
        begins = self.begins.get(pid, ())
        later = len(begins) - max(1, bisect_right(begins, rank)) if begins else 0
        return pid | later << _PID_BITS

    def keys(self, pid: NDArray[Any], rank: Numbers) -> Numbers:
        """Return the keys of tasks given by pid and place in the trace."""
        found = pid.astype(np.int64)
        for each, begins in self.begins.items():
            rows = np.flatnonzero(pid == each)
            lives = np.maximum(1, np.searchsorted(begins, rank[rows], side="right"))
            found[rows] |= (len(begins) - lives) << _PID_BITS
        return found


def pid_of(key: int) -> int:
    """Return the pid of a task's key."""
    return key & ((1 << _PID_BITS) - 1) if key >= 0 else key


def read_lives(trace: tracecmd.TraceFile, sequence: Sequence) -> Lives:
    """Read which pids several tasks of a trace had."""
    if FORK not in trace.names:
        return Lives()
    events = trace.events(FORK)
    forked: dict[int, list[int]] = {}
    for rank, pid in zip(sequence.ranks(events).tolist(), events["child_pid"].tolist(), strict=True):
        forked.setdefault(pid, []).append(rank)
    older: set[int] = set()
    if SWITCH in trace.names:
        switches = trace.events(SWITCH)
        pids, first = np.unique(switches["next_pid"], return_index=True)
        ran = dict(zip(pids.tolist(), sequence.ranks(switches)[first].tolist(), strict=True))
        older = {pid for pid, ranks in forked.items() if ran.get(pid, min(ranks)) < min(ranks)}
    return Lives(
        {
            pid: tuple(([0] if pid in older else []) + sorted(ranks))
            for pid, ranks in forked.items()
            if len(ranks) + (pid in older) > 1
        }
    )


def names_of_earlier(trace: tracecmd.TraceFile, sequence: Sequence, lives: Lives) -> dict[int, str]:
    """Return the last name of each task whose pid a later one has, by key."""
    if not lives.begins or SWITCH not in trace.names:
        return {}
    switches = trace.events(SWITCH)
    rows = np.flatnonzero(np.isin(switches["next_pid"], list(lives.begins)))
    pids, ranks = switches["next_pid"][rows].astype(np.int64), sequence.ranks(switches)[rows]
    keys = lives.keys(pids, ranks)
    order = np.argsort(ranks)
    named = zip(keys[order].tolist(), switches["next_comm"][rows][order].tolist(), strict=True)
    return {key: name for key, name in named if key not in lives.begins}
