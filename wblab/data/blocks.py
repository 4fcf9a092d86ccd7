"""How requests go down: what each disk was asked for, as bios above and as requests below."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wblab.data.pagecache import Bytes, Columns, Names, PageCache
from wblab.data.run import Times

BIOS, REQUESTS = "block_bio_queue", "block_rq_issue"
_SECTOR = 512
_MINOR_BITS = 20  # include/linux/kdev_t.h


@dataclass(frozen=True)
class Asked(Columns):
    """Reads and writes that a disk was asked for: by whom, and where on the disk they begin, in bytes."""

    ts_ns: Times
    task: Names
    disk: Names  # of a run with several; else empty
    place: Bytes
    size: Bytes
    write: NDArray[np.bool_]

    def of(self, disk: str) -> "Asked":
        """Return what one disk was asked for."""
        return self.where(self.disk == disk)


def asked(cache: PageCache, event: str) -> Asked:
    """Return the reads and writes in a trace's BIOS, or REQUESTS; those of no bytes, such as flushes, are left out.

    Raises InputError for a trace without such events.
    """
    events = cache.events(event)
    numbers, rows = np.unique(events["dev"].astype(np.int64), return_inverse=True)
    names = [cache.disks.get(f"{number >> _MINOR_BITS}:{number & (1 << _MINOR_BITS) - 1}", "") for number in numbers]
    found = Asked(
        ts_ns=events.ts_ns,
        task=events.comm,
        disk=np.array(names, object)[rows],
        place=events["sector"].astype(np.int64) * _SECTOR,
        size=events["nr_sector"].astype(np.int64) * _SECTOR,
        write=np.array(["W" in flags for flags in events["rwbs"].tolist()], bool),
    )
    return found.where(found.size > 0)
