"""Whose bytes a disk was done with, and when: from who dirtied a page, over its bio, to the end of the request."""

import re
from dataclasses import dataclass

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd import TraceError
from tracecmd.sequence import Sequence

from wblab.core.units import Bytes
from wblab.data.names import event_name

Numbers = NDArray[np.int64]

# The first is the lab's own, which says whose page a bio is of; all kernels have the second.
_SUBMITTED, COMPLETED, DIRTIED = ("block_bio_submit", "block_bio_queue"), "block_rq_complete", "writeback_dirty_folio"
_SECTOR, _PAGE = 512, 4096
_SECTORS_OF_PAGE = _PAGE // _SECTOR
_MINOR_BITS = 20  # include/linux/kdev_t.h
NOBODY, UNTOLD = -1, -2
_MOST_PIECES = 1 << 27  # 512 GiB by pages
NEVER = int(np.iinfo(np.int64).max)
_DEVICE = re.compile(r"\d{1,4}:\d{1,8}")


@dataclass(frozen=True)
class Written:
    """What disks had to write, page by page or less, in the order in which they were done with it.

    size: bytes. owner: the task that dirtied the page; NOBODY where none did, as of what a filesystem writes for
    itself, UNTOLD where the kernel does not say of which file a bio is. submitter: the task that handed it over. rank,
    done_rank: the places of these two events in the trace; what was never done has the largest number there. inode: of
    the page's file; 0 where it is not known.
    """

    rank: Numbers
    ts_ns: Numbers
    device: Numbers
    size: Numbers
    owner: Numbers
    submitter: Numbers
    inode: Numbers
    done_rank: Numbers

    def ahead(self, device: int, after_rank: int, until_rank: int) -> "dict[tuple[int, int], Bytes]":
        """Return how many bytes a device was done with between two places, by owner and submitter, the most first."""
        first, last = np.searchsorted(self.done_rank, [after_rank, until_rank], side="right").tolist()
        rows = slice(first, last)
        own = self.device[rows] == device
        return _summed(self.owner[rows][own], self.submitter[rows][own], self.size[rows][own])


@dataclass(frozen=True)
class Done:
    """Requests that disks were done with: block_rq_complete, in order. first_rank: when the first bio of it came."""

    rank: Numbers
    ts_ns: Numbers
    device: Numbers
    sector: Numbers
    size: Numbers
    first_rank: Numbers
    first_ns: Numbers
    cpu: Numbers

    def before(self, rank: int, cpu: int) -> int:
        """Return the row of the last request that ended on a processor before a place in the trace; -1 for none."""
        rows = np.flatnonzero(self.cpu[: np.searchsorted(self.rank, rank)] == cpu)
        return int(rows[-1]) if len(rows) else -1


@dataclass(frozen=True)
class Dirtied:
    """Pages of files that became dirty, in order; by whom, and where in the trace the disk had them: NEVER if not."""

    rank: Numbers
    pid: Numbers
    clean_rank: Numbers

    def at(self, rank: int) -> dict[int, Bytes]:
        """Return how many bytes were dirty, or being written, at a place in the trace, by who dirtied them."""
        rows = (self.rank < rank) & (self.clean_rank > rank)
        pids, counts = np.unique(self.pid[rows], return_counts=True)
        found = zip(pids.tolist(), counts.tolist(), strict=True)
        return {pid: Bytes(count * _PAGE) for pid, count in sorted(found, key=lambda item: -item[1])}


def submitted(trace: tracecmd.TraceFile) -> str | None:
    """Return the event with which bios are handed to the block layer; None where it was not traced."""
    return next((name for name in _SUBMITTED if name in trace.names), None)


