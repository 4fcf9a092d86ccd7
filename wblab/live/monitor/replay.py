"""A finished run as the samples that a monitor would have taken."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from wblab.analysis.runs.pagecache import DirtyState, PageCache, Throttling, Written
from wblab.analysis.runs.run import LoadCycles, Run, Times
from wblab.core import layout
from wblab.core.errors import InputError
from wblab.core.spec import Agent, Spec
from wblab.core.stacks import images
from wblab.core.units import NS_PER_MS, NS_PER_S, Bytes
from wblab.live.monitor.audience import command
from wblab.live.monitor.sampler import SamplerRequest
from wblab.live.monitor.samples import (
    Batch,
    CacheState,
    End,
    Item,
    SampleSource,
    Throttled,
    Waited,
    Worked,
    WrittenSample,
)

# Watch a guest from the host: a sampler runs beside its loads.


def watched(spec: Spec) -> Spec:
    """Return a spec with a sampler beside its loads that writes to the device read by the host.

    Its probe writes to the loads' disk if that has a filesystem, else to the first disk that has one. Raises
    InputError.
    """
    mount = layout.mount_point(_first_mounted(spec))
    name, device = f"guest of {spec.name}", str(layout.SAMPLES_DEVICE)
    request = SamplerRequest(name, device, str(mount), passing=True, called=_called(spec))
    return replace(spec, agent=spec.agent | {"sampler": Agent(argv=tuple(command(request, "python3")))})


def _called(spec: Spec) -> dict[str, str]:
    """Return the spec's disk names by the guest kernel's names for them.

    A single disk has none: there is no other to confuse it with.
    """
    alone = len(spec.disk) == 1
    return {layout.disk_device(place).name: "" if alone else name for place, name in enumerate(images(spec))}


def _first_mounted(spec: Spec) -> str:
    names = [name for name in (spec.first_disk, *spec.disk) if spec.disk[name].has_files]
    if not names:
        raise InputError(
            f"no disk of {spec.name} has a filesystem, and the monitor times small writes to one: give it a disk with "
            "one, or draw its run with 'wblab timeline'"
        )
    return names[0]


TICK_NS = 100 * NS_PER_MS
GRAIN_NS = 50 * NS_PER_MS  # of several states within this time, keep the last

_RATE_SPAN_NS = NS_PER_S


def replay(run: Run, cache: PageCache | None) -> Iterator[Item]:
    """Yield a run's source, a batch for each 0.1 s, and its end. Without a trace, only the loads are shown.

    The innocent loads serve as probes; the bytes written by loads come from their cycles.
    """
    yield SampleSource(f"run {run.name}", run.zero_ns, "" if cache else "this run has no readable trace")
    states = _thinned(cache.dirty_state) if cache else None
    asked = cache.throttling.where(cache.throttling.pause_ns > 0) if cache else None
    requests = cache.written if cache and len(run.disks) > 1 else None  # with one disk the other panes suffice
    probes = [item for item in run.loads if item.load.role == "innocent"]
    first_ns, last_ns = _span(run, states)
    for now_ns in range(first_ns, last_ns + TICK_NS, TICK_NS):
        since_ns = now_ns - TICK_NS
        is_rates_turn = (now_ns - first_ns) % _RATE_SPAN_NS == 0
        yield Batch(
            now_ns,
            states=tuple(_states(states, since_ns, now_ns)) if states else (),
            throttled=tuple(_throttled(asked, since_ns, now_ns)) if asked else (),
            waits=tuple(wait for probe in probes for wait in _waits(probe, since_ns, now_ns)),
            writers=tuple(_written(run, now_ns)) if is_rates_turn else (),
            disks=tuple(_worked(requests, list(run.disks), now_ns)) if requests and is_rates_turn else (),
        )
    yield End(f"the run {'failed: ' + run.failure if run.failure else 'is over'}")


def _span(run: Run, states: DirtyState | None) -> tuple[int, int]:
    times = [item.boundaries_ns for item in run.loads] + ([states.ts_ns] if states is not None and len(states) else [])
    return min(int(each[0]) for each in times), max(int(each[-1]) for each in times)


def _thinned(state: DirtyState) -> DirtyState:
    grains = state.ts_ns // GRAIN_NS
    return state.where(np.append(grains[1:] != grains[:-1], np.ones(min(1, len(grains)), bool)))


def _states(states: DirtyState, since_ns: int, now_ns: int) -> Iterator[CacheState]:
    rows = states.where(_span_of(states.ts_ns, since_ns, now_ns))
    columns = (rows.ts_ns, rows.dirty, rows.writeback, rows.background, rows.threshold, rows.limit)
    for row in zip(*(column.tolist() for column in columns), strict=True):
        yield CacheState(*row)


def _throttled(asked: Throttling, since_ns: int, now_ns: int) -> Iterator[Throttled]:
    rows = asked.where(_span_of(asked.ts_ns, since_ns, now_ns))
    columns = (rows.ts_ns, rows.task, rows.pause_ns, rows.disk)
    for row in zip(*(column.tolist() for column in columns), strict=True):
        yield Throttled(*row)


def _waits(probe: LoadCycles, since_ns: int, now_ns: int) -> Iterator[Waited]:
    """Yield the writes that ended in a span, and the one in progress at its end. A load writes, then sleeps."""
    first = max(0, int(np.searchsorted(probe.boundaries_ns, since_ns)) - 1)
    last = min(int(np.searchsorted(probe.boundaries_ns, now_ns, side="right")), len(probe.pauses_ns))
    for start_ns, pause_ns in zip(
        probe.starts_ns[first:last].tolist(), probe.pauses_ns[first:last].tolist(), strict=True
    ):
        end_ns = start_ns + pause_ns
        if end_ns > now_ns:
            yield Waited(probe.name, start_ns, now_ns, over=False)
        elif end_ns > since_ns:
            yield Waited(probe.name, start_ns, end_ns, over=True)


def _span_of(times_ns: Times, since_ns: int, now_ns: int) -> slice:
    first, last = np.searchsorted(times_ns, (since_ns, now_ns), side="right")
    return slice(int(first), int(last))


def _written(run: Run, now_ns: int) -> Iterator[WrittenSample]:
    for item in run.loads:
        block = item.load.cycle_bytes
        first, last = np.searchsorted(item.boundaries_ns[1:], (now_ns - _RATE_SPAN_NS, now_ns), side="right")
        if block and last > first:
            yield WrittenSample(now_ns, _RATE_SPAN_NS, item.name, Bytes(int(last - first) * block), item.load.disk)


def _worked(requests: Written, disks: list[str], now_ns: int) -> Iterator[Worked]:
    """Yield the bytes that each disk completed. No event shows its busy time."""
    rows = requests.where(_span_of(requests.ts_ns, now_ns - _RATE_SPAN_NS, now_ns))
    for disk in disks:
        yield Worked(now_ns, _RATE_SPAN_NS, disk, Bytes(int(rows.size[rows.disk == disk].sum())))
