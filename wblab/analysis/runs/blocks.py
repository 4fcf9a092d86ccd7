"""I/O on its way down: the bios submitted to each disk and the requests issued to it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wblab.analysis.runs.names import event_name
from wblab.analysis.runs.pagecache import Bytes, Columns, Names, PageCache
from wblab.analysis.runs.run import Times
from wblab.core.units import NS_PER_MS

if TYPE_CHECKING:  # claims need columns but no frames, see wblab.analysis.runs.metrics
    import pandas as pd

BIOS, REQUESTS = "block_bio_queue", "block_rq_issue"
REMAPPED, SPLIT = "block_bio_remap", "block_split"
# The steps of a write at one disk, in order (include/trace/events/block.h).
STEPS = {
    "bio": BIOS,
    "merged": "block_bio_backmerge",
    "merged in front": "block_bio_frontmerge",
    "inserted": "block_rq_insert",
    "issued": REQUESTS,
    "completed": "block_rq_complete",
}
_SECTOR, _KIB = 512, 1024
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
        disk=_names(cache, events["dev"]),
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


def steps_frame(cache: PageCache) -> "pd.DataFrame":
    """Return a row for each step of `steps`: the number and the sizes of its writes, in KiB."""
    import pandas as pd

    rows = [
        {
            "disk": disk,
            "step": step,
            "writes": len(found),
            "total KiB": found.size.sum() / _KIB,
            "smallest": found.size.min() / _KIB,
            "mean": found.size.mean() / _KIB,
            "largest": found.size.max() / _KIB,
        }
        for (disk, step), found in steps(cache).items()
    ]
    return pd.DataFrame(rows).set_index(["disk", "step"])


def splits(cache: PageCache) -> dict[str, int]:
    """Return the number of bios that each disk's layer split. Raises InputError for a trace without such events."""
    names = _names(cache, cache.events(SPLIT)["dev"])
    return {disk: int((names == disk).sum()) for disk in disks_from_above(cache)}


def size_classes(cache: PageCache) -> "pd.DataFrame":
    """Return the number of writes by step (rows, as `steps`) and largest size in KiB (columns)."""
    import pandas as pd

    counts = {}
    for place, found in steps(cache).items():
        exponents = np.ceil(np.log2(found.size / _KIB)).astype(int).clip(min=0)
        sizes, numbers = np.unique(exponents, return_counts=True)
        counts[place] = {1 << size: number for size, number in zip(sizes.tolist(), numbers.tolist(), strict=True)}
    frame = pd.DataFrame.from_dict(counts, orient="index").fillna(0).astype(int)
    return frame[sorted(frame.columns)]


def fullest(found: Submitted, size: int) -> int:
    """Return the offset of the busiest stretch of `size` bytes on a disk, a multiple of `size`."""
    stretches, rows = np.unique(found.place // size, return_inverse=True)
    return int(stretches[np.argmax(np.bincount(rows, found.size))]) * size


def delayed(cache: PageCache, mirror: str) -> "pd.DataFrame":
    """Return for each write to a RAID1 its time, its offset (bytes), and the delay until it was remapped (ms).

    The barrier causes the delay: raid1_write_request() in drivers/md/raid1.c. Raises InputError for a trace without
    bios or remaps.
    """
    import pandas as pd

    bios = submitted(cache, BIOS).of(mirror)
    bios = bios.where(bios.write)
    remaps = cache.events(REMAPPED)
    own = _names(cache, remaps["old_dev"]) == mirror
    below = pd.DataFrame(
        {"ts_ns": remaps.ts_ns[own], "place": remaps["old_sector"][own].astype(np.int64) * _SECTOR}
    ).assign(on_ns=remaps.ts_ns[own])
    came = pd.DataFrame({"ts_ns": bios.ts_ns, "place": bios.place})
    pairs = pd.merge_asof(came, below, on="ts_ns", by="place", direction="forward").dropna()
    return pairs.assign(delay_ms=(pairs["on_ns"] - pairs["ts_ns"]) / NS_PER_MS)[["ts_ns", "place", "delay_ms"]]


def _names(cache: PageCache, devices: NDArray[np.generic]) -> Names:
    """Return the names of the disks with these numbers; empty for unknown ones."""
    numbers, rows = np.unique(devices.astype(np.int64), return_inverse=True)
    names = [cache.disks.get(f"{number >> _MINOR_BITS}:{number & (1 << _MINOR_BITS) - 1}", "") for number in numbers]
    return np.array(names, object)[rows]
