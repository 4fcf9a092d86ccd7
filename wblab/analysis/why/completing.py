"""Wake-ups without a recorded stack that occur during a request's completion on their processor.

Some machines record no stack when a disk's interrupt finds the processor idle. The kernel traces the begin of a
completion (block_rq_complete, in blk_update_request) and its end (block_io_done, since Linux 6.5): a wake-up between
the two is due to the completion.
"""

from dataclasses import replace

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd.sequence import Sequence

from wblab.analysis.why.offcpu import OffCpu
from wblab.analysis.why.requests import COMPLETED
from wblab.analysis.why.stacks import Stack, Stacks

ENDED = "block_io_done"
WITHIN: Stack = ("blk_update_request",)

Numbers = NDArray[np.int64]


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
