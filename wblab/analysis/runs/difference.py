"""The first difference between two runs, in the measurements of their loads and in their traces."""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tracecmd import TraceError
from tracecmd.formats import EventFormat
from tracecmd.sequence import Sequence as EventSequence

from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.run import Run
from wblab.core import rundir
from wblab.core.errors import InputError
from wblab.core.rundir import FileRecord
from wblab.core.units import NS_PER_S

_AROUND = 5  # events shown before and after
# The fields of events that neither a comparison nor a digest uses, with the reasons.
EXCLUDED = {"common_type": "each build of a kernel has its own numbers of events; they are compared by name"}


@dataclass(frozen=True)
class EventDifference:
    """A difference. at_s: its time since boot, in the run where it occurs first; first, second: the runs' lines."""

    what: str
    at_s: float
    first: tuple[str, ...]
    second: tuple[str, ...]


def first_differences(first: Run, second: Run) -> list[EventDifference]:
    """Return the first differences between two runs, in the order of time; empty if the runs are identical.

    At most one for each load, one for its files and one for the trace. Raises InputError for damaged files.
    """
    found = [load_difference(first, second, name) for name in _names(first, second)]
    found += [file_difference(first, second, name) for name in _names(first, second)]
    found.append(trace_difference(first, second))
    return sorted((item for item in found if item is not None), key=lambda item: item.at_s)


def loads_differ_s(first: Run, second: Run) -> float | None:
    """Return the first time since boot, in s, at which a boundary of a load of the first run differs; None if none."""
    found = (load_difference(first, second, item.name) for item in first.loads)
    return min((each.at_s for each in found if each), default=None)


def load_difference(first: Run, second: Run, name: str) -> EventDifference | None:
    """Return the first boundary of a load that differs."""
    bounds = [_boundaries(run, name) for run in (first, second)]
    index = _first_unequal(*bounds)
    if index is None:
        return None
    lines = [_line(times, index) for times in bounds]
    return EventDifference(f"load {name}, boundary {index}", _earlier_s(bounds, index), lines[0], lines[1])


def file_difference(first: Run, second: Run, name: str) -> EventDifference | None:
    """Return the difference in the places of a load's files on the disk, if there is one."""
    files = [run.files.get(name, {}) for run in (first, second)]
    if files[0] == files[1]:
        return None
    lines = [tuple(f"{file}: {_pieces(record)}" for file, record in one.items()) or ("nothing",) for one in files]
    ends_ns = [times[-1] for run in (first, second) if len(times := _boundaries(run, name))]
    return EventDifference(
        f"places of {name}'s files on the disk", min(ends_ns, default=0) / NS_PER_S, lines[0], lines[1]
    )


def _pieces(record: FileRecord) -> str:
    return ", ".join(f"{item.length} B at {item.physical}" for item in record.extents)


def trace_difference(first: Run, second: Run, around: int = _AROUND) -> EventDifference | None:
    """Return the first event that differs, with those around it; None if neither run has a trace."""
    has = [(run.path / rundir.TRACE).is_file() for run in (first, second)]
    if not all(has):
        states = [("a trace",) if one else ("none",) for one in has]
        return EventDifference("the trace: one run has none", 0.0, *states) if any(has) else None
    traces = [page_cache(run).trace for run in (first, second)]
    try:
        sequences = [trace.sequence() for trace in traces]
        index = _first_event(*sequences)
        if index is None:
            return None
        shown = range(max(0, index - around), index + around + 1)
        lines = [
            tuple(f"{'>' if at == index else ' '} {sequence.text(at)}" for at in shown if at < len(sequence))
            for sequence in sequences
        ]
    except TraceError as error:
        raise InputError(str(error)) from None
    return EventDifference(f"event {index}", _earlier_s([one.ts_ns for one in sequences], index), *lines)


def _first_event(first: EventSequence, second: EventSequence) -> int | None:
    """Return the rank of the first event that differs in time, type or content, or that only one run has."""
    types = first.types
    places = [_first_unequal(first.ts_ns, second.ts_ns), _first_unequal(types, second.types)]
    end = min((place for place in places if place is not None), default=len(first))
    formats: dict[int, EventFormat] = {}
    for index in range(_alike(first, second), end):
        records = first.record(index), second.record(index)
        if records[0] == records[1]:
            continue
        kind = int(types[index])
        if kind not in formats:
            formats[kind] = first.events_of(kind).format
        if _meaning(formats[kind], records[0]) != _meaning(formats[kind], records[1]):
            return index
    return end if end < max(len(first), len(second)) else None


def _meaning(form: EventFormat, record: bytes) -> list[bytes]:
    """Return a record's fields, without the excluded ones and without stale bytes of the ring buffer.

    Stale bytes are between fields, and after the end of a string in a field of fixed length.
    """
    said = []
    for field in (*form.common, *form.fields):
        if field.name in EXCLUDED:
            continue
        place, end = field.offset, field.end
        if field.dynamic == "rest":
            end = len(record)
        elif field.dynamic:  # __data_loc and __rel_loc: offset and length of data after the fields
            where = int.from_bytes(record[place:end], sys.byteorder)
            place = (where & 0xFFFF) + (end if field.dynamic == "rel" else 0)
            end = place + (where >> 16)
        value = record[place:end]
        said.append(value.partition(b"\0")[0] if field.is_text and not field.dynamic else value)
    return said


def _alike(first: EventSequence, second: EventSequence) -> int:
    """Return the number of leading events that are certainly equal: those before the first byte that differs.

    With several CPUs, the pages of one follow those of another; then it is 0 unless all bytes are equal.
    """
    data = [sequence.walked.data for sequence in (first, second)]
    byte = _first_unequal(*data)
    if byte is None:
        return len(first)
    if len(first) and (first.walked.cpu != first.walked.cpu[0]).any():
        return 0
    return max(0, int(np.searchsorted(first.walked.entries.places, byte // 4, side="right")) - 1)


def _names(first: Run, second: Run) -> list[str]:
    return list(dict.fromkeys(item.name for run in (first, second) for item in run.loads))


def _boundaries(run: Run, name: str) -> NDArray[np.int64]:
    found = [item.boundaries_ns for item in run.loads if item.name == name]
    return found[0] if found else np.zeros(0, np.int64)


def _first_unequal(first: NDArray[Any], second: NDArray[Any]) -> int | None:
    """Return the first index at which two arrays differ, or at which the shorter one ends."""
    common = min(len(first), len(second))
    differs = np.flatnonzero(first[:common] != second[:common])
    if len(differs):
        return int(differs[0])
    return None if len(first) == len(second) else common


def _line(times: NDArray[np.int64], index: int) -> tuple[str, ...]:
    return (f"{times[index] / NS_PER_S:.9f} s",) if index < len(times) else ("none: it ended earlier",)


def _earlier_s(arrays: list[NDArray[np.int64]], index: int) -> float:
    return min((float(times[index]) / NS_PER_S for times in arrays if index < len(times)), default=0.0)
