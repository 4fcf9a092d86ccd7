"""What a recording shows of a machine's habits.

In which blocks its heaviest writer wrote, whether the program that stalled syncs, and which disks take one request at a
time.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd import TraceError

from wblab.core.errors import InputError
from wblab.foreign.recording import is_recording, read_recording

Numbers = NDArray[np.int64]
_WRITES = ("sys_enter_write", "sys_enter_pwrite64")
_SYNCS = ("sys_enter_fsync", "sys_enter_fdatasync", "sys_enter_syncfs", "sys_enter_sync")
_INSERT, _ISSUE, _COMPLETE = "block_rq_insert", "block_rq_issue", "block_rq_complete"
_TASK = re.compile(r"task (\d{1,9})")
_PROBE = "the probe in "  # it syncs what it writes
_HEAVY_BYTES = 4 << 20  # less is no copy that fills memory
_MINOR_BITS = 20  # of a device's number in an event: MINORBITS in include/linux/kdev_t.h
_MOST_BLOCK_BYTES = 1 << 30  # of one write


@dataclass(frozen=True)
class Habits:
    """block_bytes: what the heaviest writer wrote at a time; 0: unknown. syncs: whether the stalled program does.

    one_by_one, several: numbers, major:minor, of disks that took one request at a time while others waited, and of
    those that took more at once.
    """

    block_bytes: int = 0
    syncs: bool = False
    one_by_one: frozenset[str] = frozenset()
    several: frozenset[str] = frozenset()


def habits_in(path: Path) -> Habits:
    """Return what a recorder's file shows; nothing for other files, and where the trace in it is damaged."""
    if not is_recording(path):
        return Habits()
    try:
        recording = read_recording(path)
        with recording.trace() as file, tracecmd.open(file) as trace:
            syncs = recording.who.startswith(_PROBE) or _syncs(trace, recording.who)
            at_once = list(_at_once(trace))
            one, more = (frozenset(name for name, most in at_once if (most > 1) is many) for many in (False, True))
            return Habits(_block_bytes(trace), syncs, one, more)
    except (InputError, TraceError, OSError):
        return Habits()


def _block_bytes(trace: tracecmd.TraceFile) -> int:
    """Return the size in which the task that wrote most wrote half of its bytes at least; 0: no task wrote much."""
    found = [trace.events(name) for name in _WRITES if name in trace.names]
    if not found:
        return 0
    pids = np.concatenate([each.pid for each in found])
    sizes = np.concatenate([each["count"].astype(np.uint64) for each in found])
    is_write = sizes <= _MOST_BLOCK_BYTES
    pids, sizes = pids[is_write], sizes[is_write].astype(np.int64)
    totals = {int(pid): int(sizes[pids == pid].sum()) for pid in np.unique(pids)}
    most = max(totals, key=lambda pid: totals[pid], default=0)
    if totals.get(most, 0) < _HEAVY_BYTES:
        return 0
    own = np.sort(sizes[pids == most])[::-1]
    return int(own[np.searchsorted(np.cumsum(own), totals[most] / 2)])


def _syncs(trace: tracecmd.TraceFile, who: str) -> bool:
    """Whether a task, in a recorder's words, called fsync() or the like."""
    task = _TASK.fullmatch(who)
    if not task:
        return False
    return any(bool((trace.events(name).pid == int(task[1])).any()) for name in _SYNCS if name in trace.names)


def _at_once(trace: tracecmd.TraceFile) -> Iterator[tuple[str, int]]:
    """Yield the most requests that each disk had at once; of those that had one, only if two or more waited for it."""
    if not {_INSERT, _ISSUE, _COMPLETE} <= set(trace.names):
        return
    found = {name: trace.events(name) for name in (_INSERT, _ISSUE, _COMPLETE)}
    for device in np.unique(found[_ISSUE]["dev"]).tolist():
        times = {name: np.asarray(events.ts_ns)[events["dev"] == device] for name, events in found.items()}
        most = _most(times[_ISSUE], times[_COMPLETE])
        if most > 1 or (most == 1 and _most(times[_INSERT], times[_ISSUE]) > 1):
            yield f"{device >> _MINOR_BITS}:{device & (1 << _MINOR_BITS) - 1}", most


def _most(begins: Numbers, ends: Numbers) -> int:
    """Return how many things were under way at most, by the times at which some begin and some end; ends go first."""
    steps = np.concatenate([np.ones(len(begins), np.int64), -np.ones(len(ends), np.int64)])
    order = np.lexsort((steps, np.concatenate([begins, ends])))
    under_way = np.concatenate([[0], np.cumsum(steps[order])])
    return int(under_way.max() - under_way.min())
