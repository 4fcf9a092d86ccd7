"""Results of the twin's runs: pauses and costs with and without each remedy, and the differences with intervals."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from wblab.analysis.runs.metrics import load_metrics
from wblab.analysis.runs.run import Run
from wblab.analysis.statistics.contrasts import joint_confidence
from wblab.analysis.statistics.intervals import DEFAULT, Interval, Resampling, interval
from wblab.core.errors import InputError
from wblab.core.spec import Disk
from wblab.core.tables import to_table
from wblab.core.units import NS_PER_S, BytesPerSecond, Nanoseconds
from wblab.lab.progress import Report
from wblab.live.advise.plan import BLOCK
from wblab.live.disks.plan import LARGEST, SMALLEST
from wblab.live.disks.survey import site
from wblab.live.disks.testfile import test_file
from wblab.live.twin.described import measured_bps
from wblab.report.quantities import span

# Measure this machine's disk quickly: its write rate, and the latency of a small request.

TIMES, SECONDS, MOST_BYTES = 5, 2.0, 128 << 20  # of the rate: repeats, length and size
_FILE_BYTES, _SMALL = 1 << 20, 64
_UNSTEADY = 1.5  # ratio of the fastest to the slowest rate above which a warning is printed


@dataclass(frozen=True)
class MeasuredCandidate:
    """rates: of each measurement, in bytes/s. latency_ns: of a 4 KiB request, without the transfer of its bytes."""

    rates: tuple[int, ...]
    latency_ns: int

    @property
    def write_bps(self) -> int:
        """Median rate, in bytes/s."""
        return int(median(self.rates))

    @property
    def disk(self) -> Disk:
        """Model of the disk: the median rate and the latency."""
        latency, rate = Nanoseconds(self.latency_ns), BytesPerSecond(self.write_bps)
        return Disk(model="device", write_bps=rate, latency=latency)

    def doubts(self) -> list[str]:
        """Return reasons to doubt the measurement, in words."""
        least, most = min(self.rates), max(self.rates)
        if most < _UNSTEADY * least:
            return []
        return [
            f"the disk's rate varied from {span(least, most, 'bytes/s')}: other programs use "
            "the disk, or it has a cache. Measure it while the machine is idle (wblab disk measure) and give --disk"
        ]


def measure(directory: Path, report: Report) -> MeasuredCandidate:
    """Measure the disk that holds a directory, and remove the test files. Raises InputError if that is impossible."""
    rates = []
    for number in range(TIMES):
        report(number / (TIMES + 1), "rate")
        rates.append(max(measured_bps(directory, SECONDS, MOST_BYTES), 1))
    report(TIMES / (TIMES + 1), "latency")
    return MeasuredCandidate(tuple(rates), _latency_ns(directory, int(median(rates))))


def _latency_ns(directory: Path, write_bps: int) -> int:
    """Return the latency of a 4 KiB write less the transfer time; by direct I/O if the filesystem supports it."""
    times = []
    try:
        with site(directory) as found, test_file(found.held) as file:
            file.reserve(_FILE_BYTES)
            for offset in range(0, _FILE_BYTES, LARGEST):
                file.write(offset, LARGEST)
            file.flush()
            for number in range(_SMALL):
                began_ns = time.monotonic_ns()
                file.write(number * SMALLEST, SMALLEST)
                times.append(time.monotonic_ns() - began_ns)
    except OSError as error:
        raise InputError(
            f"cannot measure the disk in {str(directory)!r}: {error.strerror}: give another directory, or --disk"
        ) from None
    return max(int(median(times)) - SMALLEST * NS_PER_S // write_bps, 1000)


@dataclass(frozen=True)
class RemedyOutcome:
    """One run: the innocent loads' longest pause and largest wait time in s, and the offender's rate in bytes/s."""

    longest_pause_s: float
    wait_time_s: float
    offender_bps: float


@dataclass(frozen=True)
class RemedyFigures:
    """A remedy's outcomes by seed, and the differences from the same seeds without the remedy.

    longest_pause_s, wait_time_s: differences in s. offender: difference as a share of its rate without the remedy. All
    are corrected for the number of comparisons. The machine with its current settings has no differences. parts: the
    same by what was guessed, if it was tried with several guesses; then an outcome is the worst one of each seed.
    """

    name: str
    outcomes: Mapping[int, RemedyOutcome]
    longest_pause_s: Interval | None = None
    wait_time_s: Interval | None = None
    offender: Interval | None = None
    parts: Mapping[str, "RemedyFigures"] = field(default_factory=dict)

    def mean(self, field: str) -> float:
        """Return the mean of one field over the outcomes, its expected value."""
        return float(np.mean([getattr(outcome, field) for outcome in self.outcomes.values()]))

    @property
    def cost(self) -> float:
        """Share of its rate that the offender loses; 0 if it becomes faster."""
        return max(0.0, -self.offender.estimate) if self.offender else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        fields = ("longest_pause_s", "wait_time_s", "offender_bps")
        return {
            "name": self.name,
            "expected": {field: self.mean(field) for field in fields},
            "differences": {
                field: to_table(found) | {"claim": found.claim}
                for field in ("longest_pause_s", "wait_time_s", "offender")
                if (found := getattr(self, field))
            },
            "seeds": {str(seed): to_table(outcome) for seed, outcome in self.outcomes.items()},
            **({BLOCK: {block: part.to_json() for block, part in self.parts.items()}} if self.parts else {}),
        }


def outcome_of(run: Run, factor: float) -> RemedyOutcome:
    """Convert a run of the twin to figures of its machine, which is larger by `factor`."""
    found = {item.name: load_metrics(item) for item in run.loads}
    innocent = [found[item.name] for item in run.loads if item.load.role == "innocent" and found[item.name]]
    offender = [found[item.name].get("throughput_bps", 0.0) for item in run.loads if item.load.role == "offender"]
    return RemedyOutcome(
        longest_pause_s=max((load["longest_pause_s"] for load in innocent), default=0.0),
        wait_time_s=max((load["wait_time_s"] for load in innocent), default=0.0),
        offender_bps=factor * sum(offender),
    )


def worse(outcomes: Sequence[RemedyOutcome]) -> RemedyOutcome:
    """Return the longest pause and wait time of several runs, and the mean rate of their offenders."""
    return RemedyOutcome(
        longest_pause_s=max(each.longest_pause_s for each in outcomes),
        wait_time_s=max(each.wait_time_s for each in outcomes),
        offender_bps=float(np.mean([each.offender_bps for each in outcomes])),
    )


def figures(
    now: Mapping[int, RemedyOutcome],
    others: Mapping[str, Mapping[int, RemedyOutcome]],
    resampling: Resampling = DEFAULT,
) -> list[RemedyFigures]:
    """Return the results of all remedies, shortest pause first, paired by seed with the current settings.

    The intervals are corrected for multiple comparisons: at most 5 % of those that exclude zero should be false.
    """
    alone: dict[str, list[Interval]] = {}
    for name, outcomes in others.items():
        if pairs := [(outcomes[seed], now[seed]) for seed in now if seed in outcomes]:
            alone[name] = [_difference(pairs, field, resampling) for field in ("longest_pause_s", "wait_time_s")]
            alone[name].append(_relative(pairs, resampling))
    present = resampling.confidence
    found = [p for each in alone.values() for item in each if (p := item.p(present)) is not None]
    joint = joint_confidence(found, 1 - present)
    rows = []
    for name, intervals in alone.items():
        pause, wait, rate = (item.at(joint, present) for item in intervals)
        rows.append(RemedyFigures(name, others[name], pause, wait, rate))
    return sorted(rows, key=lambda row: (row.mean("longest_pause_s"), row.cost))


def _difference(pairs: Sequence[tuple[RemedyOutcome, RemedyOutcome]], field: str, resampling: Resampling) -> Interval:
    values = [(getattr(remedied, field), getattr(now, field)) for remedied, now in pairs]
    scale = max(max(pair) for pair in values)
    return interval([[remedied - now for remedied, now in values]], [1.0], resampling, scale)


def _relative(pairs: Sequence[tuple[RemedyOutcome, RemedyOutcome]], resampling: Resampling) -> Interval:
    shares = [remedied.offender_bps / now.offender_bps - 1 for remedied, now in pairs if now.offender_bps]
    return interval([shares or [0.0]], [1.0], resampling, 1.0)
