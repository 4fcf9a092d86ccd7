"""Lost events of a trace: what a task did meanwhile is unknown, and so is which sleep a later wake-up ended."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import tracecmd

from wblab.analysis.why.offcpu import OffCpu

Span = tuple[int, int]
_NOBODY = -1


def lost_spans(trace: tracecmd.TraceFile) -> tuple[Span, ...]:
    """Return the spans in which events were lost on any processor, in ns, in order and without overlap."""
    return merged((item.start_ns, item.end_ns) for item in trace.lost if not item.buffer)


def merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return spans in order; those that touch are merged."""
    found: list[Span] = []
    for start_ns, end_ns in sorted(spans):
        if found and start_ns <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end_ns)
        else:
            found.append((start_ns, end_ns))
    return tuple(found)


def shared_ns(spans: Sequence[Span], start_ns: int, end_ns: int) -> int:
    """Return how much of a time lies in spans without overlap, in ns."""
    return sum(max(0, min(end_ns, end) - max(start_ns, start)) for start, end in spans)


def with_losses(offcpu: OffCpu, spans: Sequence[Span]) -> OffCpu:
    """Return spans off the processor, without stacks and waker for those that overlap a loss.

    The task may have been woken and have slept again meanwhile: the stack and the waker may be of two sleeps.
    """
    is_lost = np.zeros(len(offcpu), bool)
    for start_ns, end_ns in spans:
        is_lost |= (offcpu.ts_ns < end_ns) & (offcpu.on_ns > start_ns)
    if not is_lost.any():
        return offcpu
    return replace(
        offcpu,
        woken_ns=np.where(is_lost, offcpu.on_ns, offcpu.woken_ns),
        stack=np.where(is_lost, 0, offcpu.stack),
        wake_stack=np.where(is_lost, 0, offcpu.wake_stack),
        waker=np.where(is_lost, _NOBODY, offcpu.waker),
        wake_rank=np.where(is_lost, _NOBODY, offcpu.wake_rank),
    )
