"""Stephens's claims on tracing: what is lost, who else is in a trace; and on the RAM disk, which has no queue."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from wblab.claims.base import Claim, Measure, Samples, Verdict, judge, over_seeds
from wblab.claims.figures import on_case
from wblab.claims.sample import Sample
from wblab.claims.stephens_calls import DEVICES, durations
from wblab.data import losses
from wblab.data.blocks import BIOS, REQUESTS
from wblab.data.decision import at_most, between, over
from wblab.data.pagecache import PageCache, page_cache
from wblab.data.run import LoadCycles
from wblab.layers.calls import Name
from wblab.why.requests import device_number, submitted

LAYERS = {
    "FS": ("ext4",),
    "MM": ("filemap",),
    "block": ("block",),
}  # the systems of events in the place of his prefixes
_INSERTED, _BIO_DONE = "block_rq_insert", "block_bio_complete"
_WRITE: Name = "write"
_LOST, _OTHERS = "lost events", "interference"


def lost_share(sample: Sample) -> float:
    """Return the share of all events that a run's trace lost, in per cent."""
    return losses.lost_share(sample.run)


def queued(sample: Sample, disk: str) -> float:
    """Return how many requests a disk's queue had. Raises ValueError where nothing was asked of the disk."""
    trace, number = page_cache(sample.run).trace, device_number(sample.run.disks[disk].device)
    handed = submitted(trace)
    if handed is None or not (trace.events(handed)["dev"].astype(np.int64) == number).any():
        raise ValueError(f"nothing was asked of {disk}")
    return float(sum((trace.events(event)["dev"].astype(np.int64) == number).sum() for event in (_INSERTED, REQUESTS)))


def own_share(sample: Sample, load: str, *layers: str) -> float:
    """Return a load's own share of the events of some layers while it was at work, in per cent."""
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
    """Return what tells the least factor by which a load's share of events is larger on the next faster device."""

    def factor(sample: Sample) -> float:
        shares = [own_share(sample, f"{device}-{size}", *layers) for device in DEVICES]
        return min(after / before for before, after in pairwise(shares))

    return factor


def larger(device: str, *layers: str) -> Callable[[Sample], float]:
    """Return what tells how many times as large a load's share of events is with writes of 1 MiB as of 4 KiB."""
    return lambda sample: own_share(sample, f"{device}-1m", *layers) / own_share(sample, f"{device}-4k", *layers)


def above_share(sample: Sample) -> float:
    """Return the share of direct writes to the RAM disk that passes above the block layer and driver, in per cent.

    Below is from when a bio comes to the block layer until the driver is done with it.
    """
    item = sample.run.load("ram-direct")
    below_ns = _below_ns(page_cache(sample.run), item, device_number(sample.run.disks["ram"].device))
    return 100 * (1 - below_ns / float(durations(sample)[item.name, _WRITE].sum()))


def _below_ns(cache: PageCache, item: LoadCycles, device: int) -> int:
    """Return how long a load's bios to a device that is done at once were below in all, in ns."""
    times = []
    for event in (BIOS, _BIO_DONE):
        events = cache.events(event)
        own = (events.pid == item.pid) & (events["dev"].astype(np.int64) == device)
        times.append(events.ts_ns[own & (events.ts_ns >= item.boundaries_ns[0])])
    begun, done = times
    if not len(begun) or len(begun) != len(done):
        raise ValueError(f"{item.name} had {len(begun)} bios, of which {len(done)} came back")
    return int((done - begun).sum())


def event_claims() -> list[Claim]:
    """Return them."""
    return [
        on_case("S8-ram", "functions of the request queue are not reached on a RAM disk", "durations of blk_*",
                "sync-ext4",
                Measure("requests in the queue of the RAM disk", "requests", lambda run: queued(run, "ram"),
                        between(0, 0), "none, with bios",
                        "brd takes bios itself and copies within submit_bio")),
        on_case("S9-lost", "unfiltered tracing loses 30 to 50 % of the events", _LOST, "all-1m",
                Measure("events lost: all of the kernel's, 1 MiB at a time, a buffer of 256 KiB", "%", lost_share,
                        between(30, 50), "30 to 50 %",
                        "It is the buffer's and the burst's share, no constant")),
        _independent(),
        on_case("S9-filter", "with a filter nothing is lost", _LOST, "block-1m",
                Measure("events lost: block:* alone, a buffer of 256 KiB", "%", lost_share,
                        between(0, 0), "none", each=True)),
        on_case("S9-buffer", "(ours) nor without one, into a buffer sized by a pilot", _LOST,
                "all-1m-sized", Measure("events lost: all of the kernel's, a buffer of 64 MiB", "%", lost_share,
                                        between(0, 0), "none",
                                        "It holds all that a run with the small one had and lost")),
        *(on_case(f"S10-device-{layer.lower()}", f"interference shrinks with faster devices: events of {layer}",
                  _OTHERS, "layer-events",
                  Measure("a load's share of events, 4 KiB: least rise to the next faster device", "×",
                          least_rise("4k", layer), over(1), "rises from HDD to SSD and to RAM"))
          for layer in LAYERS),
        *(on_case(f"S10-size-{layer.lower()}", f"{says}: events of {layer}", _OTHERS, "layer-events",
                  Measure("a load's share of events with 1 MiB / with 4 KiB, SSD", "×", larger("ssd", layer), holds,
                          wanted))
          for layer, says, holds, wanted in (
              ("FS", "and with larger writes", over(1), "more"), ("MM", "and with larger writes", over(1), "more"),
              ("block", "but not in the block layer", at_most(1), "no more"))),
        on_case("S14-direct", "on RAM, with direct I/O, filesystem and memory management are over half",
                "cited: Accardi and Wilcox", "sync-real",
                Measure("time of a direct write of 4 KiB above the block layer and driver", "%", above_share, over(50),
                        "over half", "Above are the system call, VFS, ext4 and iomap; the tracer's part is in both")),
    ]  # fmt: skip


def _independent() -> Claim:
    def check(samples: Samples) -> Verdict:
        pairs = zip(samples["all-4k"], samples["all-1m"], strict=True)
        values = [lost_share(one) - lost_share(other) for one, other in pairs]
        effect = over_seeds("events lost with writes of 4 KiB less those with 1 MiB", "%", values)
        return judge(effect, between(-12, 12), "no further apart than his are", "His lie between 30 and 50 %")

    says = "how many are lost does not depend on the size of writes"
    return Claim("S9-size", says, _LOST, ("all-4k", "all-1m"), check)
