"""What programs read from the disk that had been in memory before: pages of files that the kernel had dropped since.

The trace does not have every page that leaves memory. But a page that was read from the disk or written to it from the
page cache, and is read anew, was dropped in between: as memory was needed, or because a program asked for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wblab.analysis.runs.places import SECTOR, SECTORS_OF_PAGE, common_unit, pieces, previous, same
from wblab.analysis.why.parties import Parties
from wblab.analysis.why.recorded import Recorded
from wblab.analysis.why.requests import submitted
from wblab.core.units import Bytes

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class _Reread:
    """Pieces of files that were read anew, in order: when, by which task (a key of tasks), and the bytes of each."""

    ts_ns: Numbers
    task: Numbers
    piece_bytes: int


def read_again(recorded: Recorded, parties: Parties, span_ns: tuple[int, int]) -> Mapping[str, Bytes]:
    """Return the bytes that each party asked to read in a span of time and that had been in memory before."""
    found = recorded.once("read again", lambda: _reread(recorded))
    inside = slice(*np.searchsorted(found.ts_ns, span_ns).tolist())
    tasks, counts = np.unique(found.task[inside], return_counts=True)
    sizes: dict[str, int] = {}
    for task, count in zip(tasks.tolist(), counts.tolist(), strict=True):
        name = parties.owner(task)
        sizes[name] = sizes.get(name, 0) + count * found.piece_bytes
    return {name: Bytes(size) for name, size in sorted(sizes.items(), key=lambda each: -each[1])}


def _reread(recorded: Recorded) -> _Reread:
    nothing = _Reread(np.zeros(0, np.int64), np.zeros(0, np.int64), 0)
    handed = submitted(recorded.trace)
    bios = recorded.trace.events(handed) if handed else None
    if bios is None or not len(bios) or "ino" not in bios:
        return nothing
    unit = common_unit(bios)
    bio, sector = pieces(bios, unit)
    rank = recorded.sequence.ranks(bios)
    inode = bios["ino"].astype(np.int64)[bio]
    offset = (sector - bios["sector"].astype(np.int64)[bio]) // SECTORS_OF_PAGE
    page = bios["index"].astype(np.int64)[bio] + offset
    texts = bios["rwbs"].tolist()
    is_read = np.array(["R" in text for text in texts], bool)[bio]
    of_file = np.flatnonzero(inode > 0)
    columns = bios["dev"].astype(np.int64)[bio], inode, page, sector % SECTORS_OF_PAGE
    read = of_file[is_read[of_file]]
    key, known = same(tuple(each[read] for each in columns), tuple(each[of_file] for each in columns))
    before = previous(key, rank[bio[read]], known, rank[bio[of_file]])
    again = read[before >= 0]
    ts_ns = bios.ts_ns[bio[again]]
    task = recorded.tasks.lives.keys(bios.pid, rank)[bio[again]]
    order = np.argsort(ts_ns, kind="stable")
    return _Reread(ts_ns[order], task[order], unit * SECTOR)
