"""Measure this machine's disk quickly: its write rate, and the latency of a small request."""

import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from wblab.core.errors import InputError
from wblab.core.spec import Disk
from wblab.core.units import NS_PER_S, BytesPerSecond, Nanoseconds
from wblab.lab.progress import Report
from wblab.live.disks.plan import LARGEST, SMALLEST
from wblab.live.disks.survey import site
from wblab.live.disks.testfile import test_file
from wblab.report.quantities import span
from wblab.study.designs.twin.machine import measured_bps

TIMES, SECONDS, MOST_BYTES = 5, 2.0, 128 << 20  # of the rate: repeats, length and size
_FILE_BYTES, _SMALL = 1 << 20, 64
_UNSTEADY = 1.5  # ratio of the fastest to the slowest rate above which a warning is printed


@dataclass(frozen=True)
class Measured:
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


def measure(directory: Path, report: Report) -> Measured:
    """Measure the disk that holds a directory, and remove the test files. Raises InputError if that is impossible."""
    rates = []
    for number in range(TIMES):
        report(number / (TIMES + 1), "rate")
        rates.append(max(measured_bps(directory, SECONDS, MOST_BYTES), 1))
    report(TIMES / (TIMES + 1), "latency")
    return Measured(tuple(rates), _latency_ns(directory, int(median(rates))))


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
