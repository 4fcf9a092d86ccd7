"""The writers to each disk: loads, from their cycles, and other tasks, from the events of dirtied folios."""

from collections import Counter
from dataclasses import dataclass

from wblab.analysis.runs.pagecache import DIRTIED, PageCache
from wblab.analysis.runs.run import LoadCycles, Run

_WORKERS = "kworker"


@dataclass(frozen=True)
class Writer:
    """The writes of one load, or of all tasks with one name, to one disk.

    disk: its name; empty in a run with one disk. written_bytes: what a load's cycles wrote; None for other tasks, and
    if a cycle's bytes are unknown. dirtied_folios: how often it dirtied a folio, which is one or more pages; None if
    not traced. dirtied_bytes: the sizes of these; None if the trace does not show them. Folios count for the task that
    dirtied them, not for the flusher that wrote them.
    """

    task: str
    disk: str
    written_bytes: int | None
    dirtied_folios: int | None = None
    dirtied_bytes: int | None = None

    @property
    def label(self) -> str:
        """Its name and, with several disks, the disk."""
        return label(self.task, self.disk)


def label(task: str, disk: str) -> str:
    """Return a task's label: its name and, with several disks, the disk."""
    return f"{task} ({disk})" if disk else task


def traces_dirtied_folios(run: Run) -> bool:
    """Whether the run's spec traces every folio that is dirtied."""
    return any(event.partition(":")[2] in DIRTIED for event in run.spec.trace.events)


def written_bytes(item: LoadCycles) -> int | None:
    """Return the bytes that a load's cycles wrote; None if unknown or 0."""
    block = item.load.cycle_bytes
    return (len(item.durations_ns) - item.dropped) * block if block else None


def writers(run: Run, cache: PageCache | None = None) -> tuple[Writer, ...]:
    """Return the writers to the disks of a run, disk by disk, the largest writers first.

    With a trace of every dirtied folio, all tasks that dirtied any are included.
    """
    sizes = {(item.name, item.load.disk): size for item in run.loads if (size := written_bytes(item)) is not None}
    counts, dirty = _dirtied(cache) if cache else (None, None)
    found = [
        Writer(
            *key, sizes.get(key), None if counts is None else counts[key], None if dirty is None else dirty.get(key, 0)
        )
        for key in {**sizes, **(counts or {})}
    ]
    disks = list(dict.fromkeys([*run.disks, *(item.load.disk for item in run.loads), *(each.disk for each in found)]))
    places = {disk: place for place, disk in enumerate(disks)}

    def rank(each: Writer) -> tuple[int, int, int, str]:
        return places[each.disk], -(each.written_bytes or 0), -(each.dirtied_folios or 0), each.task

    return tuple(sorted(found, key=rank))


def common_name(task: str) -> str:
    """Return a task's name, with one name for all of the kernel's workers, such as `kworker/u8:2-flush-254:0`."""
    return _WORKERS if task.startswith(f"{_WORKERS}/") else task


def _dirtied(cache: PageCache) -> "tuple[Counter[tuple[str, str]] | None, Counter[tuple[str, str]] | None]":
    """Return how many folios each task dirtied on each disk, and their bytes; None for what is not known."""
    rows = cache.dirtied
    if not len(rows):
        return None, None
    keys = list(zip(map(common_name, rows.task.tolist()), rows.disk.tolist(), strict=True))
    dirty: Counter[tuple[str, str]] = Counter()
    for key, size in zip(keys, rows.size.tolist(), strict=True):
        dirty[key] += size
    return Counter(keys), dirty if rows.has_sizes else None
