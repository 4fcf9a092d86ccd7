"""Attribution of a loop device's I/O: its worker's writes to the file belong to the writers of the loop device."""

import re

import numpy as np
import tracecmd
from numpy.typing import NDArray

from wblab.analysis.runs.places import SECTORS_OF_PAGE, previous, same
from wblab.analysis.why.offcpu import switched_names

# Devices of bdis that events name: a device's own number or, for btrfs, a name that says nothing of its device.

Numbers = NDArray[np.int64]

NONE = -1
_BTRFS = re.compile(r"btrfs-\d{1,9}")
_TREES = 1  # include/uapi/linux/btrfs_tree.h: the inode of the filesystem's own blocks


def with_btrfs(
    events: tracecmd.Events, device: Numbers, pages: tuple[Numbers, Numbers, Numbers]
) -> tuple[Numbers, Numbers]:
    """Return the devices of events, also of those that name a bdi of btrfs; and which of them are a file's.

    device: as far as the names say it. pages: device, inode and index of the pages that were written: the device to
    which most of a btrfs's pages were written is its own.
    """
    texts, inode, index = events["name"], events["ino"].astype(np.int64), events["index"].astype(np.int64)
    named = [name for name in dict.fromkeys(texts.tolist()) if _BTRFS.fullmatch(name)]
    device, of_file = device.copy(), inode != device
    for name in named:
        rows = np.flatnonzero(texts == name)
        key, known = same(pages[1:], (inode[rows], index[rows]))
        found, counts = np.unique(pages[0][(pages[1] > _TREES) & np.isin(key, known)], return_counts=True)
        if len(found):
            device[rows] = found[np.argmax(counts)]
            of_file[rows] = inode[rows] > _TREES
    return device, of_file


LOOP = 7  # include/uapi/linux/major.h
_WORKERS = ("kworker/", "loop")  # drivers/block/loop.c; a thread of its own before Linux 5.12


def through_loops(  # noqa: PLR0913, PLR0917 - columns
    trace: tracecmd.TraceFile,
    pieces: tuple[Numbers, Numbers, Numbers, Numbers],
    inode: Numbers,
    owner: Numbers,
    submitter: Numbers,
    minor_bits: int,
) -> tuple[Numbers, Numbers]:
    """Return the owners and submitters of written pieces; for a page that a worker dirtied, those of the device's page.

    So for a page of the same file that nobody is known to have dirtied: a worker did, while its folio was dirty since
    before the trace began. pieces: device, sector, page of the file, and place in the trace; inode: of the file, 0 if
    unknown. A page of the file corresponds to a page of the loop device; with several loop devices, to the one where
    that page was written last.
    """
    device, _, page, rank = pieces
    file, of_worker = same((device, inode), (device[:0], inode[:0]))[0], np.isin(owner, _workers(trace))
    of_same = (owner == NONE) & (inode > 0) & np.isin(file, np.unique(file[of_worker]))
    carried = np.flatnonzero((device >> minor_bits != LOOP) & (of_worker | of_same))
    last = _above(pieces, page[carried], rank[carried], minor_bits)
    carried, last = carried[last >= 0], last[last >= 0]
    owner, submitter = owner.copy(), submitter.copy()
    owner[carried], submitter[carried] = owner[last], submitter[last]
    return owner, submitter


def around_cache(  # noqa: PLR0913, PLR0917 - columns
    pieces: tuple[Numbers, Numbers, Numbers, Numbers],
    inode: Numbers,
    is_synced: NDArray[np.bool_],
    done: Numbers,
    owner: Numbers,
    submitter: Numbers,
    minor_bits: int,
) -> tuple[Numbers, Numbers]:
    """Return the owners and submitters of written pieces; for a loop with direct I/O, those of the device's piece.

    Its worker hands the very pages of the filesystem above to the disk below, while the request of the loop device
    waits for that. pieces: as in `through_loops`; inode: of the file, 0 if unknown; is_synced: whether the write is
    synchronous, as direct I/O is; done: the place in the trace at which each piece was completed.
    """
    device, _, page, rank = pieces
    is_loop = device >> minor_bits == LOOP
    looped, below = np.flatnonzero(is_loop & (inode > 0)), np.flatnonzero(~is_loop & is_synced & (inode > 0))
    key, known = same((inode[below], page[below]), (inode[looped], page[looped]))
    last = previous(key, rank[below], known, rank[looped])
    below, above = below[last >= 0], looped[last[last >= 0]]
    under_way = done[above] > rank[below]
    below, above = below[under_way], above[under_way]
    owner, submitter = owner.copy(), submitter.copy()
    owner[below], submitter[below] = owner[above], submitter[above]
    return owner, submitter


def dirtied_through_loops(
    trace: tracecmd.TraceFile,
    pieces: tuple[Numbers, Numbers, Numbers, Numbers],
    whose: Numbers,
    dirtied: tuple[Numbers, Numbers, Numbers],
    minor_bits: int,
) -> Numbers:
    """Return who dirtied pages of files; for a page that a worker dirtied, who had written the loop device's page.

    whose: of each piece, which are as in `through_loops`; dirtied: the task, page of the file and place in the trace.
    """
    pid, page, rank = dirtied
    carried = np.flatnonzero(np.isin(pid, _workers(trace)))
    last = _above(pieces, page[carried], rank[carried], minor_bits)
    pid = pid.copy()
    pid[carried[last >= 0]] = whose[last[last >= 0]]
    return pid


def _workers(trace: tracecmd.TraceFile) -> list[int]:
    names = {**switched_names(trace), **trace.comms}
    return [pid for pid, name in names.items() if name.startswith(_WORKERS)]


def _above(pieces: tuple[Numbers, Numbers, Numbers, Numbers], page: Numbers, rank: Numbers, minor_bits: int) -> Numbers:
    """Return for each page of a file the last piece before it of that page of a loop device; -1 if there is none."""
    device, sector, _, ranks = pieces
    looped = np.flatnonzero(device >> minor_bits == LOOP)
    if not len(looped):
        return np.full(len(page), -1)
    key, known = same((page,), (sector[looped] // SECTORS_OF_PAGE,))
    last = previous(key, rank, known, ranks[looped])
    return np.where(last >= 0, looped[last], -1)
