"""The system calls of a run's loads: how long they took, and in which states they spent that time."""

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wblab.analysis.layers.calls import Name, calls
from wblab.analysis.layers.requests import LayeredCall, layers
from wblab.analysis.layers.stages import BEHIND, DEVICE, FLUSH
from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.run import read_run
from wblab.study.sources.sample import Sample

DEVICES = ("hdd", "ssd", "ram")  # of the preset sync-devices, each faster than the one before it
SIZES = ("4k", "1m")
NS_PER_US = 1000
_QUIET = 25  # per cent, a lower quartile: by the host's clock, other work of the host makes calls longer
_KEPT = 16  # cached runs: many claims read the same one

Durations = dict[tuple[str, Name], NDArray[np.int64]]


def durations(sample: Sample) -> Durations:
    """Return how long each call of each load took, in ns, by the load's and the call's names."""
    return _durations(sample.run.path)


def layered(sample: Sample) -> tuple[LayeredCall, ...]:
    """Return the calls of all loads, split by state. Raises InputError if the run did not record the events for it."""
    return _layered(sample.run.path)


def call_us(sample: Sample, load: str, call: Name) -> float:
    """Return what a call of a load takes, in us: the lower quartile of all."""
    return float(np.percentile(durations(sample)[load, call], _QUIET)) / NS_PER_US


def parts(sample: Sample, load: str) -> dict[str, float]:
    """Return the time of a load's calls by state, in ns, summed over all calls."""
    found: dict[str, float] = {}
    for call in layered(sample):
        if call.load == load:
            for state, time_ns in call.states.items():
                found[state] = found.get(state, 0) + time_ns
    return found


def state_share(sample: Sample, load: str, *states: str) -> float:
    """Return the share of the time of a load's calls spent in these states, in per cent."""
    found = parts(sample, load)
    return 100 * sum(found.get(state, 0) for state in states) / sum(found.values())


def device_share(sample: Sample, load: str) -> float:
    """Return the share of the time of a load's calls in which they waited for the device, in per cent.

    Includes waiting behind other requests there: they are the load's own, as no other load uses the device.
    """
    return state_share(sample, load, DEVICE, BEHIND, FLUSH)


def prefix_share(sample: Sample, load: str, prefix: str) -> float:
    """Return a layer's share as Stephens computes it, in per cent, from sums over all functions of each prefix.

    Only sleep counts, because code takes no virtual time.
    """
    sums: dict[str, float] = {}
    for call in layered(sample):
        if call.load == load:
            for name, time_ns in call.prefixes.items():
                sums[name] = sums.get(name, 0) + time_ns
    return 100 * sums.get(prefix, 0) / sum(sums.values())


def served(sample: Sample, load: str, call: Name) -> float:
    """Return how many requests and flushes a load's call waits for in series: the median of all calls."""
    return float(np.median([each.served for each in layered(sample) if (each.load, each.call) == (load, call)]))


@lru_cache(_KEPT)
def _durations(path: Path) -> Durations:
    run = read_run(path)
    trace = page_cache(run).trace
    sequence, found = trace.sequence(), {}
    for item in run.loads:
        own = calls(trace, sequence, item)
        for name in {call.name for call in own}:
            rows = [call.end_ns - call.start_ns for call in own if call.name == name]
            found[item.name, name] = np.array(rows, np.int64)
    return found


@lru_cache(_KEPT)
def _layered(path: Path) -> tuple[LayeredCall, ...]:
    return tuple(layers(read_run(path)))
