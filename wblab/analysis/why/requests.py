"""Attribution of a disk's I/O: from the task that dirtied a page or read, over the bio, to the request's completion."""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd.sequence import Sequence

from wblab.analysis.runs.folios import pages as pages_of_folios
from wblab.analysis.runs.names import event_name
from wblab.analysis.runs.places import (
    NEVER,
    PAGE,
    SECTOR,
    SECTORS_OF_PAGE,
    below,
    common_unit,
    next_rank,
    next_row,
    pieces,
    previous,
    same,
)
from wblab.analysis.why.flushed import NOBODY, flushed, written_again
from wblab.analysis.why.loops import LOOP, around_cache, dirtied_through_loops, through_loops, with_btrfs
from wblab.analysis.why.memorypages import own_pages, swap_owners
from wblab.analysis.why.tasks import Tasks
from wblab.core.units import Bytes

Numbers = NDArray[np.int64]

# The first is the lab's own event, which names the page of a bio; all kernels have the second.
INSERTED, ISSUED, REMAPPED = "block_rq_insert", "block_rq_issue", "block_bio_remap"
_HANDED_BACK = "block_rq_requeue"
_SUBMITTED, COMPLETED, DIRTIED = ("block_bio_submit", "block_bio_queue"), "block_rq_complete", "writeback_dirty_folio"
MINOR_BITS = 20  # include/linux/kdev_t.h
FLUSH_REQUEST = "FF"  # how blk_fill_rwbs() denotes a request that only flushes
SUBMITTER = -3  # besides NOBODY and UNKNOWN_OWNER
SWAPPED = 1 << 60  # a bit of an owner whose memory is written to swap, beside its key
_DEVICE = re.compile(r"\d{1,4}:\d{1,8}")


class Party(NamedTuple):
    """The party that bytes are attributed to: see `Moved`."""

    owner: int
    submitter: int
    is_read: bool = False


@dataclass(frozen=True)
class Moved:
    """Data written and read by disks, in pieces of at most a page, in the order of completion.

    size: bytes. owner: the task that dirtied the page; NOBODY if none did (a filesystem's own writes), SUBMITTER for
    reads and for direct writes from a task's memory, UNKNOWN_OWNER if the kernel does not name the file, a task and
    SWAPPED if it is that task's memory. submitter: the
    task that submitted the bio. rank, done_rank: the places of submission and completion in the trace; the largest
    number if never completed. inode: of the page's file, 0 if unknown. is_read: 1 for reads, else 0.
    """

    rank: Numbers
    ts_ns: Numbers
    device: Numbers
    size: Numbers
    owner: Numbers
    submitter: Numbers
    inode: Numbers
    done_rank: Numbers
    is_read: Numbers

    def ahead(self, device: int, after_rank: int, until_rank: int) -> "dict[Party, Bytes]":
        """Return the bytes that a device completed between two places in the trace, by party, the most first."""
        first, last = np.searchsorted(self.done_rank, [after_rank, until_rank], side="right").tolist()
        rows = slice(first, last)
        own = self.device[rows] == device
        columns = (self.owner, self.submitter, self.is_read, self.size)
        return _summed(*(column[rows][own] for column in columns))


@dataclass(frozen=True)
class Done:
    """Requests that disks completed: block_rq_complete, in order.

    first_rank, first_ns, submitter: the place, time and pid of its first bio; for a flush, the last bio before it.
    asked, asks_flush: the device that this bio was submitted to, and 1 if it asked for a flush. mapped_ns: when it was
    last remapped, by a device mapper or an array. inserted_ns, issued_ns: when it entered the disk's queue and when it
    was issued to the disk; NEVER if unknown. queued_by: the pid that did the first of both; NOBODY if unknown.
    is_flush, is_read: 1 for a flush without data, and for a read.
    """

    rank: Numbers
    ts_ns: Numbers
    device: Numbers
    sector: Numbers
    size: Numbers
    first_rank: Numbers
    first_ns: Numbers
    cpu: Numbers
    submitter: Numbers
    inserted_ns: Numbers
    issued_ns: Numbers
    asked: Numbers
    asks_flush: Numbers
    mapped_ns: Numbers
    queued_by: Numbers
    is_flush: Numbers
    is_read: Numbers

    def before(self, rank: int, cpu: int) -> int:
        """Return the row of the last request completed on a processor before a place in the trace; -1 for none."""
        rows = np.flatnonzero(self.cpu[: np.searchsorted(self.rank, rank)] == cpu)
        return int(rows[-1]) if len(rows) else -1

    def rank_at(self, ns: int) -> int:
        """Return the place of the last completion before a time; -1 for none."""
        at = int(np.searchsorted(self.ts_ns, ns))
        return int(self.rank[at - 1]) if at else -1

    def data(self, row: int) -> int:
        """Return the row that completed a request's data: its own or, before its final flush, an earlier one; -1: none.

        For a flush without data it is its own row.
        """
        if self.size[row]:
            return row
        same = (self.device[:row] == self.device[row]) & (self.sector[:row] == self.sector[row]) & (self.size[:row] > 0)
        rows = np.flatnonzero(same)
        data = int(rows[-1]) if len(rows) else -1
        asked = int(self.first_rank[row])
        return row if asked != NEVER and (data < 0 or asked > self.rank[data]) else data


