"""Why a flusher wrote what was ahead of a load: the background limit was passed, and by whom, or who called sync.

A flusher's work for that limit writes every file of its disk, whoever dirtied it (fs/fs-writeback.c: wb_writeback). So
the program that passes the limit can stall a load whose own data, or a third one's, are then ahead in the queue.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd import TraceError

from wblab.analysis.runs.places import previous
from wblab.analysis.why.flushed import NOBODY
from wblab.analysis.why.parties import Parties, together
from wblab.analysis.why.recorded import Recorded
from wblab.core.units import Bytes

_BEGAN, _STATE = "writeback_start", "global_dirty_state"
_FOR_LIMIT, _IS_SYNC = "for_background", "sync_mode"
_REASON, _FOR_SYNC = "reason", 2  # WB_REASON_SYNC
_DONTCACHE = "dontcache"  # its number was another reason's before Linux 7.2 (e1bf79628453)
_IN_SYNC = frozenset(("ksys_sync", "sys_sync", "sync_filesystem", "sync_inodes_sb"))
_AT_ONCE_NS = 1_000_000
_BTRFS = "btrfs-"  # the begin of the names of its bdis

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Background:
    """A flusher's work for the background limit. limit: in bytes. dirty: the bytes dirty when it began, by whom."""

    limit: Bytes
    dirty: Mapping[str, Bytes]

    @property
    def needed(self) -> tuple[str, ...]:
        """Those who dirtied most of it, each of whom was needed to pass the limit; empty if others are enough."""
        whole = sum(self.dirty.values())
        return tuple(name for name in together(self.dirty) if whole - self.dirty[name] < self.limit)

    @property
    def named(self) -> tuple[str, ...]:
        """Those without whom the limit would not have been passed: the fewest."""
        if self.needed:
            return self.needed
        found = list[str]()
        left = int(sum(self.dirty.values()))
        for name, size in sorted(self.dirty.items(), key=lambda each: -each[1]):
            if left < self.limit:
                break
            left -= size
            found.append(name)
        return tuple(found)


@dataclass(frozen=True)
class _Works:
    """What flushers began to do, in order: their tasks, the places in the trace, and 1 if for the background limit.

    of_btrfs: 1 for those of btrfs that no program waits for. is_sync: 1 for those that sync or syncfs asked for.
    is_kicked: 1 for those that a write with RWF_DONTCACHE began.
    """

    task: Numbers
    rank: Numbers
    is_background: Numbers
    of_btrfs: Numbers
    is_sync: Numbers
    is_kicked: Numbers

    def begun(self, task: Numbers, rank: Numbers) -> Numbers:
        """Return the last work that each task had begun before a place in the trace; -1 if none."""
        return previous(task, rank, self.task, self.rank)

    def begun_by_btrfs(self, rank: Numbers) -> Numbers:
        """Return the last work of btrfs that no program waits for, begun before each place; -1 if none."""
        rows = np.flatnonzero(self.of_btrfs)
        return np.append(rows, NOBODY)[np.searchsorted(self.rank[rows], rank) - 1 if len(rows) else -1]


def background_of(
    recorded: Recorded, parties: Parties, device: int, span: tuple[int, int], *, is_btrfs: bool
) -> Background | None:
    """Return the work for the background limit that most data were written for that a device completed in a span.

    span: two places in the trace. is_btrfs: other workers submit what its flusher writes, and a program itself what it
    waits for (fs/btrfs/bio.c: should_async_write). None if most were written for something else, if that is not known,
    or if the limit was not passed: then the disk's share of it was.
    """
    works = recorded.once("flushers' works", lambda: _works(recorded))
    most = _most(recorded, works, works.is_background, device, span, is_btrfs=is_btrfs)
    return (
        recorded.once(("background", most), lambda: _begun(recorded, parties, int(works.rank[most])))
        if most >= 0
        else None
    )


def sync_callers(recorded: Recorded, parties: Parties, device: int, span: tuple[int, int]) -> tuple[str, ...]:
    """Return who waited in sync or syncfs when the work began that most data were written for that a device completed.

    span: two places in the trace. Empty if most were written for something else.
    """
    works = recorded.once("flushers' works", lambda: _works(recorded))
    most = _most(recorded, works, works.is_sync, device, span, is_btrfs=False)
    if most < 0:
        return ()
    chosen = [at for at, stack in enumerate(recorded.stacks.known) if not _IN_SYNC.isdisjoint(stack)]
    spans, begun_ns = recorded.offcpu, int(recorded.sequence.ts_ns[works.rank[most]])
    waits = np.isin(spans.stack, chosen) & (spans.ts_ns <= begun_ns + _AT_ONCE_NS) & (spans.woken_ns >= begun_ns)
    rows = np.flatnonzero(waits).tolist()
    names = (parties.owner(recorded.tasks.lives.key(int(spans.pid[row]), int(spans.rank[row]))) for row in rows)
    return tuple(dict.fromkeys(names))


