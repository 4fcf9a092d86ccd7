"""Claims of Coly Li's blog: mirrors that copy themselves, the device mapper, and what he reports of workshops."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from wblab.claims.base import LEAST_PAIRS, Claim, Measure, Samples, Verdict, judge, over_seeds, ratio, untested
from wblab.claims.sample import Sample
from wblab.core.units import NS_PER_S
from wblab.data.blocks import BIOS, REQUESTS, Asked, asked
from wblab.data.disks import unplug_s
from wblab.data.pagecache import page_cache
from wblab.data.pauses import load_pauses
from wblab.data.run import Times

UNIT_BYTES = 64 << 20  # of md's barrier: BARRIER_UNIT_SECTOR_SIZE, drivers/md/raid1-10.h
UNITS = 4  # of the disks of the case `mirror`
SECTOR = 512
_RESYNC = "resync"  # at the end of the name of the thread that copies a mirror
_SAME = (0.95, 1.05)
_LONGER = 1.25
_WAITED = 1.25  # times what a request takes without a resync: who takes longer has waited for it
_PAGE_KIB, _TICK_MS = 4, 10  # a guest's page, and its timer's tick
_MAX_PAUSE_MS = 200  # MAX_PAUSE, mm/page-writeback.c
_LARGE = 64  # sectors: "much larger" than 8

_BUCKETS = "RAID1: barrier buckets (2017)"
_SMALL = "Requests of 4 KiB on a device-mapper target (2016)"
_WORKSHOP = "workshops (2009, 2010)"


def resync(sample: Sample) -> Asked:
    """Return what the thread that checks a mirror read from its first disk."""
    bios = asked(page_cache(sample.run), BIOS).of("a")
    return bios.where(np.array([task.endswith(_RESYNC) for task in bios.task.tolist()], bool))


def units_at(found: Asked, times_ns: Times) -> NDArray[np.int64]:
    """Return which unit a resync was at, at these times; -1 where there was none."""
    if not len(found):
        return np.full(len(times_ns), -1, np.int64)
    before = np.searchsorted(found.ts_ns, times_ns, side="right") - 1
    during = (before >= 0) & (times_ns < found.ts_ns[-1])
    return np.where(during, found.place[np.maximum(before, 0)] // UNIT_BYTES, -1)


def beside_resync(sample: Sample, loads: dict[str, int]) -> float:
    """Return how many times as long requests to the unit that is under resync take as requests elsewhere meanwhile.

    loads: those that keep to one unit, with its number. The medians of all their cycles are compared.
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
    """Return the share of writes anywhere, during a resync, that took longer than those without one."""
    item = sample.run.load("w-all")
    at = units_at(resync(sample), item.starts_ns)
    usual_ns = float(np.median(item.pauses_ns[at < 0]))
    return float(np.mean(item.pauses_ns[at >= 0] > _WAITED * usual_ns))


