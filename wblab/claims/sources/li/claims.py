"""Claims of Coly Li's blog: resync of mirrors, the device mapper, and his reports from workshops."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from wblab.analysis.runs.blocks import BIOS, REQUESTS, Submitted, submitted
from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.run import Times
from wblab.analysis.statistics.decision import between, over, under
from wblab.claims.sources.claim import Claim, Measure, untested
from wblab.claims.sources.figures import compared, copy_s
from wblab.claims.sources.li.processors import RESYNC, processor_claims
from wblab.claims.sources.li.workshops import workshop_claims
from wblab.claims.sources.sample import Sample

UNIT_BYTES = 64 << 20  # of md's barrier: BARRIER_UNIT_SECTOR_SIZE, drivers/md/raid1-10.h
UNITS = 4  # of the disks of the case `mirror`
SECTOR = 512
_SAME = (0.95, 1.05)
_LONGER = 1.25
_WAITED = 1.25  # times as long as without a resync: a request that takes longer has waited for it
_LEAST_PERCENT = 0.01  # less is none
_LARGE = 64  # sectors: "much larger" than 8

_BUCKETS = "RAID1: barrier buckets (2017)"
_SMALL = "Requests of 4 KiB on a device-mapper target (2016)"


def resync(sample: Sample) -> Submitted:
    """Return the reads, by the thread that checks a mirror, from its first disk."""
    return submitted(page_cache(sample.run), BIOS).of("a").by(RESYNC)


def units_at(found: Submitted, times_ns: Times) -> NDArray[np.int64]:
    """Return the unit under resync at these times; -1 where there was no resync."""
    if not len(found):
        return np.full(len(times_ns), -1, np.int64)
    before = np.searchsorted(found.ts_ns, times_ns, side="right") - 1
    during = (before >= 0) & (times_ns < found.ts_ns[-1])
    return np.where(during, found.place[np.maximum(before, 0)] // UNIT_BYTES, -1)


def beside_resync(sample: Sample, loads: dict[str, int]) -> float:
    """Return the time of a request to the unit under resync / the time of one elsewhere meanwhile.

    loads: loads that use one unit only, with its number. The medians of all their cycles are compared.
    """
    found = resync(sample)
    inside, outside = [], []
    for name, unit in loads.items():
        item = sample.run.load(name)
        at = units_at(found, item.starts_ns)
        inside.append(item.pauses_ns[at == unit])
        outside.append(item.pauses_ns[(at >= 0) & (at != unit)])
    return float(np.median(np.concatenate(inside)) / np.median(np.concatenate(outside)))


def met_share(sample: Sample) -> float:
    """Return the share of random writes during a resync that took longer than those without one."""
    item = sample.run.load("w-all")
    at = units_at(resync(sample), item.starts_ns)
    usual_ns = float(np.median(item.pauses_ns[at < 0]))
    return float(np.mean(item.pauses_ns[at >= 0] > _WAITED * usual_ns))


def across(sample: Sample) -> float:
    """Return how many bios on the mirror's disks cross a boundary of units. Raises ValueError if none above does."""
    bios = submitted(page_cache(sample.run), BIOS)
    crossing = bios.where(bios.place // UNIT_BYTES != (bios.place + bios.size - 1) // UNIT_BYTES)
    if not len(crossing.of("mirror")):
        raise ValueError("no write to the mirror crosses a boundary")
    return float(len(crossing.of("a")) + len(crossing.of("b")))


def sectors(event: str, disk: str) -> Callable[[Sample], float]:
    """Return the figure: the mean size of a write to a disk in sectors, as bios or as requests."""

    def mean(sample: Sample) -> float:
        found = submitted(page_cache(sample.run), event)
        return float(found.size[found.write & ((found.disk == disk) | (found.disk == ""))].mean()) / SECTOR

    return mean


def _mirror_claims() -> list[Claim]:
    writes, reads = {"w-first": 0, "w-third": 2}, {"r-first": 0, "r-third": 2}
    measures = [
        (
            "L5-writes-wait",
            "during a resync a write to the unit under resync waits, one elsewhere does not",
            Measure(
                "time of a write there / of a write elsewhere meanwhile", "×",
                lambda sample: beside_resync(sample, writes),
                over(_LONGER), f"more than {_LONGER} times as long",
            ),
        ),
        (
            "L6-reads-pass",
            "reads never wait at the barrier",
            Measure(
                "time of a read there / of a read elsewhere meanwhile", "×",
                lambda sample: beside_resync(sample, reads),
                between(*_SAME), "as long, within 5 %",
            ),
        ),
        (
            "L7-no-crossing",
            "no request below the mirror crosses a 64 MiB boundary",
            Measure(
                "bios below that cross a boundary", "bios", across, between(0, 0), "none, though writes above do",
                each=True,
            ),
        ),
        (
            "L8-chance",
            "a random write meets the resync with probability one over the number of units",
            Measure(
                "writes during the resync that waited", "%", lambda sample: 100 * met_share(sample),
                between(_LEAST_PERCENT, 100 / UNITS), f"some, and no more than {100 / UNITS:.0f} %",
                "Not every write to the unit under resync meets a pending request",
            ),
        ),
    ]  # fmt: skip
    return [Claim(name, says, _BUCKETS, ("mirror",), measure.on("mirror")) for name, says, measure in measures]


def _mapper_claims() -> list[Claim]:
    def measured(name: str, says: str, case: str, measure: Measure) -> Claim:
        return Claim(name, says, _SMALL, (case,), measure.on(case))

    mean = "mean write"
    return [
        measured(
            "L9-small-above", "buffered writes to a raw target of the device mapper are bios of 8 sectors", "linear",
            Measure(f"{mean} at the target", "sectors", sectors(BIOS, "line"), between(8, 8), "8"),
        ),
        measured(
            "L10-large-below", "below it they are merged into much larger requests", "linear",
            Measure(
                f"{mean} at the disk", "sectors", sectors(REQUESTS, "a"), over(_LARGE),
                f"more than {_LARGE}",
            ),
        ),
        measured(
            "L11-direct", "direct writes reach the target in the size of the call", "linear-direct",
            Measure(
                f"{mean} at the target", "sectors", sectors(BIOS, "line"), over(_LARGE),
                f"more than {_LARGE}, of calls of 2048",
                "The disk's queue takes 255: since Linux 4.3 larger bios are split there, not above",
            ),
        ),
        Claim(
            "L12-throughput", "the target is as fast as the bare disk", _SMALL, ("linear", "bare"),
            compared(
                Measure(
                    "time of the copy / on the bare disk", "×", copy_s,
                    between(*_SAME), "as long, within 5 %",
                ), "linear", "bare",
            ),
        ),
        measured(
            "L13-plug", "without a scheduler only the plug merges", "delay-none",
            Measure(
                f"{mean} at the disk, without a scheduler and without a plug", "sectors", sectors(REQUESTS, "a"),
                under(2 * 8), "less than 16",
                "dm-delay submits bios from a thread without a plug; a plug merges as much as a scheduler",
            ),
        ),
        measured(
            "L14-files", "files on ext3 are written in bios of 8 sectors, too (here: ext4)", "linear-ext4",
            Measure(
                f"{mean} at the target", "sectors", sectors(BIOS, "line"), under(2 * 8), "less than 16",
                "ext4 builds large bios itself (writepages)",
            ),
        ),
    ]  # fmt: skip


_UNTESTED = {
    "L19-lru": (
        "mapped reads with pages moved in the LRU are twice as fast",
        "needs a system call of Baidu's that was never merged; Chadd's claim c17, on madvise, is near it",
    ),
    "L22-fsck": (
        "metadata on a faster device shortens fsck",
        "needs a filesystem over two different devices, which the lab does not have",
    ),
    "L24-ssd": (
        "some SSDs are slower in order than at random",
        "a property of devices; the lab's model does not have it",
    ),
}


def li_claims() -> tuple[Claim, ...]:
    """Return all claims, by their numbers."""
    others = [Claim(name, says, "not tested", (), untested(why)) for name, (says, why) in _UNTESTED.items()]
    claims = [*_mirror_claims(), *_mapper_claims(), *workshop_claims(), *processor_claims(), *others]
    return tuple(sorted(claims, key=lambda claim: int(claim.name[1:].partition("-")[0])))
