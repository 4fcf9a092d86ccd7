"""One buffer of a trace, walked: its events in memory, their times, and the spans in which events were lost."""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecmd import options, ring
from tracecmd.columns import Bytes, grouped, numbers
from tracecmd.container import BufferData, Contents
from tracecmd.errors import TraceError
from tracecmd.formats import Field

# All events begin with common_type, an unsigned short (include/linux/trace_events.h: struct trace_entry).
_TYPE_BYTES = 2


@dataclass(frozen=True)
class Lost:
    """A span in which events of one CPU were lost. `count` is -1 where the kernel did not count them.

    Where nothing is left from before the loss, it begins with the buffer's first event.
    """

    buffer: str
    cpu: int
    start_ns: int
    end_ns: int
    count: int


@dataclass(frozen=True)
class Walked:
    """A buffer: its pages as bytes, and of each event its place, size, time and CPU, one CPU after the other.

    `by_type` holds, for each event type, the indices of its events.
    """

    data: Bytes
    entries: ring.Entries
    ts_ns: NDArray[np.int64]
    cpu: NDArray[np.int32]
    by_type: dict[int, NDArray[np.int64]]
    lost: tuple[Lost, ...]


def walk_buffer(contents: Contents, buffer: BufferData, header: dict[str, Field]) -> Walked:
    """Read and walk all pages of a buffer. Raises TraceError for damage, and for what is not supported."""
    what = contents.source.what
    if buffer.is_text:
        raise TraceError(f"buffer {buffer.name!r} of {what} holds the text of a latency tracer, no events")
    if contents.options.all(options.TIME_SHIFT):
        raise TraceError(f"{what} has the option time_shift (a guest traced with its host): it is not supported")
    layout = ring.Layout.of(header, contents.order, buffer.page_bytes)
    data, starts = _pages(contents, buffer)
    spans = list(itertools.pairwise(starts))
    walks = [ring.walk(data[start:end], layout) for start, end in spans]
    entries = ring.joined(
        [
            ring.Entries(found.places + start // 4, found.sizes, found.times)
            for (found, _), (start, _) in zip(walks, spans, strict=True)
        ]
    )
    numbers_of_cpus = np.array([cpu.cpu for cpu in buffer.cpus], np.int64).astype(np.int32)
    cpu = np.repeat(numbers_of_cpus, np.array([len(found.places) for found, _ in walks], np.int64))
    ts_ns = converted(entries.times, contents.options)
    lost = _lost(buffer, walks, contents.options, layout)
    return Walked(data, entries, ts_ns, cpu, _by_type(data, entries, contents.order), lost)


def converted(times: NDArray[np.uint64], said: options.Options) -> NDArray[np.int64]:
    """Return recorded times in ns: ticks converted, offsets added (trace-cmd: timestamp_calc())."""
    mult, shift = said.tsc
    if mult:
        if shift > 32:
            raise TraceError(f"the trace is damaged: it would convert its times with a shift of {shift} bits")
        low, high = times & np.uint64(0xFFFFFFFF), times >> np.uint64(32)
        times = (low * np.uint64(mult) >> np.uint64(shift)) + (high * np.uint64(mult) << np.uint64(32 - shift))
    if offset_ns := said.offset_ns:
        times = times + np.uint64(offset_ns % (1 << 64))
    return times.view(np.int64)


def _pages(contents: Contents, buffer: BufferData) -> tuple[Bytes, list[int]]:
    """Return the pages of all CPUs in one array, and where each CPU's begin, in bytes, with the end of the last."""
    unpacked = [contents.unpacked(cpu) for cpu in buffer.cpus]
    sizes = [cpu.size_bytes if data is None else len(data) for cpu, data in zip(buffer.cpus, unpacked, strict=True)]
    # A recorder that was stopped can leave a page unfinished.
    starts = np.cumsum([0, *(size + -size % buffer.page_bytes for size in sizes)]).tolist()
    if max((cpu.at + cpu.size_bytes for cpu in buffer.cpus if cpu.size_bytes), default=0) > contents.source.size_bytes:
        raise TraceError(f"{contents.source.what} is truncated: the trace data reach beyond its end")
    if sum(cpu.size_bytes for each in contents.buffers for cpu in each.cpus) > contents.source.size_bytes:
        raise TraceError(f"{contents.source.what} is damaged: it would hold more trace data than bytes")
    contents.codec.budget.take(starts[-1] - sum(sizes), contents.source.what)  # what completes the last pages
    pages = np.empty(starts[-1], np.uint8)
    for cpu, data, start, size in zip(buffer.cpus, unpacked, starts, sizes, strict=False):
        target = pages[start : start + size]
        if data is None:
            contents.source.read_into(cpu.at, memoryview(target.data))
        else:
            target[:] = np.frombuffer(data, np.uint8)
        pages[start + size : start + size + -size % buffer.page_bytes] = 0
    return pages, starts


def _by_type(data: Bytes, entries: ring.Entries, order: str) -> dict[int, NDArray[np.int64]]:
    if (entries.sizes < _TYPE_BYTES).any():
        raise TraceError("the trace is damaged: an event without a type")
    types = numbers(data, entries.places, 0, np.dtype(f"{order}u{_TYPE_BYTES}"))
    return dict(grouped(types))


def _lost(
    buffer: BufferData, walks: list[tuple[ring.Entries, list[ring.Loss]]], said: options.Options, layout: ring.Layout
) -> tuple[Lost, ...]:
    begins = [found.times[0] for found, _ in walks if len(found.times)]
    found_lost = []
    for cpu, (found, losses) in zip(buffer.cpus, walks, strict=True):
        for loss in losses:
            before = int(np.searchsorted(found.places, loss.page * layout.page_bytes // 4))
            start = found.times[before - 1] if before else min([*begins, np.uint64(loss.time)])
            start_ns, end_ns = converted(np.array([start, loss.time], np.uint64), said).tolist()
            found_lost.append(Lost(buffer.name, cpu.cpu, start_ns, end_ns, loss.count))
    return tuple(found_lost)
