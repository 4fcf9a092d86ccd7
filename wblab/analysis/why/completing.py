"""Wake-ups without a recorded stack that occur during a request's completion on their processor.

Some machines record no stack when a disk's interrupt finds the processor idle. The kernel traces the begin of a
completion (block_rq_complete, in blk_update_request) and its end (block_io_done, since Linux 6.5): a wake-up between
the two is due to the completion.
"""

from dataclasses import dataclass, replace

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd.sequence import Sequence

from wblab.analysis.why.offcpu import OffCpu, Stack, Stacks
from wblab.analysis.why.requests import COMPLETED

# The block that a task is about to wait for, where the kernel has an event for it (block_buffer_wait).

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


ENDED = "block_io_done"
WITHIN: Stack = ("blk_update_request",)


def with_completions(
    trace: tracecmd.TraceFile, sequence: Sequence, stacks: Stacks, offcpu: OffCpu
) -> tuple[Stacks, OffCpu]:
    """Return stacks and spans in which such a wake-up has a stack of the one function that is known."""
    rows = np.flatnonzero((offcpu.wake_rank >= 0) & (offcpu.wake_stack == 0))
    if not len(rows) or not {COMPLETED, ENDED} <= set(trace.names):
        return stacks, offcpu
    begins, ends = trace.events(COMPLETED), trace.events(ENDED)
    rank = np.concatenate([sequence.ranks(begins), sequence.ranks(ends)])
    cpu = np.concatenate([begins.cpu, ends.cpu])
    is_begin = np.arange(len(rank)) < len(begins)
    wake = offcpu.wake_rank[rows]
    wake_cpu = sequence.walked.cpu[sequence.order[wake]]
    inside = np.zeros(len(rows), bool)
    for each in np.unique(wake_cpu).tolist():
        own = np.flatnonzero(cpu == each)
        own = own[np.argsort(rank[own])]
        before = np.searchsorted(rank[own], wake) - 1
        here = (wake_cpu == each) & (before >= 0)
        inside[here] = is_begin[own[before[here]]]
    wake_stack = offcpu.wake_stack.copy()
    wake_stack[rows[inside]] = len(stacks.known)
    return replace(stacks, known=(*stacks.known, WITHIN)), replace(offcpu, wake_stack=wake_stack)
