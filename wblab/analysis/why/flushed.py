"""Attribution of a flusher's I/O on stock kernels, whose trace does not name the file of a bio.

Events mark when a flusher begins and ends writing a file: bios submitted in between belong to that file. Other events
name the file whose page a task dirties. So the bytes belong to the program that dirtied the file's pages, if only one
did.
"""

from collections import Counter

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd.sequence import Sequence

from wblab.analysis.runs.folios import pages_of
from wblab.analysis.runs.names import event_name
from wblab.analysis.why.tasks import Tasks

Numbers = NDArray[np.int64]
File = tuple[str, int]  # name of a bdi in events, inode

_BEGIN, _END, _DIRTIED = "writeback_single_inode_start", "writeback_single_inode", "writeback_dirty_folio"
NOBODY, UNKNOWN_OWNER = -1, -2
_MINOR_BITS = 20  # include/linux/kdev_t.h
_NEARLY_ALL = 0.95  # of a file's pages whose dirtying was traced


def flushed(
    trace: tracecmd.TraceFile, sequence: Sequence, tasks: Tasks, pid: Numbers, rank: Numbers
) -> tuple[Numbers, Numbers]:
    """Return for each bio, given by submitter and place in the trace, its inode and the task that dirtied it.

    If unknown, the inode is 0 and the task UNKNOWN_OWNER. For pages of a device itself the task is NOBODY.
    """
    files, row = _files(trace, sequence, tasks, pid, rank)
    writers = _writers(trace, sequence, tasks)
    inodes = np.array([inode for _, inode in files] + [0], np.int64)
    owned = [NOBODY if _is_device(file) else writers.get(file, UNKNOWN_OWNER) for file in files]
    owners = np.array([*owned, UNKNOWN_OWNER], np.int64)
    return inodes[row], owners[row]


def written_again(  # noqa: PLR0913, PLR0917 - columns
    trace: tracecmd.TraceFile, sequence: Sequence, tasks: Tasks, dirtied: tracecmd.Events, pid: Numbers, rank: Numbers
) -> "NDArray[np.bool_]":
    """Whether a flusher dirtied a folio of the file that it was writing: no new data, but what it could not write yet.

    ext4 does so with data=journal, again and again until the commit is on the disk (fs/ext4/inode.c,
    mpage_prepare_extent_to_map).
    """
    files, row = _files(trace, sequence, tasks, pid, rank)
    if not files:
        return np.zeros(len(pid), bool)
    bdis, inodes = (np.array(column, object) for column in zip(*files, strict=True))
    same = (bdis[row] == dirtied["name"].astype(object)) & (inodes[row] == dirtied["ino"].astype(np.int64))
    return np.asarray((row >= 0) & same, bool)


def _files(
    trace: tracecmd.TraceFile, sequence: Sequence, tasks: Tasks, pid: Numbers, rank: Numbers
) -> tuple[list[File], Numbers]:
    """Return files, and for each bio the file that its task was writing then; -1 for none."""
    if _BEGIN not in trace.names:
        return [], np.full(len(pid), -1)
    begins = trace.events(_BEGIN)
    known = list(zip(begins["name"].tolist(), begins["ino"].tolist(), strict=True))
    files = list(dict.fromkeys(known))
    number = {file: at for at, file in enumerate(files)}
    at = sequence.ranks(begins)
    parts = [(tasks.lives.keys(begins.pid, at), at, np.array([number[file] for file in known]))]
    if _END in trace.names:
        ends = trace.events(_END)
        at = sequence.ranks(ends)
        parts.append((tasks.lives.keys(ends.pid, at), at, np.full(len(ends), -1)))
    who, at, which = (np.concatenate(column).astype(np.int64) for column in zip(*parts, strict=True))
    order = np.lexsort((at, who))
    scale = int(max(at.max(initial=0), rank.max(initial=0))) + 1
    before = np.searchsorted(who[order] * scale + at[order], pid * scale + rank) - 1
    inside = np.maximum(before, 0)
    is_known = (before >= 0) & (who[order][inside] == pid)
    return files, np.where(is_known, which[order][inside], -1)


def _writers(trace: tracecmd.TraceFile, sequence: Sequence, tasks: Tasks) -> dict[File, int]:
    """Return the load or program that dirtied nearly all pages of each file; if it has several tasks, the busiest."""
    return {file: _writer(tasks, pages) for file, pages in _dirtied(trace, sequence, tasks).items()}


def writer_to(trace: tracecmd.TraceFile, sequence: Sequence, tasks: Tasks, bdi: str) -> int:
    """Return the program that dirtied nearly all pages of a device's files, as its busiest task; or UNKNOWN_OWNER."""
    pages = Counter[int]()
    for file, own in _dirtied(trace, sequence, tasks).items():
        if file[0] == bdi and not _is_device(file):
            pages += own
    return _writer(tasks, pages) if pages else UNKNOWN_OWNER


def _dirtied(trace: tracecmd.TraceFile, sequence: Sequence, tasks: Tasks) -> dict[File, Counter[int]]:
    """Return how many pages of each file each task dirtied, without what a flusher dirtied again."""
    if (name := event_name(trace, _DIRTIED)) not in trace.names or name is None:
        return {}
    events = trace.events(name)
    at = sequence.ranks(events)
    keys = tasks.lives.keys(events.pid, at)
    counts = np.where(written_again(trace, sequence, tasks, events, keys, at), 0, pages_of(trace, sequence, events))
    found: dict[File, Counter[int]] = {}
    rows = zip(events["name"].tolist(), events["ino"].tolist(), keys.tolist(), counts.tolist(), strict=True)
    for bdi, inode, key, count in rows:
        if count:
            found.setdefault((bdi, inode), Counter())[key] += count
    return found


def _is_device(file: File) -> bool:
    """Whether it is not a file but a device's own pages, where its filesystem keeps metadata."""
    bdi, inode = file
    major, _, minor = bdi.partition(":")
    return (major + minor).isdecimal() and inode == int(major) << _MINOR_BITS | int(minor)


def _writer(tasks: Tasks, pages: Counter[int]) -> int:
    whole: Counter[str] = Counter()
    for key, count in pages.items():
        whole[tasks.whole(key)] += count
    name, most = whole.most_common(1)[0]
    if most < _NEARLY_ALL * pages.total():
        return UNKNOWN_OWNER
    return next(key for key, _ in pages.most_common() if tasks.whole(key) == name)
