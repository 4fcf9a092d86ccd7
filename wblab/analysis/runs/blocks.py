"""I/O on its way down: the bios submitted to each disk and the requests issued to it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wblab.analysis.runs.names import event_name
from wblab.analysis.runs.pagecache import Bytes, Columns, Names, PageCache
from wblab.analysis.runs.run import Times

BIOS, REQUESTS = "block_bio_queue", "block_rq_issue"
# The steps of a write at one disk, in order (include/trace/events/block.h).
STEPS = {
    "bio": BIOS,
    "merged": "block_bio_backmerge",
    "merged in front": "block_bio_frontmerge",
    "inserted": "block_rq_insert",
    "issued": REQUESTS,
    "completed": "block_rq_complete",
}
_SECTOR = 512
_MINOR_BITS = 20  # include/linux/kdev_t.h


@dataclass(frozen=True)
class Submitted(Columns):
    """Reads and writes submitted to a disk, with their tasks and offsets on the disk in bytes."""

    ts_ns: Times
    task: Names
    disk: Names  # empty in a run with one disk
    place: Bytes
    size: Bytes
    write: NDArray[np.bool_]

    def of(self, disk: str) -> "Submitted":
        """Return the rows of one disk."""
        return self.where(self.disk == disk)

    def by(self, ending: str) -> "Submitted":
        """Return the rows of tasks with this suffix in their names."""
        return self.where(np.array([task.endswith(ending) for task in self.task.tolist()], bool))

    def inside(self, place: int, size: int) -> "Submitted":
        """Return the rows that overlap a stretch of the disk: its offset and size in bytes."""
        return self.where((self.place < place + size) & (self.place + self.size > place))


def submitted(cache: PageCache, event: str) -> Submitted:
    """Return the reads and writes of a trace at one step, given by its event: BIOS, REQUESTS or another.

    Rows without bytes, such as flushes, are left out. Raises InputError for a trace without such events.
    """
    events = cache.events(event)
    found = Submitted(
        ts_ns=events.ts_ns,
        task=events.comm,
        disk=names_of(cache, events["dev"]),
        place=events["sector"].astype(np.int64) * _SECTOR,
        size=events["nr_sector"].astype(np.int64) * _SECTOR,
        write=np.array(["W" in flags for flags in events["rwbs"].tolist()], bool),
    )
    return found.where(found.size > 0)


def disks_from_above(cache: PageCache) -> list[str]:
    """Return the names of the disks, stacked ones before their parts; one empty name if there is one disk."""
    return list(reversed(cache.disks.values())) or [""]


def steps(cache: PageCache) -> dict[tuple[str, str], Submitted]:
    """Return the writes of a trace by disk and step, from the top down; steps without a write are left out.

    A merged write has the size of the bio that was merged into a request.
    """
    known = {step: submitted(cache, event) for step, event in STEPS.items() if event_name(cache.trace, event)}
    found = {
        (disk, step): each.of(disk).where(each.of(disk).write)
        for disk in disks_from_above(cache)
        for step, each in known.items()
    }
    return {place: each for place, each in found.items() if len(each)}


def names_of(cache: PageCache, devices: NDArray[np.generic]) -> Names:
    """Return the names of the disks with these numbers; empty for unknown ones."""
    numbers, rows = np.unique(devices.astype(np.int64), return_inverse=True)
    names = [cache.disks.get(f"{number >> _MINOR_BITS}:{number & (1 << _MINOR_BITS) - 1}", "") for number in numbers]
    return np.array(names, object)[rows]