def read_requests(trace: tracecmd.TraceFile, sequence: Sequence) -> tuple[Written, Done, Dirtied]:
    """Return what was written, the requests that disks were done with, and what was dirty.

    All are empty without the events of requests.
    """
    handed = submitted(trace)
    if handed is None or COMPLETED not in trace.names:
        nothing = np.zeros(0, np.int64)
        return Written(*[nothing] * 8), Done(*[nothing] * 8), Dirtied(*[nothing] * 3)
    bios, ends = trace.events(handed), trace.events(COMPLETED)
    bio_rank, end_rank = sequence.ranks(bios), sequence.ranks(ends)
    unit = _unit(bios, ends)
    bio, sector = _pieces(bios, unit)
    end, end_sector = _pieces(ends, unit)
    device, end_device = bios["dev"].astype(np.int64), ends["dev"].astype(np.int64)
    place, end_place = _same((device[bio], sector), (end_device[end], end_sector))
    done = _next(place, bio_rank[bio], end_place, end_rank[end])
    requests = _done(ends, end_rank, bios, bio_rank, bio, done)
    texts = bios["rwbs"].tolist()
    kept = np.array(["W" in text for text in texts], bool)[bio]
    bio, sector, done = bio[kept], sector[kept], done[kept]
    if "ino" in bios:
        inode = bios["ino"].astype(np.int64)[bio]
        page = bios["index"].astype(np.int64)[bio] + (sector - bios["sector"].astype(np.int64)[bio]) // _SECTORS_OF_PAGE
        dirtied, owner = _dirtied(trace, sequence, (device[bio], inode, page), bio_rank[bio], done)
    else:
        inode, owner = np.zeros(len(bio), np.int64), np.full(len(bio), UNTOLD)
        dirtied = Dirtied(*[np.zeros(0, np.int64)] * 3)
    order = np.argsort(done, kind="stable")
    bio = bio[order]
    written = Written(
        rank=bio_rank[bio],
        ts_ns=bios.ts_ns[bio],
        device=device[bio],
        size=np.full(len(bio), unit * _SECTOR),
        owner=owner[order],
        submitter=bios.pid.astype(np.int64)[bio],
        inode=inode[order],
        done_rank=done[order],
    )
    return written, requests, dirtied


def device_number(name: str) -> int:
    """Return the number that events have for a device major:minor."""
    major, _, minor = name.partition(":")
    return int(major) << _MINOR_BITS | int(minor)


def device_numbers(events: tracecmd.Events) -> Numbers:
    """Return the devices that events name in words, as numbers; -1 where it is none."""
    texts = events["name"].tolist()
    numbers = {text: device_number(text) if _DEVICE.fullmatch(text) else NOBODY for text in set(texts)}
    return np.array([numbers[text] for text in texts], np.int64)


def _done(  # noqa: PLR0913, PLR0917 - columns
    ends: tracecmd.Events, end_rank: Numbers, bios: tracecmd.Events, rank: Numbers, bio: Numbers, done: Numbers
) -> Done:
    """Return the requests, with when the first bio of each was submitted."""
    known = done != NEVER
    which = np.searchsorted(end_rank, done[known])
    first = np.full(len(end_rank), len(rank))
    np.minimum.at(first, which, bio[known])
    missing = first == len(rank)
    first[missing] = 0
    return Done(
        rank=end_rank,
        ts_ns=ends.ts_ns,
        device=ends["dev"].astype(np.int64),
        sector=ends["sector"].astype(np.int64),
        size=ends["nr_sector"].astype(np.int64) * _SECTOR,
        first_rank=np.where(missing, NEVER, rank[first]),
        first_ns=np.where(missing, NEVER, bios.ts_ns[first]),
        cpu=ends.cpu.astype(np.int64),
    )


def _dirtied(
    trace: tracecmd.TraceFile,
    sequence: Sequence,
    pages: tuple[Numbers, Numbers, Numbers],
    rank: Numbers,
    done: Numbers,
) -> tuple[Dirtied, Numbers]:
    """Return the pages of files that became dirty, and who dirtied each of some pages (device, inode, index) last.

    rank, done: the places at which these were submitted, and done with. NOBODY where it is not known, or what the page
    belongs to is no file: pages of a device itself are a filesystem's.
    """
    name = event_name(trace, DIRTIED)
    if name not in trace.names:
        return Dirtied(*[np.zeros(0, np.int64)] * 3), np.full(len(rank), NOBODY)
    events = trace.events(name)
    device = device_numbers(events)
    inode, pid, at = events["ino"].astype(np.int64), events.pid.astype(np.int64), sequence.ranks(events)
    key, known = _same(pages, (device, inode, events["index"].astype(np.int64)))
    last = _previous(key, rank, known, at)
    of_file = (pages[1] != 0) & (pages[1] != pages[0])
    owner = np.where(of_file, np.append(pid, NOBODY)[last], NOBODY)
    rows = (inode != device) & (device != NOBODY)
    came = _next_row(known, at, key, rank)
    clean = np.append(done, NEVER)[came]
    return Dirtied(at[rows], pid[rows], clean[rows]), owner