def across(sample: Sample) -> float:
    """Return how many bios on the mirror's disks cross a border of units. Raises ValueError if none does above."""
    bios = asked(page_cache(sample.run), BIOS)
    crossing = bios.where(bios.place // UNIT_BYTES != (bios.place + bios.size - 1) // UNIT_BYTES)
    if not len(crossing.of("mirror")):
        raise ValueError("no write to the mirror crosses a border")
    return float(len(crossing.of("a")) + len(crossing.of("b")))


def sectors(event: str, disk: str) -> Callable[[Sample], float]:
    """Return what tells how many sectors a write to a disk has on average, as bios or as requests."""

    def mean(sample: Sample) -> float:
        found = asked(page_cache(sample.run), event)
        return float(found.size[found.write & ((found.disk == disk) | (found.disk == ""))].mean()) / SECTOR

    return mean


def copy_s(sample: Sample) -> float:
    """Return how long a copy took until the disk had everything, in s."""
    run = sample.run
    return float(run.load("l1").boundaries_ns[-1] - run.offender_starts_ns()["l1"]) / NS_PER_S + unplug_s(run)["l1"]


def pause_law_share(sample: Sample) -> float:
    """Return the share of decisions in which the sleep is what the task had dirtied / its rate, to a tick below.

    From the sleep the kernel takes off what the task did since its last one. Those that a bound cuts are left out.
    """
    events = page_cache(sample.run).events("balance_dirty_pages")
    columns = (events[name].astype(float) for name in ("pause", "think", "task_ratelimit", "dirtied"))
    pause, think, rate, pages = columns  # ms, ms, KiB/s
    slept = (pause > 0) & (pause < _MAX_PAUSE_MS) & (rate > 0)
    short_ms = 1000 * _PAGE_KIB * pages[slept] / rate[slept] - (pause + think)[slept]
    return float(np.mean((short_ms >= 0) & (short_ms <= _TICK_MS)))


def paused_ratio(sample: Sample) -> float:
    """Return the largest paused fraction of the small writers over that of the big one, l1."""

    def fraction(name: str) -> float:
        item = sample.run.load(name)
        return load_pauses(item, sample.run.zero_ns).paused_s / (float(np.sum(item.durations_ns)) / NS_PER_S)

    return max(fraction(name) for name in ("w1", "mw1")) / fraction("l1")


def stops_in_faults(sample: Sample) -> float:
    """Return how often the kernel throttled the load that writes to a mapped file, and calls no write."""
    decisions = sample.decisions(sample.run.load("m1"))
    return float((decisions.pause_ns > 0).sum())


def _compared(measure: Measure, changed: str, before: str) -> Callable[[Samples], Verdict]:
    """Return the check that compares a figure of two cases, seed by seed."""

    def check(samples: Samples) -> Verdict:
        ones, others = ([measure.of(sample) for sample in samples[case]] for case in (changed, before))
        if len(ones) >= LEAST_PAIRS:
            effect = ratio(measure.what, ones, others)
        else:
            effect = over_seeds(measure.what, measure.unit, np.divide(ones, others).tolist())
        return judge(effect, measure.holds, measure.wanted, measure.note)

    return check


def _mirror_claims() -> list[Claim]:
    writes, reads = {"w-first": 0, "w-third": 2}, {"r-first": 0, "r-third": 2}
    measures = [
        (
            "L5-writes-wait",
            "during a resync a write to the unit under resync waits, one elsewhere does not",
            Measure(
                "a write there / a write elsewhere meanwhile", "×", lambda sample: beside_resync(sample, writes),
                lambda value: value > _LONGER, f"more than {_LONGER} times as long",
            ),
        ),
        (
            "L6-reads-pass",
            "reads never wait at the barrier",
            Measure(
                "a read there / a read elsewhere meanwhile", "×", lambda sample: beside_resync(sample, reads),
                lambda value: _SAME[0] <= value <= _SAME[1], "as long, within 5 %",
            ),
        ),
        (
            "L7-no-crossing",
            "no request below the mirror spans a border of 64 MiB",
            Measure("bios across a border below", "", across, lambda value: value == 0, "none, with writes across it"),
        ),
        (
            "L8-chance",
            "a write anywhere meets the resync with a chance of one over the number of units",
            Measure(
                "writes during the resync that waited", "%", lambda sample: 100 * met_share(sample),
                lambda value: 0 < value <= 100 / UNITS, f"some, and no more than {100 / UNITS:.0f} %",
                "Only some of those that are at the right unit also meet a request that is under way",
            ),
        ),
    ]  # fmt: skip
    return [Claim(name, says, _BUCKETS, ("mirror",), measure.on("mirror")) for name, says, measure in measures]


def _mapper_claims() -> list[Claim]:
    def measured(name: str, says: str, case: str, measure: Measure) -> Claim:
        return Claim(name, says, _SMALL, (case,), measure.on(case))

    mean = "sectors of a write on average"
    return [
        measured(
            "L9-small-above", "buffered writes to a raw target of the device mapper are bios of 8 sectors", "linear",
            Measure(f"{mean}, at the target", "", sectors(BIOS, "line"), lambda value: value == 8, "8"),
        ),
        measured(
            "L10-large-below", "they are merged below it to much larger requests", "linear",
            Measure(
                f"{mean}, at the disk", "", sectors(REQUESTS, "a"), lambda value: value > _LARGE, f"more than {_LARGE}"
            ),
        ),
        measured(
            "L11-direct", "direct writes come to the target as large as the queue takes them", "linear-direct",
            Measure(
                f"{mean}, at the target", "", sectors(BIOS, "line"), lambda value: value > _LARGE,
                f"more than {_LARGE}, of calls of 2048",
            ),
        ),
        Claim(
            "L12-throughput", "the target is as fast as the bare disk", _SMALL, ("linear", "bare"),
            _compared(
                Measure(
                    "time of the copy / on the bare disk", "×", copy_s,
                    lambda value: _SAME[0] <= value <= _SAME[1], "as long, within 5 %",
                ), "linear", "bare",
            ),
        ),
        Claim(
            "L13-plug", "without a scheduler, merging is only what the plug does", _SMALL, ("linear-none", "linear"),
            _compared(
                Measure(
                    "sectors of a request / with a scheduler", "×", sectors(REQUESTS, "a"),
                    lambda value: value < _SAME[0], "smaller requests",
                    "The plug alone merges as much as a scheduler where one program writes in order",
                ), "linear-none", "linear",
            ),
        ),
        measured(
            "L14-files", "files on ext3 are bios of 8 sectors, too (here: ext4)", "linear-ext4",
            Measure(
                f"{mean}, at the target", "", sectors(BIOS, "line"), lambda value: value < 2 * 8, "less than 16",
                "ext4 builds large bios itself (writepages)",
            ),
        ),
    ]  # fmt: skip


def _workshop_claims() -> list[Claim]:
    def measured(name: str, says: str, case: str, measure: Measure) -> Claim:
        return Claim(name, says, _WORKSHOP, (case,), measure.on(case))

    return [
        measured(
            "L15-pause-law", "a task sleeps for what it dirtied / its rate", "ext4",
            Measure(
                "sleeps that are dirtied / rate, to a tick of the timer", "%",
                lambda sample: 100 * pause_law_share(sample), lambda value: value >= 95, "95 % of all",
            ),
        ),
        measured(
            "L16-big-one", "one big writer is held back, small ones are not", "ext4",
            Measure(
                "paused fraction of a small writer / of l1", "×", paused_ratio, lambda value: value < 0.1,
                "less than a tenth",
            ),
        ),
        measured(
            "L18-fault", "who writes to a mapped file is throttled in the page fault", "mapped",
            Measure("decisions to stop m1, which calls no write", "", stops_in_faults, lambda value: value > 0, "some"),
        ),
        Claim(
            "L20-blocks", "larger blocks make ext2 faster", _WORKSHOP, ("ext2-4k", "ext2-1k"),
            _compared(
                Measure(
                    "time of the copy with blocks of 4 KiB / of 1 KiB", "×", copy_s,
                    lambda value: value < _SAME[0], "at least 5 % less",
                ), "ext2-4k", "ext2-1k",
            ),
        ),
    ]  # fmt: skip


_UNTESTED = {
    "L1-no-lock": (
        "reads of a mirror take resync_lock not once",
        "needs a kernel that counts locks (CONFIG_LOCK_STAT)",
    ),
    "L2-old-lock": (
        "the old scheme took it to enter and to leave, for each request",
        "needs the old scheme as a patch",
    ),
    "L3-uncontended": ("without contention both are equally fast", "needs the old scheme as a patch"),
    "L4-contended": ("with parallel readers the new scheme gives +70 %", "in virtual time a guest has one processor"),
    "L17-chunk": ("chunks of 40 instead of 4 MB per write-out give +20 %", "the size is no setting: needs a patch"),
    "L19-lru": ("mapped reads with pages moved in the LRU are twice as fast", "needs a system call of Baidu's own"),
    "L21-trace": (
        "tracing slows the machine, as its buffer is shared by all processors",
        "in virtual time a trace takes no time; and the buffer has been one for each processor for long",
    ),
    "L22-fsck": (
        "metadata on a faster device shorten fsck",
        "the guest has no filesystem over two devices, and no fsck",
    ),
    "L23-suspend": ("memory management should suspend who dirties too much", "a proposal; see L15"),
    "L24-ssd": (
        "some SSDs are slower in order than at random",
        "a property of a device: the model has what it is given",
    ),
}


def li_claims() -> tuple[Claim, ...]:
    """Return all claims, by their numbers."""
    others = [Claim(name, says, "not tested", (), untested(why)) for name, (says, why) in _UNTESTED.items()]
    claims = [*_mirror_claims(), *_mapper_claims(), *_workshop_claims(), *others]
    return tuple(sorted(claims, key=lambda claim: int(claim.name[1:].partition("-")[0])))
