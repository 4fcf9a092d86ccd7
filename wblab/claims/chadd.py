"""Claims of A. Chadd's slides "Writing Disk-IO efficient applications": what stops a program with one main loop."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wblab.claims.base import Claim, Measure, Samples, Verdict, judge, over_seeds, untested
from wblab.claims.sample import Sample
from wblab.core.units import NS_PER_MS, NS_PER_S
from wblab.data.pagecache import page_cache

STALL_S = 0.1  # a loop that answers nobody for so long is stopped
FREE_MS = 20
_SECTOR = 512
_PARADIGMS = "paradigms of disk I/O"
_LOGS = "logging"
_STORES = "stores of objects"
_DISKS = "disks"

Figure = Callable[[Sample], float]


@dataclass(frozen=True)
class Moved:
    """The requests of a run: how many, and of how many bytes on average."""

    count: int
    bytes: int

    @property
    def mean(self) -> float:
        """Their mean size in bytes."""
        return self.bytes / max(self.count, 1)


def moved(sample: Sample, way: str, since_ns: int = 0) -> Moved:
    """Return the requests that read (R) or write (W) something, as they went to the disk, from a time on."""
    events = page_cache(sample.run).trace.events("block_rq_issue", ["rwbs", "nr_sector"])
    sectors = events["nr_sector"].astype(np.int64)
    ways = np.array([way in flags for flags in events["rwbs"].tolist()], bool)
    wanted = ways & (sectors > 0) & (events.ts_ns >= since_ns)
    return Moved(int(wanted.sum()), int(sectors[wanted].sum()) * _SECTOR)


def longest_s(name: str) -> Figure:
    """Return what tells a load's longest pause in s."""
    return lambda sample: sample.longest_s(name)


def longest_ms(name: str) -> Figure:
    """Return what tells a load's longest pause in ms."""
    return lambda sample: 1000 * sample.longest_s(name)


def before_offender_ms(sample: Sample) -> float:
    """Return the median pause of the server before the offender begins, in ms: of gets from an idle disk."""
    item = sample.run.load("s1")
    alone = item.starts_ns < sample.run.offender_starts_ns()["l1"]
    return float(np.median(item.pauses_ns[alone])) / NS_PER_MS


def dropped_share(name: str) -> Figure:
    """Return what tells the share of a load's cycles that dropped their work, in per cent."""

    def share(sample: Sample) -> float:
        item = sample.run.load(name)
        return 100 * item.dropped / len(item.durations_ns)

    return share


def first_stall_share(sample: Sample) -> float:
    """Return how much was dirty as the log first stopped its loop, in per cent of the background threshold."""
    item = sample.run.load("g1")
    stopped = np.flatnonzero(item.pauses_ns > STALL_S * NS_PER_S)
    if not len(stopped):
        return float("inf")
    state = sample.state
    at = max(int(np.searchsorted(state.ts_ns, item.starts_ns[stopped[0]], side="right")) - 1, 0)
    return 100 * float(state.dirty[at] / state.background[at])


def cycle_rate(sample: Sample, name: str) -> float:
    """Return how many cycles a second a load got done."""
    return NS_PER_S / float(sample.run.load(name).durations_ns.mean())


def requests_a_cycle(name: str, way: str) -> Figure:
    """Return what tells how many requests the disk got for each whole cycle of a load."""

    def mean(sample: Sample) -> float:
        item = sample.run.load(name)
        return moved(sample, way, int(item.boundaries_ns[0])).count / (len(item.durations_ns) - 1)

    return mean


def later_passes(sample: Sample) -> float:
    """Return how many requests each pass over a device made after the first two."""
    bounds_ns = sample.run.load("d1").boundaries_ns
    return moved(sample, "R", int(bounds_ns[2])).count / (len(bounds_ns) - 3)


def paused_share(sample: Sample) -> float:
    """Return the share of its time that the server's loop was stopped, in per cent."""
    item = sample.run.load("s1")
    return 100 * float(item.pauses_ns.sum() / item.durations_ns.sum())


def chadd_claims() -> tuple[Claim, ...]:
    """Return his claims, in the order of the project's list of them."""
    found = [*_paradigms(), *_logs(), *_stores(), *_sizes(), *_memory(), *_open()]
    return tuple(sorted(found, key=lambda claim: int(claim.name.partition("-")[0][1:])))