@dataclass(frozen=True)
class Dirtied:
    """Dirtied pages of files, in order: the task, and where in the trace the disk had written each (or NEVER).

    A folio's pages become dirty together, by the task that dirtied the first of them: the limits count all of them.
    index: of the page in its file.
    """

    rank: Numbers
    pid: Numbers
    clean_rank: Numbers
    device: Numbers
    index: Numbers

    def at(
        self, rank: int, device: int = NOBODY, pids: Collection[int] | None = None
    ) -> tuple[dict[int, Bytes], dict[int, Bytes]]:
        """Return the bytes dirty or under writeback at a place in the trace, by who dirtied them and by device.

        device, pids: count only what is for this device and what these tasks dirtied; all by default.
        """
        rows = (self.rank < rank) & (self.clean_rank > rank) & ((self.device == device) | (device == NOBODY))
        if pids is not None:
            rows &= np.isin(self.pid, list(pids))
        by = (np.unique(column[rows], return_counts=True) for column in (self.pid, self.device))
        one, other = (
            {
                key: Bytes(count * PAGE)
                for key, count in sorted(zip(*map(list, found), strict=True), key=lambda item: -item[1])
            }
            for found in ((keys.tolist(), counts.tolist()) for keys, counts in by)
        )
        return one, other


@dataclass(frozen=True)
class SentPages:
    """Pages that servers of filesystems got: of which file, and when they read and answered the request, in ns."""

    device: Numbers
    inode: Numbers
    index: Numbers
    read_ns: Numbers
    answered_ns: Numbers


def submitted(trace: tracecmd.TraceFile) -> str | None:
    """Return the name of the event that submits bios to the block layer; None if not traced."""
    return next((name for name in _SUBMITTED if name in trace.names), None)


