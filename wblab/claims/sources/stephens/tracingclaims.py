"""Stephens's claims on tracing: lost events, other tasks in a trace; and on the RAM disk, which has no queue."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from wblab.analysis.layers.calls import Name
from wblab.analysis.runs import pagecache
from wblab.analysis.runs.blocks import BIOS, REQUESTS
from wblab.analysis.runs.pagecache import PageCache, page_cache
from wblab.analysis.runs.run import LoadCycles
from wblab.analysis.statistics.decision import at_most, between, over
from wblab.analysis.why.requests import device_number, submitted
from wblab.claims.sources.claim import Claim, Measure, Samples
from wblab.claims.sources.figures import on_case
from wblab.claims.sources.sample import Sample
from wblab.claims.sources.stephens.latency import DEVICES, durations
from wblab.study.statement import Verdict, judge, over_seeds

LAYERS = {
    "FS": ("ext4",),
    "MM": ("filemap",),
    "block": ("block",),
}  # the systems of events that replace his prefixes
_INSERTED, _BIO_DONE = "block_rq_insert", "block_bio_complete"
_WRITE: Name = "write"
_LOST, _OTHERS = "lost events", "interference"


def lost_share(sample: Sample) -> float:
    """Return the share of all events that a run's trace lost, in per cent."""
    return pagecache.lost_share(sample.run)


def queued(sample: Sample, disk: str) -> float:
    """Return how many requests entered a disk's queue. Raises ValueError if the disk got no bios."""
    trace, number = page_cache(sample.run).trace, device_number(sample.run.disks[disk].device)
    handed = submitted(trace)
    if handed is None or not (trace.events(handed)["dev"].astype(np.int64) == number).any():
        raise ValueError(f"{disk} got no bios")
    return float(sum((trace.events(event)["dev"].astype(np.int64) == number).sum() for event in (_INSERTED, REQUESTS)))


def own_share(sample: Sample, load: str, *layers: str) -> float:
    """Return a load's share of the events of some layers while it ran, in per cent."""
    cache, item = page_cache(sample.run), sample.run.load(load)
    systems = [system for layer in layers for system in LAYERS[layer]]
    own, everyone = 0, 0
    for events_pid, ts_ns in _of_systems(cache, systems):
        during = (ts_ns >= item.boundaries_ns[0]) & (ts_ns <= item.boundaries_ns[-1])
        own, everyone = own + int((during & (events_pid == item.pid)).sum()), everyone + int(during.sum())
    return 100 * own / everyone if everyone else 0.0


