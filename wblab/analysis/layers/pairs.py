"""Kernel functions whose begin and end are traced: the time that a task spent in each, asleep or running."""

from dataclasses import dataclass

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd.sequence import Sequence

# ext4's (include/trace/events/ext4.h). ext4_da_write_end is traced when that function begins: the span covers
# ext4_da_write_begin() and the copy of the data.
PAIRS = {
    "ext4_sync_file": ("ext4_sync_file_enter", "ext4_sync_file_exit"),
    "ext4_da_write_begin": ("ext4_da_write_begin", "ext4_da_write_end"),
    "ext4_writepages": ("ext4_writepages", "ext4_writepages_result"),
}


@dataclass(frozen=True)
class Entered:
    """Spans of one function, by task and in the order of time, in ns."""

    pid: NDArray[np.int64]
    start_ns: NDArray[np.int64]
    end_ns: NDArray[np.int64]

    def of(self, pid: int, start_ns: int, end_ns: int) -> int:
        """Return how long a task was in the function, in ns, within a span of time that cuts none of its calls."""
        own = (self.pid == pid) & (self.start_ns >= start_ns) & (self.end_ns <= end_ns)
        return int((self.end_ns - self.start_ns)[own].sum())


def read_entered(trace: tracecmd.TraceFile, sequence: Sequence) -> dict[str, Entered]:
    """Read the spans of the functions of PAIRS whose events a trace has."""
    return {name: _spans(trace, sequence, *events) for name, events in PAIRS.items() if set(events) <= set(trace.names)}


def _spans(trace: tracecmd.TraceFile, sequence: Sequence, enter: str, leave: str) -> Entered:
    """Return the spans from an enter to the same task's next event, if that is a leave."""
    both = [trace.events(name) for name in (enter, leave)]
    pid, ts_ns = (np.concatenate(columns) for columns in zip(*((each.pid, each.ts_ns) for each in both), strict=True))
    rank = np.concatenate([sequence.ranks(each) for each in both])
    leaves = np.repeat([False, True], [len(each) for each in both])
    order = np.lexsort((rank, pid))
    pid, ts_ns, leaves = pid[order].astype(np.int64), ts_ns[order], leaves[order]
    at = np.flatnonzero((pid[:-1] == pid[1:]) & ~leaves[:-1] & leaves[1:])
    return Entered(pid[at], ts_ns[at], ts_ns[at + 1])