def read_requests(
    trace: tracecmd.TraceFile, sequence: Sequence, tasks: Tasks, sent: SentPages | None = None
) -> tuple[Moved, Done, Dirtied]:
    """Read the data moved, the requests completed and the pages dirtied. sent: what went to servers, not to disks.

    All are empty without the events of requests. Owners, and submitters of data, are keys of tasks.
    """
    handed = submitted(trace)
    if handed is None or COMPLETED not in trace.names:
        nothing = np.zeros(0, np.int64)
        return Moved(*[nothing] * 9), Done(*[nothing] * 17), Dirtied(*[nothing] * 5)
    bios, ends = trace.events(handed), trace.events(COMPLETED)
    bio_rank, end_rank = sequence.ranks(bios), sequence.ranks(ends)
    moves = trace.events(REMAPPED) if REMAPPED in trace.names else None
    unit = common_unit(bios, ends, *([moves] if moves is not None else []))
    bio, sector = pieces(bios, unit)
    end, end_sector = pieces(ends, unit)
    device, end_device = bios["dev"].astype(np.int64), ends["dev"].astype(np.int64)
    place, end_place = same((device[bio], sector), (end_device[end], end_sector))
    done = next_rank(place, bio_rank[bio], end_place, end_rank[end])
    device = device[bio]
    mapped = np.full(len(bio), NOBODY)
    if moves is not None and len(moves):
        after = (end_device[end], end_sector, end_rank[end])
        row, device, done, mapped = below(sequence, moves, unit, (device, sector, bio_rank[bio]), after, done)
        bio, sector = bio[row], sector[row]
    requests = _done(trace, sequence, (bios, bio_rank, bio, mapped), done)
    texts = bios["rwbs"].tolist()
    is_read = np.array(["R" in text for text in texts], bool)
    kept = (is_read | np.array(["W" in text for text in texts], bool))[bio]
    bio, sector, done, device = bio[kept], sector[kept], done[kept], device[kept]
    submitters = tasks.lives.keys(bios.pid, bio_rank)
    submitter = submitters[bio]
    if "ino" in bios:
        inode = bios["ino"].astype(np.int64)[bio]
        page = bios["index"].astype(np.int64)[bio] + (sector - bios["sector"].astype(np.int64)[bio]) // SECTORS_OF_PAGE
        pages = (bios["dev"].astype(np.int64)[bio], inode, page)
        dirtied, owner = _dirtied(trace, sequence, tasks, *_with_sent(sequence, pages, bio_rank[bio], done, sent))
        of_filesystem = np.array(["M" in text for text in texts], bool)  # REQ_META
        is_data = (bios["ino"].astype(np.int64) == 0) & ~of_filesystem & ~is_read & (bios["nr_sector"] > 0)
        swapped = swap_owners(own_pages(trace, sequence, tasks)[1], bios.pid.astype(np.int64), bio_rank, is_data)[bio]
        owner = np.where((inode == 0) & ~of_filesystem[bio], SUBMITTER, owner[: len(bio)])
        owner = np.where(swapped >= 0, swapped | SWAPPED, owner)
        places = device, sector, page, bio_rank[bio]
        is_synced = np.array(["S" in text for text in texts], bool)[bio]
        owner, submitter = around_cache(places, inode, is_synced, done, owner, submitter, MINOR_BITS)
        owner, submitter = through_loops(trace, places, inode, owner, submitter, MINOR_BITS)
        whose = np.where(owner == SUBMITTER, submitter, owner)
        dirtied = _through_loops(trace, places, whose, dirtied)
    else:
        of, dirtier = flushed(trace, sequence, tasks, submitters, bio_rank)
        inode, owner = of[bio], dirtier[bio]
        dirtied = Dirtied(*[np.zeros(0, np.int64)] * 5)
    owner = np.where(is_read[bio], SUBMITTER, owner)
    order = np.argsort(done, kind="stable")
    bio = bio[order]
    moved = Moved(
        rank=bio_rank[bio],
        ts_ns=bios.ts_ns[bio],
        device=device[order],
        size=np.full(len(bio), unit * SECTOR),
        owner=owner[order],
        submitter=submitter[order],
        inode=inode[order],
        done_rank=done[order],
        is_read=is_read[bio].astype(np.int64),
    )
    return moved, requests, dirtied


def device_number(name: str) -> int:
    """Return the number by which events name a device major:minor."""
    major, _, minor = name.partition(":")
    return int(major) << MINOR_BITS | int(minor)


def device_text(device: int) -> str:
    """Return a device's number as text, major:minor."""
    return f"{device >> MINOR_BITS}:{device & ((1 << MINOR_BITS) - 1)}"


def device_numbers(events: tracecmd.Events, field: str = "name") -> Numbers:
    """Return the devices that a field of events names as text, as numbers; -1 if a text names none."""
    texts = events[field].tolist()
    numbers = {text: device_number(text) if _DEVICE.fullmatch(text) else NOBODY for text in set(texts)}
    return np.array([numbers[text] for text in texts], np.int64)


def _done(
    trace: tracecmd.TraceFile,
    sequence: Sequence,
    handed: tuple[tracecmd.Events, Numbers, Numbers, Numbers],
    done: Numbers,
) -> Done:
    """Return the requests, each with its first bio.

    handed: bios, their places in the trace, each piece's bio, and where it was last remapped.
    """
    (bios, rank, bio, mapped), ends = handed, trace.events(COMPLETED)
    end_rank = sequence.ranks(ends)
    known = done != NEVER
    which = np.searchsorted(end_rank, done[known])
    first = np.full(len(end_rank), len(rank))
    np.minimum.at(first, which, bio[known])
    mapped_rank = np.full(len(end_rank), NOBODY)
    own = bio[known] == first[which]
    np.maximum.at(mapped_rank, which[own], mapped[known][own])
    asks_flush = np.array(["F" in text for text in bios["rwbs"].tolist()], bool)
    flush = np.flatnonzero((bios["nr_sector"] == 0) & asks_flush)
    alone = np.flatnonzero((first == len(rank)) & (ends["nr_sector"] == 0))
    asked = previous(
        ends["dev"].astype(np.int64)[alone], end_rank[alone], bios["dev"].astype(np.int64)[flush], rank[flush]
    )
    first[alone[asked >= 0]] = flush[asked[asked >= 0]]
    missing = first == len(rank)
    first[missing] = 0
    begun = np.where(missing, NOBODY, rank[first])
    inserted_ns, inserted_by, inserted = _passed(trace, sequence, (INSERTED,), ends, begun)
    texts = _texts(ends)
    after = np.maximum(np.maximum(begun, inserted), _flushed_before(ends, end_rank, texts))
    issued_ns, issued_by, _ = _passed(trace, sequence, (ISSUED, _HANDED_BACK), ends, after)
    ns = np.append(sequence.ts_ns, NEVER)
    return Done(
        rank=end_rank,
        ts_ns=ends.ts_ns,
        device=ends["dev"].astype(np.int64),
        sector=ends["sector"].astype(np.int64),
        size=ends["nr_sector"].astype(np.int64) * SECTOR,
        first_rank=np.where(missing, NEVER, rank[first]),
        first_ns=np.where(missing, NEVER, bios.ts_ns[first]),
        cpu=ends.cpu.astype(np.int64),
        submitter=np.where(missing, NOBODY, bios.pid.astype(np.int64)[first]),
        inserted_ns=inserted_ns,
        issued_ns=issued_ns,
        asked=np.where(missing, NOBODY, bios["dev"].astype(np.int64)[first]),
        asks_flush=(~missing & asks_flush[first]).astype(np.int64),
        mapped_ns=np.where(missing, NEVER, ns[mapped_rank]),
        queued_by=np.where(inserted_ns <= issued_ns, inserted_by, issued_by),
        is_flush=(texts == FLUSH_REQUEST).astype(np.int64),
        is_read=np.array(["R" in text for text in texts.tolist()], np.int64),
    )


