"""Claims of Coly Li's on what processors share: the lock of a mirror's barrier, and the buffer of a trace.

Locks are counted in virtual time, by the events of a kernel with CONFIG_LOCK_STAT. What contention costs is measured by
the host's clock, with several processors.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from wblab.analysis.runs.blocks import BIOS, submitted
from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.statistics.decision import Range, between, over
from wblab.claims.sources.claim import Claim, Measure, Samples
from wblab.claims.sources.figures import Figure, compared, left
from wblab.claims.sources.li.cases import PROCESSORS
from wblab.claims.sources.li.programs import readers
from wblab.claims.sources.sample import Sample
from wblab.study.statement import Verdict

_LOCKS = "RAID1: spin locks in the I/O barrier (2017)"
_READERS = ("r-first", "r-third")
_EACH = (1.9, 2.1)  # acquisitions for a request: to enter and to leave
_SAME = (0.9, 1.1)
RESYNC = "resync"  # at the end of the name of the thread that copies a mirror
_MORE = 1.1
_OWN = 0.9  # besides, kernel threads may use the disks from another processor


def by_readers(sample: Sample) -> float:
    """Return how often the loads that read a mirror took resync_lock. Raises ValueError if nobody took it."""
    taken = page_cache(sample.run).events("lock_acquire")
    if not len(taken):
        raise ValueError("nobody took the lock, not even the resync")
    return float(np.isin(taken.pid, [sample.run.load(name).pid for name in _READERS]).sum())


def for_each_request(sample: Sample) -> float:
    """Return how often resync_lock was taken for each request to the mirror, until the resync began."""
    cache = page_cache(sample.run)
    found = submitted(cache, BIOS)
    resync_ns = int(found.by(RESYNC).ts_ns[0])
    taken_ns, requests_ns = cache.events("lock_acquire").ts_ns, found.of("mirror").ts_ns
    counts = [int(((sample.run.zero_ns <= times) & (times < resync_ns)).sum()) for times in (taken_ns, requests_ns)]
    return counts[0] / counts[1]


def time_ns(which: str) -> Figure:
    """Return the figure: how long the threads read, in ns; which: see `readers.main`."""
    return lambda sample: left(sample, readers.RESULT)[which]


def traced_together(sample: Sample) -> float:
    """Return how many times as long tracing makes it take with a thread on each processor / with one thread.

    Raises ValueError if a processor's events are in the buffer of another.
    """
    found = left(sample, readers.RESULT)
    if found["own"] < _OWN:
        raise ValueError(f"only {found['own']:.0%} of a processor's events are in its own buffer")
    return (found["together_traced"] / found["together"]) / (found["alone_traced"] / found["alone"])


def on_cores(claim: Claim) -> Claim:
    """Return a claim whose verdict says on how many processors of how many of the host it was tested."""

    def check(samples: Samples) -> Verdict:
        verdict = claim.check(samples)
        cores = {int(run.run.record["host"]["cores"]) for case in claim.cases for run in samples[case]}
        on = f"{PROCESSORS} processors, threads of a host with {' or '.join(map(str, sorted(cores)))}"
        return replace(verdict, why=f"{verdict.why}. On {on}")

    return replace(claim, check=check)


def _compared(which: str, what: str, holds: Range, wanted: str, note: str) -> Callable[[Samples], Verdict]:
    return compared(Measure(what, "×", time_ns(which), holds, wanted, note), "readers-old", "readers")


def processor_claims() -> list[Claim]:
    """Return the claims on locks and on tracing with several processors."""
    old, only = "time with the lock of Linux 4.10 / without it", "Only that lock is as it was then"
    locks = [
        Claim(
            "L1-no-lock", "reads of a mirror never take resync_lock", _LOCKS, ("mirror-locks",),
            Measure(
                "acquisitions by loads that read", "times", by_readers, between(0, 0), "none, though a resync takes it",
                each=True,
            ).on("mirror-locks"),
        ),
        Claim(
            "L2-old-lock", "the old scheme took it twice for each request, to enter and to leave", _LOCKS,
            ("mirror-old-locks",),
            Measure(
                "acquisitions for each request before the resync", "times", for_each_request, between(*_EACH),
                "2, within 5 %", "The old scheme is a patch of this kernel",
            ).on("mirror-old-locks"),
        ),
    ]  # fmt: skip
    both = ("readers-old", "readers")
    timed = [
        Claim(
            "L3-uncontended", "without contention both are equally fast", _LOCKS, both,
            _compared("alone", f"one reader's {old}", between(*_SAME), "as long, within 10 %", only),
        ),
        Claim(
            "L4-contended", "with parallel readers the new scheme gives +70 %", _LOCKS, both,
            _compared("together", f"a reader on each processor: {old}", over(_MORE), "at least a tenth longer", only),
        ),
        Claim(
            "L21-trace", "tracing slows the machine, because all processors share its buffer",
            "workshops (2009, 2010)", ("readers",),
            Measure(
                "times as long by tracing, with a reader on each processor / with one", "×", traced_together,
                over(_MORE), "at least a tenth longer",
                "A processor's events were in its own buffer, as since Linux 2.6.28",
            ).on("readers"),
        ),
    ]  # fmt: skip
    return [*locks, *map(on_cores, timed)]