def is_kicked(recorded: Recorded, device: int, span: tuple[int, int]) -> bool:
    """Whether most data that a device completed in a span were written because of a write with RWF_DONTCACHE.

    Such a write makes the flusher write, and that takes each file of the disk in turn, whoever dirtied it
    (mm/filemap.c: filemap_dontcache_kick_writeback). span: two places in the trace.
    """
    works = recorded.once("flushers' works", lambda: _works(recorded))
    return _most(recorded, works, works.is_kicked, device, span, is_btrfs=False) >= 0


def limit_fell(recorded: Recorded, begun: int, rank: int) -> bool:
    """Whether the background limit at a place in the trace is less than half of what it was at an earlier one.

    It is a share of the memory that is free or in the page cache, as the dirty limit is.
    """
    ranks, limits, _ = recorded.once("background limits", lambda: _limits(recorded))
    first, last = (int(at) for at in np.searchsorted(ranks, [begun, rank]))
    return first < last and bool(2 * limits[last - 1] < limits[first])


def _most(  # noqa: PLR0913 - a question on the data of one disk
    recorded: Recorded, works: _Works, kind: Numbers, device: int, span: tuple[int, int], *, is_btrfs: bool
) -> int:
    """Return the work of a kind for which most data were written that a device completed; -1 for less than half."""
    moved = recorded.moved
    first, last = np.searchsorted(moved.done_rank, span, side="right").tolist()
    rows = first + np.flatnonzero((moved.device[first:last] == device) & (moved.is_read[first:last] == 0))
    if not len(works.rank) or not len(rows):
        return NOBODY
    task, rank, size = moved.submitter[rows], moved.rank[rows], moved.size[rows]
    at = works.begun_by_btrfs(rank) if is_btrfs else works.begun(task, rank)
    chosen = (at >= 0) & (kind[at] > 0) & (task != moved.owner[rows])
    if 2 * int(size[chosen].sum()) <= int(size.sum()):
        return NOBODY
    which, place = np.unique(at[chosen], return_inverse=True)
    return int(which[np.argmax(np.bincount(place, size[chosen]))])


def _works(recorded: Recorded) -> _Works:
    if _BEGAN not in recorded.trace.names:
        return _Works(*[np.zeros(0, np.int64)] * 6)
    events = recorded.trace.events(_BEGAN)
    if _FOR_LIMIT not in events or _IS_SYNC not in events:
        return _Works(*[np.zeros(0, np.int64)] * 6)
    rank = recorded.sequence.ranks(events)
    order = np.argsort(rank)
    is_background = events[_FOR_LIMIT].astype(np.int64)
    of_btrfs = np.array([str(name).startswith(_BTRFS) for name in events["name"].tolist()], bool)
    of_btrfs &= events[_IS_SYNC].astype(np.int64) == 0
    keys = recorded.tasks.lives.keys(events.pid, rank)
    is_sync = (events[_REASON].astype(np.int64) == _FOR_SYNC) if _REASON in events else np.zeros(len(rank), bool)
    others = (of_btrfs, is_sync, _kicks(events))
    return _Works(keys[order], rank[order], is_background[order], *(each[order].astype(np.int64) for each in others))


def _kicks(events: tracecmd.Events) -> "NDArray[np.bool_]":
    """Return which works a write with RWF_DONTCACHE began; none where the trace does not name its reason."""
    try:
        return np.array(events.decode(_REASON) == _DONTCACHE, bool)
    except (KeyError, TraceError):
        return np.zeros(len(events), bool)


def _begun(recorded: Recorded, parties: Parties, rank: int) -> Background | None:
    """Return the work for the background limit that began at a place in the trace; None if that was not passed."""
    limit = _passed(recorded, rank)
    if not limit:
        return None
    moved, dirty = recorded.moved, Counter[str]()
    for task, size in recorded.dirtied.at(rank)[0].items():
        dirty[parties.owner(task)] += size
    under_way = np.flatnonzero((moved.rank < rank) & (moved.done_rank > rank) & (moved.owner >= 0))
    tasks, which = np.unique(moved.owner[under_way], return_inverse=True)
    for task, size in zip(tasks.tolist(), np.bincount(which, moved.size[under_way], len(tasks)).tolist(), strict=True):
        dirty[parties.owner(task)] -= round(size)  # the limit does not count what is being written
    return Background(limit, {name: Bytes(size) for name, size in dirty.most_common() if size > 0})


def _passed(recorded: Recorded, rank: int) -> Bytes:
    """Return the background limit as the kernel last computed it before a place in the trace; 0 if less was dirty."""
    ranks, limits, dirty = recorded.once("background limits", lambda: _limits(recorded))
    last = int(np.searchsorted(ranks, rank)) - 1
    return Bytes(int(limits[last]) if last >= 0 and dirty[last] > limits[last] else 0)


def _limits(recorded: Recorded) -> tuple[Numbers, Numbers, Numbers]:
    """Return the places in the trace at which the kernel computed the background limit, it, and what was dirty."""
    if _STATE not in recorded.trace.names:
        return (np.zeros(0, np.int64),) * 3
    events = recorded.trace.events(_STATE)
    ranks, page = recorded.sequence.ranks(events), recorded.trace.info.page_bytes
    order = np.argsort(ranks)
    limits, dirty = (events[name].astype(np.int64)[order] * page for name in ("background_thresh", "nr_dirty"))
    return ranks[order], limits, dirty
