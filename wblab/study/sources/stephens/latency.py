"""Stephens's claims on synchronous writes: how their time grows with the device's latency.

time of a call = a + n · latency, where n counts the requests and flushes that it waits for in series
"""

from dataclasses import dataclass

import numpy as np

from wblab.analysis.layers.calls import Name
from wblab.analysis.statistics.decision import between, over
from wblab.core.spec import Spec
from wblab.study.sources.claim import Claim, Samples, Verdict, judge, over_seeds
from wblab.study.sources.sample import Sample
from wblab.study.sources.stephens.calls import NS_PER_US, durations, served

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
class Line:
    """A line through times of calls: n requests and flushes in series, with a 95 % interval, and a in us."""

    n: float
    low: float
    high: float
    a_us: float


def line(latencies_us: list[float], times_us: list[float]) -> Line:
    """Fit a line to times at these latencies by least squares. Raises ValueError for fewer than three points."""
    if len(times_us) < 3:
        raise ValueError("a line through two points has no interval")
    from scipy import stats  # here: slow to import, and other works' claims do without it

    fit = stats.linregress(latencies_us, times_us)
    reach = float(stats.t.ppf((1 + _CONFIDENCE) / 2, len(times_us) - 2) * fit.stderr)
    return Line(float(fit.slope), float(fit.slope) - reach, float(fit.slope) + reach, float(fit.intercept))


def points(sample: Sample, way: str) -> tuple[list[float], list[float]]:
    """Return the latencies of a run's disks and the median time of calls to each, in us; way: a key of _CALLS."""
    assert isinstance(sample.run.spec, Spec)
    found = durations(sample)
    pairs = [
        (disk.latency / NS_PER_US, float(np.median(found[f"{way}-{name}", _CALLS[way]])) / NS_PER_US)
        for name, disk in sample.run.spec.disk.items()
    ]
    return [latency for latency, _ in pairs], [time for _, time in pairs]


def line_of(sample: Sample, way: str) -> Line:
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
