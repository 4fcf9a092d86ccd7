"""Stephens's claims on synchronous writes: how their time grows with the device's latency.

time of a call = a + n · latency, where n counts the requests and flushes that it waits for in series
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wblab.analysis.layers.bylayer import LayeredCall, layers
from wblab.analysis.layers.calls import Name, calls
from wblab.analysis.layers.stages import BEHIND, DEVICE, FLUSH
from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.run import read_run
from wblab.analysis.statistics.decision import between, over
from wblab.claims.sources.claim import Claim, Samples
from wblab.claims.sources.sample import Sample
from wblab.core.spec import Spec
from wblab.study.statement import Verdict, judge, over_seeds

# The system calls of a run's loads: how long they took, and in which states they spent that time.

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


TURN_US = 60e6 / 7200  # of his hard disk
HIS_HDD_US, HIS_RAM_US = 38_687, 7  # of one fsync of 4 KiB: ext4_sync_file, his tables of means
_CONFIDENCE = 0.95
_NEAR = (0.9, 1.1)
_EXACT = 0.02  # how far a slope may be off a number of requests
_SOURCE = "durations"
# Ways to write synchronously, by the start of the loads' names, with the call that waits.
_CALLS: dict[str, Name] = {"fsync": "fsync", "fdatasync": "fdatasync", "dsync": "write", "over": "fdatasync"}
_WORDS = {
    "fsync": "fsync of a growing file",
    "fdatasync": "fdatasync of a growing file",
    "dsync": "a write with O_DSYNC to a growing file",
    "over": "fdatasync of an overwritten file",
}


@dataclass(frozen=True)
class FittedLine:
    """A line through times of calls: n requests and flushes in series, with a 95 % interval, and a in us."""

    n: float
    low: float
    high: float
    a_us: float


def line(latencies_us: list[float], times_us: list[float]) -> FittedLine:
    """Fit a line to times at these latencies by least squares. Raises ValueError for fewer than three points."""
    if len(times_us) < 3:
        raise ValueError("a line through two points has no interval")
    from scipy import stats  # here: slow to import, and other works' claims do without it

    fit = stats.linregress(latencies_us, times_us)
    reach = float(stats.t.ppf((1 + _CONFIDENCE) / 2, len(times_us) - 2) * fit.stderr)
    return FittedLine(float(fit.slope), float(fit.slope) - reach, float(fit.slope) + reach, float(fit.intercept))


def points(sample: Sample, way: str) -> tuple[list[float], list[float]]:
    """Return the latencies of a run's disks and the median time of calls to each, in us; way: a key of _CALLS."""
    assert isinstance(sample.run.spec, Spec)
    found = durations(sample)
    pairs = [
        (disk.latency / NS_PER_US, float(np.median(found[f"{way}-{name}", _CALLS[way]])) / NS_PER_US)
        for name, disk in sample.run.spec.disk.items()
    ]
    return [latency for latency, _ in pairs], [time for _, time in pairs]


def line_of(sample: Sample, way: str) -> FittedLine:
    """Return the line of one run's calls of this way."""
    return line(*points(sample, way))


def counted(sample: Sample, way: str) -> float:
    """Return the requests and flushes in series in the trace, for the disk where they differ most from n."""
    assert isinstance(sample.run.spec, Spec)
    n = line_of(sample, way).n
    found = [served(sample, f"{way}-{name}", _CALLS[way]) for name in sample.run.spec.disk]
    return max(found, key=lambda each: abs(each - n))


def latency_claims() -> list[Claim]:
    """Return the claims on latency."""
    return [
        *(_in_series(way, filesystem) for filesystem in ("ext4", "xfs") for way in _CALLS),
        _turns(),
        _ratio(),
    ]


def _in_series(way: str, filesystem: str) -> Claim:
    case = f"latency-{filesystem}"

    def check(samples: Samples) -> Verdict:
        runs = samples[case]
        counts = [counted(run, way) for run in runs]
        values = [line_of(run, way).n - count for run, count in zip(runs, counts, strict=True)]
        effect = over_seeds("n by the slope minus n in the trace", "requests", values)
        latencies, times = ([each for run in runs for each in points(run, way)[place]] for place in (0, 1))
        every = line(latencies, times)
        whole = " or ".join(f"{count:.0f}" for count in sorted(set(counts)))
        found = (
            f"{_WORDS[way]} takes {every.a_us:.0f} µs + {every.n:.3f} (95 %: {every.low:.3f} to {every.high:.3f}) "
            f"times the latency; the trace has {whole} requests and flushes in series"
        )
        return judge(effect, between(-_EXACT, _EXACT), f"at most {_EXACT} apart", found)

    says = f"(ours) {_WORDS[way]} takes a + n × latency, where n counts the requests and flushes in series"
    return Claim(f"S4-series-{way}-{filesystem}", says, _SOURCE, (case,), check)


def _turns() -> Claim:
    def check(samples: Samples) -> Verdict:
        values = [line_of(sample, "fsync").n * TURN_US / HIS_HDD_US for sample in samples["latency-ext4"]]
        effect = over_seeds("n revolutions at 7200 rpm / his 38.7 ms", "×", values)
        return judge(effect, between(*_NEAR), "as long, within 10 %", "38.7 ms are 4.6 revolutions of his disk")

    says = "an fsync of 4 KiB takes 38.7 ms on his hard disk (ours: n revolutions)"
    return Claim("S4-turns", says, _SOURCE, ("latency-ext4",), check)


def _ratio() -> Claim:
    def check(samples: Samples) -> Verdict:
        values = [
            (HIS_RAM_US + line_of(sample, "fsync").n * TURN_US) / HIS_RAM_US for sample in samples["latency-ext4"]
        ]
        effect = over_seeds("(his 7 µs of software + n revolutions) / 7 µs", "×", values)
        wanted = "over 5000"
        return judge(effect, over(5000), wanted, f"By his figures it is {HIS_HDD_US / HIS_RAM_US:.0f}")

    says = "an fsync in RAM is over 5000 times faster than on a hard disk (his time of software, our n)"
    return Claim("S6-turns", says, _SOURCE, ("latency-ext4",), check)
