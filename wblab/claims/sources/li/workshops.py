"""Claims from workshops that Coly Li reports on (2009, 2010): throttling, and how much is written at a time."""

import numpy as np

from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.pauses import load_pauses
from wblab.analysis.statistics.decision import at_least, over, under
from wblab.claims.sources.claim import Claim, Measure
from wblab.claims.sources.figures import compared, copy_s, moved
from wblab.claims.sources.sample import Sample
from wblab.core.units import NS_PER_S

_PAGE_KIB, _TICK_MS = 4, 10  # a guest's page, and its timer's tick
_MAX_PAUSE_MS = 200  # MAX_PAUSE, mm/page-writeback.c
_SAME = (0.95, 1.05)
_MORE = 1.1
_STEADY_S = 4  # until the disk is saturated

_WORKSHOP = "workshops (2009, 2010)"


def pause_law_share(sample: Sample) -> float:
    """Return the share of decisions in which the sleep is pages dirtied / rate, or up to one timer tick less.

    The kernel subtracts the time since the task's last sleep. Sleeps capped at the maximum are left out.
    """
    events = page_cache(sample.run).events("balance_dirty_pages")
    columns = (events[name].astype(float) for name in ("pause", "think", "task_ratelimit", "dirtied"))
    pause, think, rate, pages = columns  # ms, ms, KiB/s
    slept = (pause > 0) & (pause < _MAX_PAUSE_MS) & (rate > 0)
    short_ms = 1000 * _PAGE_KIB * pages[slept] / rate[slept] - (pause + think)[slept]
    return float(np.mean((short_ms >= 0) & (short_ms <= _TICK_MS)))


def paused_ratio(sample: Sample) -> float:
    """Return the largest paused fraction of a small writer / that of the big one, l1."""

    def fraction(name: str) -> float:
        item = sample.run.load(name)
        return load_pauses(item, sample.run.zero_ns).paused_s / (float(np.sum(item.durations_ns)) / NS_PER_S)

    return max(fraction(name) for name in ("w1", "mw1")) / fraction("l1")


def stops_in_faults(sample: Sample) -> float:
    """Return how often the kernel throttled m1, which writes to a mapped file and never calls write."""
    decisions = sample.decisions(sample.run.load("m1"))
    return float((decisions.pause_ns > 0).sum())


def asked_share(sample: Sample) -> float:
    """Return the share of l1's paused time in which the kernel made it sleep, in per cent."""
    item = sample.run.load("l1")
    asked_ns = sample.decisions(item).pause_ns
    return 100 * float(asked_ns[asked_ns > 0].sum() / item.pauses_ns.sum())


def written_bytes(sample: Sample) -> float:
    """Return how many bytes were written to the disk, from 4 s after the loads' start to the end."""
    return float(moved(sample, "W", sample.run.zero_ns + _STEADY_S * NS_PER_S).bytes)


def workshop_claims() -> list[Claim]:
    """Return the claims from workshops."""

    def measured(name: str, says: str, case: str, measure: Measure) -> Claim:
        return Claim(name, says, _WORKSHOP, (case,), measure.on(case))

    return [
        measured(
            "L15-pause-law", "a task sleeps for the time (pages dirtied / its rate)", "ext4",
            Measure(
                "sleeps that equal it, to one timer tick", "%",
                lambda sample: 100 * pause_law_share(sample), at_least(95), "95 % of all",
            ),
        ),
        measured(
            "L16-big-one", "one big writer is throttled, small ones are not", "ext4",
            Measure(
                "paused fraction of a small writer / of l1", "×", paused_ratio, under(0.1),
                "less than a tenth",
            ),
        ),
        Claim(
            "L17-chunk", "chunks of 40 instead of 4 MB per write-out give +20 %", _WORKSHOP, ("chunk-40", "chunk-4"),
            compared(
                Measure(
                    "data written in the same time, chunks of 40 MiB / of 4 MiB", "×", written_bytes,
                    over(_MORE), "at least a tenth more",
                    "A seek takes 10 ms, 4 MiB take 42. A chunk is an eighth of the dirty limit, so that differs, too",
                ), "chunk-40", "chunk-4",
            ),
        ),
        measured(
            "L18-fault", "a task that writes to a mapped file is throttled in the page fault", "mapped",
            Measure(
                "times that m1, which never calls write, was throttled", "times", stops_in_faults, over(0),
                "some",
            ),
        ),
        measured(
            "L23-suspend", "memory management should suspend tasks that dirty too much (then a proposal)", "ext4",
            Measure(
                "share of l1's paused time in which the kernel made it sleep", "%", asked_share,
                over(50), "more than half", "Since Linux 3.2 such tasks sleep, see L15",
            ),
        ),
        Claim(
            "L20-blocks", "larger blocks make ext2 faster", _WORKSHOP, ("ext2-4k", "ext2-1k"),
            compared(
                Measure(
                    "time of the copy with blocks of 4 KiB / of 1 KiB", "×", copy_s,
                    under(_SAME[0]), "at least 5 % less",
                ), "ext2-4k", "ext2-1k",
            ),
        ),
    ]  # fmt: skip
