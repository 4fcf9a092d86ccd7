"""The block that a task is about to wait for, where the kernel has an event for it (block_buffer_wait)."""

from dataclasses import dataclass

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd.sequence import Sequence

BUFFER_WAIT = "block_buffer_wait"
NONE = -1

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Awaited:
    """Blocks by task and place in the trace."""

    pid: Numbers
    rank: Numbers
    device: Numbers
    block: Numbers

    def before(self, pid: int, rank: int, after_rank: int) -> int:
        """Return the row of the last block that a task named between two places; NONE if it named none."""
        first, last = np.searchsorted(self.pid, [pid, pid + 1]).tolist()
        row = first + int(np.searchsorted(self.rank[first:last], rank)) - 1
        if row < first or self.rank[row] < after_rank:
            return NONE
        return int(row)


def read_awaited(trace: tracecmd.TraceFile, sequence: Sequence) -> Awaited:
    """Read the blocks that tasks named; empty if the kernel has no such event."""
    if BUFFER_WAIT not in trace.names:
        return Awaited(*[np.zeros(0, np.int64)] * 4)
    events = trace.events(BUFFER_WAIT)
    rank, pid = sequence.ranks(events), events.pid.astype(np.int64)
    order = np.lexsort((rank, pid))
    device, block = (events[name].astype(np.int64) for name in ("dev", "block"))
    return Awaited(*(column[order] for column in (pid, rank, device, block)))
