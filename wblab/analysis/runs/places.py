"""Pieces of disks, by device and sector: events on the same piece, joined by place and order."""

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd import TraceError
from tracecmd.sequence import Sequence

Numbers = NDArray[np.int64]

SECTOR, PAGE = 512, 4096
SECTORS_OF_PAGE = PAGE // SECTOR
NEVER = int(np.iinfo(np.int64).max)
_MOST_PIECES = 1 << 27  # 512 GiB by pages
_MOST_STACKED = 4  # devices of devices of devices
_MOST_IDS = 1 << 31  # times a place in a trace still fits into 63 bits


def below(  # noqa: PLR0913, PLR0917 - columns
    sequence: Sequence,
    moves: tracecmd.Events,
    unit: int,
    handed: tuple[Numbers, Numbers, Numbers],
    ends: tuple[Numbers, Numbers, Numbers],
    done: Numbers,
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Follow submitted pieces to the disks below; return each one's index, device, place of completion, and of remap.

    A device mapper, an array or a partition remaps bios to the devices below (block_bio_remap), a mirror to all of its
    disks; only those complete them. handed, ends: device, sector and place in the trace; done: the place where the
    device that a piece was submitted to completed it, NEVER if it did not. The place of remap is that of the last one,
    -1 if there was none.
    """
    move, new_sector = pieces(moves, unit)
    offset = new_sector - moves["sector"].astype(np.int64)[move]
    old = moves["old_dev"].astype(np.int64)[move], moves["old_sector"].astype(np.int64)[move] + offset
    new_device, move_rank = moves["dev"].astype(np.int64)[move], sequence.ranks(moves)[move]
    level = np.arange(len(done)), *handed, done
    mapped = np.full(len(done), -1)
    found = []
    for _ in range(_MOST_STACKED):
        row, device, sector, rank, done = level
        key, known = same((device, sector), old)
        is_open = done == NEVER
        above = previous(known, move_rank, np.where(is_open, key, -1), rank)
        moved = above >= 0
        left = np.ones(len(row), bool)
        left[above[moved]] = False
        found.append((row[left], device[left], done[left], mapped[left]))
        below_device, below_sector, below_rank = new_device[moved], new_sector[moved], move_rank[moved]
        key, known = same((below_device, below_sector), ends[:2])
        below_done = next_rank(key, below_rank, known, ends[2])
        level = row[above[moved]], below_device, below_sector, below_rank, below_done
        mapped = below_rank
    found.append((level[0], level[1], level[4], mapped))
    rows, devices, ranks, remaps = (np.concatenate(column) for column in zip(*found, strict=True))
    return rows, devices, ranks, remaps


def common_unit(*tables: tracecmd.Events) -> int:
    """Return the largest number of sectors, at most a page's, that divides all begins and lengths."""
    found = SECTORS_OF_PAGE
    for table in tables:
        sector, count = (table[name].astype(np.int64) for name in ("sector", "nr_sector"))
        found = int(np.gcd.reduce(np.concatenate([[found], sector[count > 0], count])))  # a flush has no sector
    return found


def pieces(events: tracecmd.Events, unit: int) -> tuple[Numbers, Numbers]:
    """Split events into pieces of `unit` sectors; return each piece's event and first sector."""
    event, within = repeated(events["nr_sector"].astype(np.int64) // unit, events.name)
    return event, events["sector"].astype(np.int64)[event] + unit * within


def repeated(count: Numbers, name: str) -> tuple[Numbers, Numbers]:
    """Repeat the rows of a table by their counts; return each one's row, and its number among those of that row.

    name: the table's, for the TraceError if there are more than a trace can hold.
    """
    if count.sum() > _MOST_PIECES:
        raise TraceError(f"the trace is damaged or too long: {name} stands for {count.sum()} pieces of a disk")
    row = np.repeat(np.arange(len(count)), count)
    return row, np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)


def same(one: tuple[Numbers, ...], other: tuple[Numbers, ...]) -> tuple[Numbers, Numbers]:
    """Return a number for each row of two tables: equal numbers for equal rows, the smallest 0."""
    ids, count = np.zeros(len(one[0]) + len(other[0]), np.int64), 1
    for first, second in zip(one, other, strict=True):
        column = np.concatenate([first, second])
        lowest = int(column.min(initial=NEVER))
        span = int(column.max(initial=lowest)) - lowest + 1
        if count * span > _MOST_IDS:  # sort only where the numbers would not fit: that takes most of the time
            found, ids = np.unique(ids, return_inverse=True)
            kinds, column = np.unique(column, return_inverse=True)
            count, lowest, span = len(found), 0, len(kinds)
        ids, count = ids * span + (column - lowest), count * span
    if count > _MOST_IDS:
        ids = np.unique(ids, return_inverse=True)[1]
    return ids[: len(one[0])], ids[len(one[0]) :]


def next_rank(key: Numbers, after: Numbers, known: Numbers, rank: Numbers) -> Numbers:
    """Return for each key the smallest `rank` above `after` among the known rows of the same key; NEVER if none."""
    return np.append(rank, NEVER)[next_row(key, after, known, rank)]


def next_row(key: Numbers, after: Numbers, known: Numbers, rank: Numbers) -> Numbers:
    """Return for each key the known row of the same key with the smallest `rank` above `after`; -1 if none."""
    order, at = _placed(key, after + 1, known, rank)
    if not len(order):
        return np.full(len(key), -1)
    inside = np.minimum(at, len(order) - 1)
    return np.where((at < len(order)) & (known[order[inside]] == key), order[inside], -1)


def previous(key: Numbers, before: Numbers, known: Numbers, rank: Numbers) -> Numbers:
    """Return for each key the known row of the same key with the largest `rank` below `before`; -1 if none."""
    order, at = _placed(key, before, known, rank)
    if not len(order):
        return np.full(len(key), -1)
    inside = np.maximum(at - 1, 0)
    return np.where((at > 0) & (known[order[inside]] == key), order[inside], -1)


def _placed(key: Numbers, place: Numbers, known: Numbers, rank: Numbers) -> tuple[Numbers, Numbers]:
    """Return the known rows sorted by key and rank, and the insertion point of each pair of key and place."""
    scale = int(max(rank.max(initial=0), place.max(initial=0))) + 1
    whole = known * scale + rank
    order = np.argsort(whole, kind="stable")
    return order, np.searchsorted(whole[order], key * scale + place)
