"""For whom a flusher wrote, where the kernel does not say of which file a bio is: a stock kernel's trace.

A flusher says when it begins to write a file and when it has. What it hands over in between is of that file, and tasks
say of which file they dirty a page. So the bytes are of whoever dirtied the file's pages, where that was one program.
"""

from collections import Counter

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd.sequence import Sequence

from wblab.data.names import event_name

Numbers = NDArray[np.int64]
File = tuple[str, int]  # a bdi's name in events, and an inode

_BEGIN, _END, _DIRTIED = "writeback_single_inode_start", "writeback_single_inode", "writeback_dirty_folio"
NOBODY, UNTOLD = -1, -2
_MINOR_BITS = 20  # include/linux/kdev_t.h
_NEARLY_ALL = 0.95  # of a file's pages that the trace saw becoming dirty


def flushed(trace: tracecmd.TraceFile, sequence: Sequence, pid: Numbers, rank: Numbers) -> tuple[Numbers, Numbers]:
    """Return of each bio, by who handed it over and its place, of which inode it is, and who dirtied that.

    The inode is 0, and the task UNTOLD, where that is not known; NOBODY of pages of a device itself.
    """
    files, row = _files(trace, sequence, pid, rank)
    writers = _writers(trace)
    inodes = np.array([inode for _, inode in files] + [0], np.int64)
    owned = [NOBODY if _is_device(file) else writers.get(file, UNTOLD) for file in files]
    owners = np.array([*owned, UNTOLD], np.int64)
    return inodes[row], owners[row]


def _files(trace: tracecmd.TraceFile, sequence: Sequence, pid: Numbers, rank: Numbers) -> tuple[list[File], Numbers]:
    """Return files, and of each bio which of them its task was writing then; -1 of none."""
    if _BEGIN not in trace.names:
        return [], np.full(len(pid), -1)
    begins = trace.events(_BEGIN)
    known = list(zip(begins["name"].tolist(), begins["ino"].tolist(), strict=True))
    files = list(dict.fromkeys(known))
    number = {file: at for at, file in enumerate(files)}
    parts = [(begins.pid, sequence.ranks(begins), np.array([number[file] for file in known]))]
    if _END in trace.names:
        ends = trace.events(_END)
        parts.append((ends.pid, sequence.ranks(ends), np.full(len(ends), -1)))
    who, at, which = (np.concatenate(column).astype(np.int64) for column in zip(*parts, strict=True))
    order = np.lexsort((at, who))
    scale = int(max(at.max(initial=0), rank.max(initial=0))) + 1
    before = np.searchsorted(who[order] * scale + at[order], pid * scale + rank) - 1
    inside = np.maximum(before, 0)
    is_known = (before >= 0) & (who[order][inside] == pid)
    return files, np.where(is_known, which[order][inside], -1)


def _writers(trace: tracecmd.TraceFile) -> dict[File, int]:
    """Return who dirtied the pages of each file, nearly all of them; of a program with several tasks the busiest."""
    if (name := event_name(trace, _DIRTIED)) not in trace.names or name is None:
        return {}
    events = trace.events(name)
    by_file: dict[File, Counter[int]] = {}
    for bdi, inode, pid in zip(events["name"].tolist(), events["ino"].tolist(), events.pid.tolist(), strict=True):
        by_file.setdefault((bdi, inode), Counter())[pid] += 1
    return {file: _writer(trace, pages) for file, pages in by_file.items()}


def _is_device(file: File) -> bool:
    """Whether it is no file, but the pages of a device itself, where its filesystem has its metadata."""
    bdi, inode = file
    major, _, minor = bdi.partition(":")
    return (major + minor).isdecimal() and inode == int(major) << _MINOR_BITS | int(minor)


def _writer(trace: tracecmd.TraceFile, pages: Counter[int]) -> int:
    programs: Counter[str] = Counter()
    for pid, count in pages.items():
        programs[trace.comms.get(pid, str(pid))] += count
    program, most = programs.most_common(1)[0]
    if most < _NEARLY_ALL * pages.total():
        return UNTOLD
    return next(pid for pid, _ in pages.most_common() if trace.comms.get(pid, str(pid)) == program)
