"""Chadd's claims on the layers below a program: mapped memory, the page cache, descriptors and stacked disks."""

from wblab.analysis.statistics.decision import between, over, under
from wblab.claims.sources.chadd.programs import cancel, later
from wblab.claims.sources.claim import Claim, Measure
from wblab.claims.sources.figures import (
    Figure,
    against,
    left,
    longest_s,
    median_ms,
    on_case,
    quotient,
    requests_a_cycle,
)
from wblab.claims.sources.sample import Sample
from wblab.core.units import NS_PER_MS

_MEMORY, _STORES, _DISKS, _PARADIGMS = "mmap", "stores of objects", "disks", "paradigms of disk I/O"
_FROM_DISK_MS = 1  # a read that takes longer went to the disk
_SAME = (0.95, 1.05)
# With kernel.parameters.page_cache_max_order=0 both files take the same time to the millisecond.
_FOLIOS = "Where the page cache has large folios, a page that becomes dirty has its whole folio written"


def saw(*ways: str) -> Figure:
    """Return the figure: the share of ways in which a receiver saw data written later, in per cent."""

    def share(sample: Sample) -> float:
        seen = left(sample, later.RESULT)
        return 100 * sum(seen[way] for way in ways) / len(ways)

    return share


def not_cancelled(sample: Sample) -> float:
    """Return the share of cancelled reads that completed all the same, in per cent; both ways together."""
    reads = left(sample, cancel.RESULT)
    return 100 * (reads["aio"] + reads["io_uring"]) / (2 * reads["begun"])


def missed(name: str) -> Figure:
    """Return the figure: the share of a load's reads that went to the disk, in per cent."""
    return lambda sample: 100 * float((sample.run.load(name).pauses_ns > _FROM_DISK_MS * NS_PER_MS).mean())


def reads_a_second(sample: Sample) -> float:
    """Return the reads a second of the loads r0, r1, … together."""
    items = [item for item in sample.run.loads if item.name.startswith("r")]
    return sum(1e9 / float(item.durations_ns.mean()) for item in items)


def layer_claims() -> list[Claim]:
    """Return the claims on layers below a program, named by their numbers."""
    return [*_mapped(), *_cached(), *_descriptors(), *_disks()]


def _mapped() -> list[Claim]:
    return [
        against("c16-size",
                "msync of a whole file with few dirty pages is fine on Linux: the file's size does not matter",
                _MEMORY, "msync-large", "msync-small", median_ms("r1"),
                "msync of 64 MiB / of 1 MiB, with 64 dirty pages each", "×", quotient, between(*_SAME),
                "as long, within 5 %", _FOLIOS),
        against("c16-dirty",
                "the number of dirty pages does matter to msync", _MEMORY, "msync-large", "msync-few", median_ms("r1"),
                "msync of 64 MiB with 64 dirty pages / with 16", "×", quotient, over(2), "over 2 times as long",
                "64 or 16 seeks, and the program's own time. " + _FOLIOS),
        against("c17-random", "madvise helps: MADV_RANDOM", _MEMORY, "advice-random",
                "advice-none", median_ms("r1"), "time of the reads with the advice / without", "×", quotient,
                under(_SAME[0]), "less", "Without it the kernel reads 128 KiB around each page"),
        against("c17-willneed", "madvise helps: MADV_WILLNEED", _MEMORY, "advice-willneed", "advice-none",
                median_ms("r1"), "time of the reads with the advice / without", "×", quotient, under(_SAME[0]), "less",
                "All pages are requested before the first wait, on a disk that serves 16 at once"),
        against("c17-sequential", "madvise helps: MADV_SEQUENTIAL", _MEMORY, "walk-sequential",
                "walk-none", median_ms("r1"), "time of the reads with the advice / without", "×", quotient,
                under(_SAME[0]), "less", "Reading around already brings in the 32 pages"),
    ]  # fmt: skip


def _cached() -> list[Claim]:
    return [
        against("c13-requests", "objects that are fetched together belong together: fewer requests", _STORES,
                "group-packed", "group-apart", requests_a_cycle("r1", "R"),
                "requests for eight objects packed / in files, all caches dropped", "×", quotient, under(0.5),
                "at most half"),
        against("c13-time",
                "objects that are fetched together belong together: less time",
                _STORES, "group-packed", "group-apart", median_ms("r1"),
                "time for eight objects packed / in files, SATA disk", "×", quotient, under(0.5), "at most half"),
        on_case("c21-often", "a walk through a large file spoils the LRU list", _STORES, "hot-often",
                Measure("share of repeated reads of 2 MiB that went to the disk, beside such a walk", "%",
                        missed("h1"), over(5), "over 5 %",
                        "Pages that are used again are on the active list, which a walk does not reach")),
        on_case("c21-once", "a walk through a large file evicts data that was read only once", _STORES, "hot-once",
                Measure("share of reads of 2 MiB, read once before such a walk, that went to the disk", "%",
                        missed("h1"), over(50), "over 50 %")),
    ]  # fmt: skip


def _descriptors() -> list[Claim]:
    return [
        on_case("c19-later", "sendfile and mmap show later changes of a file", _PARADIGMS, "later",
                Measure("share of the two ways in which the receiver saw data written after the sending", "%",
                        saw("sendfile", "mmap"), over(99), "both",
                        "sendfile to a socket of the same machine hands over the page itself")),
        on_case("c19-read", "read does not show later changes of a file", _PARADIGMS, "later",
                Measure("copies made by read that changed later", "%", saw("read"), under(1), "none")),
        on_case("c23-cancel", "requests in flight cannot be cancelled", _PARADIGMS, "cancel",
                Measure("reads completed in spite of aio_cancel or IORING_OP_ASYNC_CANCEL", "%", not_cancelled,
                        over(99), "all eight of each way", "Buffered reads of a file on ext4")),
    ]  # fmt: skip


def _disks() -> list[Claim]:
    return [
        against("c24-reads", "mirrors spread reads", _DISKS, "reads-mirror", "reads-one", reads_a_second,
                "reads a second by four readers, RAID1 of two disks / one disk", "×", quotient,
                between(1.5, 2.1), "1.5 to 2 times as many"),
        against("c24-writes", "mirrors write like one disk", _DISKS, "writes-mirror", "writes-one", median_ms("l1"),
                "time of a write of 64 KiB to a RAID1 of two disks / to one disk", "×", quotient, between(*_SAME),
                "as long, within 5 %"),
        against("c25-writers", "several small filesystems: a fast writer on one does not disturb writers to another",
                _DISKS, "filesystem-two", "filesystem-one", longest_s("mw1"),
                "longest pause of mw1 beside l1, on its own filesystem / on l1's", "×", quotient, under(0.5),
                "at most half", "Both are loop devices on the same disk, with the same dirty limit"),
        against("c25-commits",
                "several small filesystems: a fast writer on one does not disturb commits to another",
                _DISKS, "filesystem-two", "filesystem-one",
                longest_s("k1"), "longest commit beside l1, on its own filesystem / on l1's", "×", quotient,
                under(0.5), "at most half", "Each has its own journal; they share the disk's queue"),
    ]  # fmt: skip