def _unit(*tables: tracecmd.Events) -> int:
    """Return the largest number of sectors of which all begins and lengths are multiples, up to those of a page."""
    found = _SECTORS_OF_PAGE
    for table in tables:
        sector, count = (table[name].astype(np.int64) for name in ("sector", "nr_sector"))
        found = int(np.gcd.reduce(np.concatenate([[found], sector[count > 0], count])))  # a flush is of no sector
    return found


def _pieces(events: tracecmd.Events, unit: int) -> tuple[Numbers, Numbers]:
    """Return of each piece of `unit` sectors of some events which of them it is of, and its first sector."""
    count = events["nr_sector"].astype(np.int64) // unit
    if count.sum() > _MOST_PIECES:
        raise TraceError(f"the trace is damaged, or too long: {events.name} is of {count.sum()} pieces of a disk")
    event = np.repeat(np.arange(len(count)), count)
    within = np.arange(len(event)) - np.repeat(np.cumsum(count) - count, count)
    return event, events["sector"].astype(np.int64)[event] + unit * within


def _same(one: tuple[Numbers, ...], other: tuple[Numbers, ...]) -> tuple[Numbers, Numbers]:
    """Return a number for each row of two tables: the same where all columns are."""
    ids = np.zeros(len(one[0]) + len(other[0]), np.int64)
    for first, second in zip(one, other, strict=True):
        found, inverse = np.unique(np.concatenate([first, second]), return_inverse=True)
        ids = np.unique(ids * len(found) + inverse, return_inverse=True)[1]
    return ids[: len(one[0])], ids[len(one[0]) :]


def _next(key: Numbers, after: Numbers, known: Numbers, rank: Numbers) -> Numbers:
    """Return for each key the smallest `rank` above `after` among the known of the same key; NEVER where none is."""
    return np.append(rank, NEVER)[_next_row(key, after, known, rank)]


def _next_row(key: Numbers, after: Numbers, known: Numbers, rank: Numbers) -> Numbers:
    """Return for each key which of the known of the same key has the smallest `rank` above `after`; -1 where none."""
    order, at = _placed(key, after + 1, known, rank)
    if not len(order):
        return np.full(len(key), -1)
    inside = np.minimum(at, len(order) - 1)
    return np.where((at < len(order)) & (known[order[inside]] == key), order[inside], -1)


def _previous(key: Numbers, before: Numbers, known: Numbers, rank: Numbers) -> Numbers:
    """Return for each key which of the known of the same key has the largest `rank` below `before`; -1 where none."""
    order, at = _placed(key, before, known, rank)
    if not len(order):
        return np.full(len(key), -1)
    inside = np.maximum(at - 1, 0)
    return np.where((at > 0) & (known[order[inside]] == key), order[inside], -1)


def _placed(key: Numbers, place: Numbers, known: Numbers, rank: Numbers) -> tuple[Numbers, Numbers]:
    """Return the known in the order of key and rank, and where each pair of a key and a place would stand there."""
    scale = int(max(rank.max(initial=0), place.max(initial=0))) + 1
    order = np.lexsort((rank, known))
    return order, np.searchsorted(known[order] * scale + rank[order], key * scale + place)


def _summed(owner: Numbers, submitter: Numbers, size: Numbers) -> dict[tuple[int, int], Bytes]:
    """Return the sizes by owner and submitter, the largest first."""
    owners, row = np.unique(owner, return_inverse=True)
    submitters, column = np.unique(submitter, return_inverse=True)
    pairs, inverse = np.unique(row * len(submitters) + column, return_inverse=True)  # a tenth of the time of axis=1
    sums = np.bincount(inverse, weights=size)
    found = [
        ((int(owners[pair // len(submitters)]), int(submitters[pair % len(submitters)])), Bytes(int(total)))
        for pair, total in zip(pairs, sums, strict=True)
    ]
    return dict(sorted(found, key=lambda item: -item[1]))