def _of_systems(cache: PageCache, systems: list[str]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the tasks and times of all events of some systems."""
    trace = cache.trace
    keys = [key for key, item in trace.formats.items() if item.system in systems and item.name in trace.names]
    return [(events.pid, events.ts_ns) for events in map(trace.events, keys)]


def least_rise(size: str, *layers: str) -> Callable[[Sample], float]:
    """Return the figure: the smallest factor by which a load's share of events rises to the next faster device."""

    def factor(sample: Sample) -> float:
        shares = [own_share(sample, f"{device}-{size}", *layers) for device in DEVICES]
        return min(after / before for before, after in pairwise(shares))

    return factor


def larger(device: str, *layers: str) -> Callable[[Sample], float]:
    """Return the figure: a load's share of events with writes of 1 MiB / with writes of 4 KiB."""
    return lambda sample: own_share(sample, f"{device}-1m", *layers) / own_share(sample, f"{device}-4k", *layers)


def above_share(sample: Sample) -> float:
    """Return the share of a direct write's time to the RAM disk above the block layer and driver, in per cent.

    Time below lasts from a bio's arrival in the block layer until the driver has completed it.
    """
    item = sample.run.load("ram-direct")
    below_ns = _below_ns(page_cache(sample.run), item, device_number(sample.run.disks["ram"].device))
    return 100 * (1 - below_ns / float(durations(sample)[item.name, _WRITE].sum()))


def _below_ns(cache: PageCache, item: LoadCycles, device: int) -> int:
    """Return the total time of a load's bios below, in ns, for a device that completes them at once."""
    times = []
    for event in (BIOS, _BIO_DONE):
        events = cache.events(event)
        own = (events.pid == item.pid) & (events["dev"].astype(np.int64) == device)
        times.append(events.ts_ns[own & (events.ts_ns >= item.boundaries_ns[0])])
    begun, done = times
    if not len(begun) or len(begun) != len(done):
        raise ValueError(f"{item.name} had {len(begun)} bios; {len(done)} completed")
    return int((done - begun).sum())


def event_claims() -> list[Claim]:
    """Return the claims on events."""
    return [
        on_case("S8-ram", "functions of the request queue are not reached on a RAM disk", "durations of blk_*",
                "sync-ext4",
                Measure("requests in the RAM disk's queue", "requests", lambda run: queued(run, "ram"),
                        between(0, 0), "none, while there are bios",
                        "brd handles bios itself, within submit_bio")),
        on_case("S9-lost", "unfiltered tracing loses 30 to 50 % of the events", _LOST, "all-1m",
                Measure("events lost: all events of the kernel, 1 MiB at a time, a buffer of 256 KiB", "%", lost_share,
                        between(30, 50), "30 to 50 %",
                        "The share depends on the buffer's size and on bursts; it is no constant")),
        _independent(),
        on_case("S9-filter", "with a filter nothing is lost", _LOST, "block-1m",
                Measure("events lost: block:* alone, a buffer of 256 KiB", "%", lost_share,
                        between(0, 0), "none", each=True)),
        on_case("S9-buffer", "(ours) without a filter nothing is lost either, with a buffer sized by a pilot", _LOST,
                "all-1m-sized", Measure("events lost: all events of the kernel, a buffer of 64 MiB", "%", lost_share,
                                        between(0, 0), "none",
                                        "It holds all events that the pilot run recorded or lost")),
        *(on_case(f"S10-device-{layer.lower()}", f"interference shrinks with faster devices: events of {layer}",
                  _OTHERS, "layer-events",
                  Measure("rise of a load's share of events, 4 KiB: smallest to the next faster device", "×",
                          least_rise("4k", layer), over(1), "rises from HDD to SSD and to RAM"))
          for layer in LAYERS),
        *(on_case(f"S10-size-{layer.lower()}", f"{says}: events of {layer}", _OTHERS, "layer-events",
                  Measure("a load's share of events with 1 MiB / with 4 KiB, SSD", "×", larger("ssd", layer), holds,
                          wanted))
          for layer, says, holds, wanted in (
              ("FS", "interference shrinks with larger writes", over(1), "more"),
              ("MM", "interference shrinks with larger writes", over(1), "more"),
              ("block", "interference does not shrink with larger writes", at_most(1), "no more"))),
        on_case("S14-direct", "on RAM, with direct I/O, filesystem and memory management are over half",
                "cited: Accardi and Wilcox", "sync-real",
                Measure("share of a direct write's time above the block layer and driver", "%", above_share, over(50),
                        "over half", "Above are the system call, VFS, ext4 and iomap; tracing adds to both")),
    ]  # fmt: skip


def _independent() -> Claim:
    def check(samples: Samples) -> Verdict:
        pairs = zip(samples["all-4k"], samples["all-1m"], strict=True)
        values = [lost_share(one) - lost_share(other) for one, other in pairs]
        effect = over_seeds("share lost with 4 KiB minus share lost with 1 MiB", "%", values)
        return judge(effect, between(-12, 12), "at most 12 points apart", "His lie between 30 and 50 %")

    says = "unfiltered tracing loses as much whatever the size of writes"
    return Claim("S9-size", says, _LOST, ("all-4k", "all-1m"), check)
