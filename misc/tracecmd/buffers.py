"""Decode one buffer of a trace: its events in memory, their times, and the spans in which events were lost."""

import bisect
import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecmd import options, ring
from tracecmd.columns import Bytes, grouped, numbers
from tracecmd.contents import BufferData, Contents
from tracecmd.errors import TraceError
from tracecmd.formats import Field

# All events begin with common_type, an unsigned short (include/linux/trace_events.h: struct trace_entry).
_TYPE_BYTES = 2


@dataclass(frozen=True)
class LostEvents:
    """A span in which events of one CPU were lost. `count` is -1 if the kernel did not count them.

    If no event before the loss is left, the span begins with the buffer's first event.
    """

    buffer: str
    cpu: int
    start_ns: int
    end_ns: int
    count: int


@dataclass(frozen=True)
class Walked:
    """A buffer: its pages as bytes, and the offset, size, time and CPU of each event, CPU by CPU.

    `by_type` holds, for each event type, the indices of its events in time order.
    """

    data: Bytes
    entries: ring.Entries
    ts_ns: NDArray[np.int64]
    cpu: NDArray[np.int32]
    by_type: dict[int, NDArray[np.int64]]
    lost: tuple[LostEvents, ...]


def walk_buffer(contents: Contents, buffer: BufferData, header: dict[str, Field]) -> Walked:
    """Read and decode all pages of a buffer. Raises TraceError if they are damaged or unsupported."""
    what = contents.source.what
    if buffer.is_text:
        raise TraceError(f"buffer {buffer.name!r} of {what} holds a latency tracer's text, no events")
    if contents.options.all(options.TIME_SHIFT):
        raise TraceError(f"{what} has the option time_shift (a guest traced with its host), which is not supported")
    layout = ring.PageLayout.of(header, contents.order, buffer.page_bytes)
    data, starts = _pages(contents, buffer)
    entries, losses = ring.walk(data, layout)
    begins = np.searchsorted(entries.places, np.array(starts) // 4)  # of each CPU, and the end
    numbers_of_cpus = np.array([cpu.cpu for cpu in buffer.cpus], np.int64).astype(np.int32)
    cpu = np.repeat(numbers_of_cpus, np.diff(begins))
    ts_ns = converted(entries.times, contents.options)
    by_type = _by_type(data, entries, ts_ns, contents.order)
    lost = _lost(buffer, entries, losses, starts, contents.options)
    return Walked(data, entries, ts_ns, cpu, by_type, lost)


def converted(times: NDArray[np.uint64], said: options.Options) -> NDArray[np.int64]:
    """Return recorded times in ns: ticks converted, offsets added (trace-cmd: timestamp_calc())."""
    mult, shift = said.tsc
    if mult:
        if shift > 32:
            raise TraceError(f"the trace is damaged: its clock's shift is {shift} bits")
        low, high = times & np.uint64(0xFFFFFFFF), times >> np.uint64(32)
        times = (low * np.uint64(mult) >> np.uint64(shift)) + (high * np.uint64(mult) << np.uint64(32 - shift))
    if offset_ns := said.offset_ns:
        times = times + np.uint64(offset_ns % (1 << 64))
    return times.view(np.int64)


def _pages(contents: Contents, buffer: BufferData) -> tuple[Bytes, list[int]]:
    """Return the pages of all CPUs in one array, and the byte offset of each CPU's pages, with the end of the last."""
    unpacked = [contents.unpacked(cpu) for cpu in buffer.cpus]
    sizes = [cpu.size_bytes if data is None else len(data) for cpu, data in zip(buffer.cpus, unpacked, strict=True)]
    # A killed recorder can leave a page unfinished.
    starts = np.cumsum([0, *(size + -size % buffer.page_bytes for size in sizes)]).tolist()
    if max((cpu.at + cpu.size_bytes for cpu in buffer.cpus if cpu.size_bytes), default=0) > contents.source.size_bytes:
        raise TraceError(f"{contents.source.what} is truncated: the trace data extend beyond its end")
    if sum(cpu.size_bytes for each in contents.buffers for cpu in each.cpus) > contents.source.size_bytes:
        raise TraceError(f"{contents.source.what} is damaged: it claims more trace data than it has bytes")
    contents.codec.budget.take(starts[-1] - sum(sizes), contents.source.what)  # padding that completes the last pages
    pages = np.empty(starts[-1], np.uint8)
    for cpu, data, start, size in zip(buffer.cpus, unpacked, starts, sizes, strict=False):
        target = pages[start : start + size]
        if data is None:
            contents.source.read_into(cpu.at, memoryview(target.data))
        else:
            target[:] = np.frombuffer(data, np.uint8)
        pages[start + size : start + size + -size % buffer.page_bytes] = 0
    return pages, starts


def _by_type(data: Bytes, entries: ring.Entries, ts_ns: NDArray[np.int64], order: str) -> dict[int, NDArray[np.int64]]:
    if (entries.sizes < _TYPE_BYTES).any():
        raise TraceError("the trace is damaged: an event without a type")
    types = numbers(data, entries.places, 0, np.dtype(f"{order}u{_TYPE_BYTES}"))
    if not (ts_ns[1:] < ts_ns[:-1]).any():
        return dict(grouped(types))
    by_time = np.argsort(ts_ns, kind="stable")  # several CPUs, one after the other
    return {number: by_time[which] for number, which in grouped(types[by_time])}


def _lost(
    buffer: BufferData, entries: ring.Entries, losses: list[ring.Loss], starts: list[int], said: options.Options
) -> tuple[LostEvents, ...]:
    """Return the spans of losses. If a CPU has no event left before one, the span begins with the first event."""
    begins = np.searchsorted(entries.places, np.array(starts) // 4)
    firsts = [entries.times[at] for at, end in itertools.pairwise(begins) if at < end]
    found_lost = []
    for loss in losses:
        place = loss.page * buffer.page_bytes
        cpu = bisect.bisect_right(starts, place) - 1
        before = int(np.searchsorted(entries.places, place // 4))
        start = entries.times[before - 1] if before > begins[cpu] else min([*firsts, np.uint64(loss.time)])
        start_ns, end_ns = converted(np.array([start, loss.time], np.uint64), said).tolist()
        found_lost.append(LostEvents(buffer.name, buffer.cpus[cpu].cpu, start_ns, end_ns, loss.count))
    return tuple(found_lost)
