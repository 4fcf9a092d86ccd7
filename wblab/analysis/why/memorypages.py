"""Pages that programs take and lose: their own, those swapped out, and those that they add to the page cache.

The kernel counts the pages of each program's memory (the event rss_stat, since Linux 5.5), and changes the counts when
it unmaps a page, just before it writes that to swap. So what a task writes to swap is of the program of which it last
unmapped a page: whether the task is kswapd, or a program that needs memory itself.
"""

from dataclasses import dataclass

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd.sequence import Sequence

from wblab.analysis.runs.places import NEVER, PAGE, next_rank, next_row, previous, same
from wblab.analysis.why.flushed import NOBODY
from wblab.analysis.why.tasks import Tasks

COUNTED, CACHED = "rss_stat", "mm_filemap_add_to_page_cache"
_DROPPED = "mm_filemap_delete_from_page_cache"
_MOST_ORDER = 20  # 4 GiB: more than any folio has
_OWN, _SWAPPED = 1, 2  # MM_ANONPAGES and MM_SWAPENTS, include/linux/mm_types_task.h

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Pages:
    """Changes of what programs have: the place of each in the trace, whose it is (a key of tasks), and the bytes.

    by: the pid of the task that changed it. owner: NOBODY if unknown.
    """

    rank: Numbers
    owner: Numbers
    size: Numbers
    by: Numbers

    def of(self, chosen: NDArray[np.bool_]) -> "Pages":
        """Return some of them."""
        return Pages(self.rank[chosen], self.owner[chosen], self.size[chosen], self.by[chosen])


_NONE = Pages(*[np.zeros(0, np.int64)] * 4)


def own_pages(trace: tracecmd.TraceFile, sequence: Sequence, tasks: Tasks) -> tuple[Pages, Pages]:
    """Return the changes of programs' own memory, and of what is swapped out of it. Raises TraceError."""
    if COUNTED not in trace.names:
        return _NONE, _NONE
    events = trace.events(COUNTED)
    rank, by = sequence.ranks(events), events.pid.astype(np.int64)
    memory, member, size = (events[name].astype(np.int64) for name in ("mm_id", "member", "size"))
    # Only a program that changes its own memory says whose it is; a later program may have its place.
    known = events["curr"].astype(np.int64) > 0
    keys, at = tasks.lives.keys(by[known], rank[known]), rank[known]
    last, later = previous(memory, rank + 1, memory[known], at), next_row(memory, rank, memory[known], at)
    owner = np.append(keys, NOBODY)[np.where(last >= 0, last, later)]
    found = []
    for which in (_OWN, _SWAPPED):
        rows = np.flatnonzero(member == which)
        before = previous(memory[rows], rank[rows], memory[rows], rank[rows])
        change = size[rows] - np.append(size[rows], 0)[before]
        is_first = (before < 0) & (which == _OWN)  # it had these before the trace began
        found.append(Pages(rank[rows], owner[rows], np.where(is_first, 0, change), by[rows]))
    return found[0], found[1]


def cached_pages(trace: tracecmd.TraceFile, sequence: Sequence, tasks: Tasks) -> tuple[Pages, Numbers]:
    """Return what tasks added to the page cache, and where in the trace each left it, or NEVER. Raises TraceError."""
    if CACHED not in trace.names:
        return _NONE, np.zeros(0, np.int64)
    events = trace.events(CACHED)
    rank, by = sequence.ranks(events), events.pid.astype(np.int64)
    order = events["order"].astype(np.int64) if "order" in events else np.zeros(len(rank), np.int64)
    found = Pages(rank, tasks.lives.keys(by, rank), np.left_shift(PAGE, np.clip(order, 0, _MOST_ORDER)), by)
    if _DROPPED not in trace.names:
        return found, np.full(len(rank), NEVER)
    gone = trace.events(_DROPPED)
    columns = ([table[name].astype(np.int64) for name in ("s_dev", "i_ino", "index")] for table in (events, gone))
    key, known = same(*(tuple(each) for each in columns))
    return found, next_rank(key, rank, known, sequence.ranks(gone))


def swap_owners(swapped: Pages, pid: Numbers, rank: Numbers, is_data: NDArray[np.bool_]) -> Numbers:
    """Return of which program the memory is that each bio writes to swap; NOBODY if it does not.

    pid, rank: of all bios, who submitted them and where in the trace. is_data: whether they write and name no file.
    """
    out = swapped.of(swapped.size > 0)
    last = previous(pid, rank, out.by, out.rank)
    before = np.append(rank, -1)[previous(pid, rank, pid, rank)]  # the same task's bio before it
    is_swap = is_data & (last >= 0) & (np.append(out.rank, -1)[last] > before)
    return np.where(is_swap, np.append(out.owner, NOBODY)[last], NOBODY)