def _flushed_before(ends: tracecmd.Events, end_rank: Numbers, texts: "NDArray[np.object_]") -> Numbers:
    """Return where a disk had completed its last flush before each flush; NOBODY if none, and for other requests.

    A disk's queue has one flush under way at a time (block/blk-flush.c), and all are at the same place: what an earlier
    one passed is not this one's.
    """
    rows, found = np.flatnonzero(texts == FLUSH_REQUEST), np.full(len(end_rank), NOBODY)
    device = ends["dev"].astype(np.int64)[rows]
    last = previous(device, end_rank[rows], device, end_rank[rows])
    found[rows] = np.where(last >= 0, end_rank[rows][last], NOBODY)
    return found


def _texts(events: tracecmd.Events) -> "NDArray[np.object_]":
    """Return the kinds of requests, as blk_fill_rwbs() writes them; empty texts if not traced."""
    return events["rwbs"].astype(object) if "rwbs" in events else np.full(len(events), "", object)


def _passed(
    trace: tracecmd.TraceFile, sequence: Sequence, names: tuple[str, ...], ends: tracecmd.Events, after: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """Return when each completed request first passed one of some events, in ns, in which task's pid, and its place.

    after: a place in the trace before which each request was not yet there; if that is unknown, NOBODY, it is when the
    request last passed them. A driver that can take no more, as null_blk beyond its rate or a SCSI target that is busy,
    hands requests back: each is tried again and again, before all others. The disk is as busy with it as if it had it.
    NEVER and NOBODY if not traced.
    """
    tables = [trace.events(name) for name in names if name in trace.names]
    if not tables:
        return np.full(len(ends), NEVER), np.full(len(ends), NOBODY), np.full(len(ends), NOBODY)
    # A flush is issued at sector 0 and completed at another one.
    places = [
        (
            table["dev"].astype(np.int64),
            np.where(_texts(table) == FLUSH_REQUEST, NOBODY, table["sector"].astype(np.int64)),
        )
        for table in (ends, *tables)
    ]
    device, sector = (np.concatenate(columns) for columns in zip(*places[1:], strict=True))
    key, known = same(places[0], (device, sector))
    end_rank, at = sequence.ranks(ends), np.concatenate([sequence.ranks(table) for table in tables])
    came = next_row(key, after, known, at)
    is_first = (after != NOBODY) & (np.append(at, NEVER)[came] < end_rank)
    row = np.where(is_first, came, previous(key, end_rank, known, at))
    ns, pid = (np.concatenate([getattr(table, name) for table in tables]).astype(np.int64) for name in ("ts_ns", "pid"))
    return np.append(ns, NEVER)[row], np.append(pid, NOBODY)[row], np.append(at, NOBODY)[row]


def _with_sent(
    sequence: Sequence, pages: tuple[Numbers, Numbers, Numbers], rank: Numbers, done: Numbers, sent: SentPages | None
) -> tuple[tuple[Numbers, Numbers, Numbers], Numbers, Numbers]:
    """Return pages, where they were submitted and completed, with those that servers got behind them."""
    if sent is None:
        return pages, rank, done
    own = (sent.device, sent.inode, sent.index)
    both = tuple(np.concatenate(each) for each in zip(pages, own, strict=True))
    ranks = (np.searchsorted(sequence.ts_ns, ns) for ns in (sent.read_ns, sent.answered_ns))
    rank, done = (np.concatenate(each) for each in zip((rank, done), ranks, strict=True))
    return (both[0], both[1], both[2]), rank, done


def _dirtied(  # noqa: PLR0913, PLR0917 - columns
    trace: tracecmd.TraceFile,
    sequence: Sequence,
    tasks: Tasks,
    pages: tuple[Numbers, Numbers, Numbers],
    rank: Numbers,
    done: Numbers,
) -> tuple[Dirtied, Numbers]:
    """Return the dirtied pages of files, and the task that last dirtied each of some pages (device, inode, index).

    rank, done: the places at which these pages were submitted and completed. NOBODY if unknown, or if the page belongs
    to a device itself and so to its filesystem.
    """
    name = event_name(trace, DIRTIED)
    if name not in trace.names:
        return Dirtied(*[np.zeros(0, np.int64)] * 5), np.full(len(rank), NOBODY)
    events = trace.events(name)
    device, is_file = with_btrfs(events, device_numbers(events), pages)
    inode, at = events["ino"].astype(np.int64), sequence.ranks(events)
    pid = tasks.lives.keys(events.pid, at)
    event, index = pages_of_folios(trace, sequence, events)
    new = ~written_again(trace, sequence, tasks, events, pid, at)[event]
    event, index = event[new], index[new]
    device, is_file, inode, at, pid = (column[event] for column in (device, is_file, inode, at, pid))
    key, known = same(pages, (device, inode, index))
    last = previous(key, rank, known, at)
    of_file = (pages[1] != 0) & (pages[1] != pages[0])
    owner = np.where(of_file & np.append(is_file, False)[last], np.append(pid, NOBODY)[last], NOBODY)
    rows = is_file & (device != NOBODY)
    came = next_row(known, at, key, rank)
    clean = np.append(done, NEVER)[came]
    handed = np.append(rank, NEVER)[came] < next_rank(known, at, known, at)
    clean = _with_folio(event, clean, handed)
    return Dirtied(at[rows], pid[rows], clean[rows], device[rows], index[rows]), owner


def _with_folio(event: Numbers, clean: Numbers, handed: "NDArray[np.bool_]") -> Numbers:
    """Return where pages became clean; one that the disk was not handed was so when the rest of its folio was written.

    A folio is dirty as a whole, but a filesystem writes only its dirty blocks. event: of each page, the one that
    dirtied its folio. handed: whether the page was submitted before it was dirtied anew.
    """
    whole = np.full(int(event.max(initial=0)) + 1, NOBODY)
    np.maximum.at(whole, event[handed], clean[handed])
    return np.where(handed | (whole[event] == NOBODY), clean, whole[event])


def _through_loops(
    trace: tracecmd.TraceFile,
    places: tuple[Numbers, Numbers, Numbers, Numbers],
    whose: Numbers,
    dirtied: Dirtied,
) -> Dirtied:
    if not len(dirtied.rank) or not np.any(places[0] >> MINOR_BITS == LOOP):
        return dirtied
    pages = dirtied.pid, dirtied.index, dirtied.rank
    return replace(dirtied, pid=dirtied_through_loops(trace, places, whose, pages, MINOR_BITS))


def numbered(owner: Numbers, submitter: Numbers, is_read: Numbers) -> tuple[list[Party], Numbers]:
    """Return the parties of some rows, and for each row the index of its party."""
    owners, row = np.unique(owner, return_inverse=True)
    submitters, column = np.unique(submitter, return_inverse=True)
    keys = (row * len(submitters) + column) * 2 + is_read
    parties, inverse = np.unique(keys, return_inverse=True)  # takes a tenth of the time of axis=1
    found = []
    for party in parties.tolist():
        pair, read = divmod(party, 2)
        found.append(Party(int(owners[pair // len(submitters)]), int(submitters[pair % len(submitters)]), bool(read)))
    return found, inverse


def _summed(owner: Numbers, submitter: Numbers, is_read: Numbers, size: Numbers) -> dict[Party, Bytes]:
    """Return the sizes by party, the largest first."""
    parties, which = numbered(owner, submitter, is_read)
    sums = np.bincount(which, weights=size)
    found = {party: Bytes(int(total)) for party, total in zip(parties, sums.tolist(), strict=True)}
    return dict(sorted(found.items(), key=lambda item: -item[1]))