def _paradigms() -> list[Claim]:
    stall = "longest stop of a loop that serves objects beside l1"
    return [
        _on("c1-sync", "sync I/O stops the loop", _PARADIGMS, "loop-sync",
            Measure(stall, "s", longest_s("s1"), _over(STALL_S), f"over {STALL_S} s")),
        _on("c2-threads", "calls in threads leave the loop free", _PARADIGMS, "loop-threads",
            Measure(stall, "ms", longest_ms("s1"), _under(FREE_MS), f"under {FREE_MS} ms")),
        _against("c3-aio", "POSIX AIO on Linux does one operation of a descriptor at a time", _PARADIGMS,
                 "aio-one", "aio-many", dropped_share("s1"),
                 "requests dropped with all objects in one file, less those with a file each", "% of requests",
                 lambda one, many: one - many, lambda value: value > 25, "over 25 %, on a disk that serves 16 at once"),
        _against("c5-close", "write and close can stop the loop as well: hand over all five calls", _PARADIGMS,
                 "loop-some", "loop-threads", longest_s("s1"),
                 "longest stop with write and close left to the loop, less that with all five handed over", "s",
                 lambda some, all_: some - all_, lambda value: value > STALL_S, f"over {STALL_S} s"),
        _on("c18-sendfile", "sendfile stops the loop on files that are not in memory", _PARADIGMS, "loop-sendfile",
            Measure("median stop of a loop that sends objects, without an offender", "ms", before_offender_ms,
                    _over(1), "at least what the disk takes for a request, 1 ms")),
    ]  # fmt: skip


def _logs() -> list[Claim]:
    return [
        _on("c6-log", "a log written by the loop stops it long before the cache is full", _LOGS, "loop-sync",
            Measure(f"dirty at the first stop over {STALL_S} s, of the background threshold", "%", first_stall_share,
                    _under(100), "less than 100 %",
                    "On Linux nothing stops a write before the disk or the limits are at work")),
        _on("c7-pipe", "a process at the end of a pipe ends that", _LOGS, "loop-sendfile",
            Measure("longest stop of a loop that logs through a pipe, beside l1", "ms", longest_ms("g1"),
                    _under(FREE_MS), f"under {FREE_MS} ms")),
        _on("c7-drops", "and a full pipe drops entries", _LOGS, "pipe-small",
            Measure("lines dropped, beside l1, with a pipe of 4 KiB", "% of lines", dropped_share("g1"), _over(0),
                    "some")),
    ]  # fmt: skip


def _stores() -> list[Claim]:
    return [
        _on("c9-cold", "a cold object in a file takes 6 to 8 requests", _STORES, "cold-all",
            Measure("requests for each object after all caches were dropped", "requests", requests_a_cycle("r1", "R"),
                    lambda value: 6 <= value <= 8, "6 to 8",
                    "Three levels of directories, as his stores have; inodes made together share a block")),
        _against("c10-metadata", "caching directories and inodes cuts that", _STORES, "cold-data", "cold-all",
                 requests_a_cycle("r1", "R"), "requests with directories and inodes cached, of those without", "×",
                 lambda data, all_: data / all_, _under(0.5), "at most half"),
        _against("c12-requests", "a log in segments of 1 MiB minimises writes: their number", _STORES, "put-cyclic",
                 "put-files", requests_a_cycle("s1", "W"), "writes for each object, of those with a file each", "×",
                 lambda log, files: log / files, _under(0.9), "at least a tenth fewer"),
        _on("c22-atime", "opening and reading may write (atime)", _STORES, "gets",
            Measure("writes for each object got, with nothing else to write", "requests", requests_a_cycle("s1", "W"),
                    _over(0.01), "some", "relatime, the default, writes the time of the first read of a new file")),
    ]  # fmt: skip


def _sizes() -> list[Claim]:
    return [
        _against("c8-sizes", "reads of 64 KiB are nearly as many a second as of 512 B: 14 % fewer (SATA, 7200 rpm)",
                 _DISKS, "reads-64k", "reads-512", lambda sample: cycle_rate(sample, "r1"),
                 "reads a second of 64 KiB, less than of 512 B by", "%", lambda large, small: 100 * (1 - large / small),
                 lambda value: 12 <= value <= 16, "12 to 16 %, by the lab's model of that disk"),
        _on("c20-cached", "Linux caches what is read from a raw device", _DISKS, "raw",
            Measure("requests of a pass over 1 MiB of a device after the first", "requests", later_passes, _under(0.1),
                    "none")),
        _on("c20-direct", "but not with O_DIRECT", _DISKS, "raw-direct",
            Measure("requests of a pass over 1 MiB of a device after the first", "requests", later_passes, _over(1),
                    "as many as in the first")),
    ]  # fmt: skip


def _memory() -> list[Claim]:
    return [
        _against("c15-merge", "writes through mapped memory merge if pages beside each other are dirty in time",
                 "mmap", "mapped-order", "mapped-random", lambda sample: moved(sample, "W").mean,
                 "mean write, pages dirtied in order, of that at random", "×", lambda one, other: one / other, _over(2),
                 "at least twice as large"),
        _on("c27-ram", "Varnish's way, objects in mapped memory, is good in RAM", "mmap", "map-ram",
            Measure("time that the loop was stopped, 1 MiB in 150 MiB of memory", "%", paused_share, _under(10),
                    "at most 10 %")),
        _on("c27-beyond", "and bad beyond", "mmap", "map-beyond",
            Measure("time that the loop was stopped, 256 MiB in 150 MiB of memory", "%", paused_share, _over(20),
                    "at least 20 %")),
    ]  # fmt: skip


def _open() -> list[Claim]:
    reasons = (
        ("c4-polling", "asking for n operations under way costs O(n)",
         "glibc asks in memory, without a system call; in virtual time the processor's work takes no time"),
        ("c11-evicts", "load evicts directories and inodes", "no load walks directories again and again"),
        ("c13-together", "objects that are fetched together belong together",
         "the lab's servers draw each object by itself: nothing is fetched together"),
        ("c14-small", "many small files cost metadata and journal besides",
         "what is still dirty at the end of a run is not in its trace, so that bytes for each object come out too few"),
        ("c16-msync", "msync of a whole file with few dirty pages is fine on Linux",
         "it is about the processor's work on clean pages, which takes no time in virtual time"),
        ("c17-madvise", "madvise helps", "no load gives advice to the kernel"),
        ("c19-later", "sendfile and mmap show later changes of a file, read does not",
         "true by what these calls are; the loads' receiver does not look at what it gets"),
        ("c21-walk", "a walk through a file spoils the LRU list", "no case has a hot set beside a walk"),
        ("c23-cancel", "what is in flight cannot be cancelled", "no load cancels anything"),
        ("c24-mirrors", "mirrors spread reads and write as one disk", "no case of these has a mirror"),
        ("c25-filesystems", "several small filesystems instead of a big one",
         "no case has two filesystems on one disk: two disks are another question, see the preset two-disks"),
        ("c26-bursts", "in bursts queue and service time snowball: accept no more than fits",
         "a loop's cycles tell how long it was stopped, not how long a request took"),
    )  # fmt: skip
    return [Claim(name, says, "not tested", (), untested(why)) for name, says, why in reasons]


def _on(name: str, says: str, source: str, case: str, measure: Measure) -> Claim:
    return Claim(name, says, source, (case,), measure.on(case))


def _against(  # noqa: PLR0913, PLR0917 - a row of a table
    name: str, says: str, source: str, case: str, other: str, of: Figure, what: str, unit: str,
    compare: Callable[[float, float], float], holds: Callable[[float], bool], wanted: str,
) -> Claim:  # fmt: skip
    """Return a claim that compares a figure of two cases, seed by seed."""

    def check(samples: Samples) -> Verdict:
        pairs = zip(samples[case], samples[other], strict=True)
        effect = over_seeds(what, unit, [compare(of(one), of(two)) for one, two in pairs])
        return judge(effect, holds, wanted)

    return Claim(name, says, source, (case, other), check)


def _over(least: float) -> Callable[[float], bool]:
    return lambda value: value > least


def _under(most: float) -> Callable[[float], bool]:
    return lambda value: value < most
