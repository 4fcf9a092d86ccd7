"""How fast this machine's disk is: a few short measurements of its rate, and what a small request takes."""

import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from wblab.core.errors import InputError
from wblab.core.spec import Disk
from wblab.core.units import NS_PER_S, BytesPerSecond, Nanoseconds
from wblab.disks.plan import LARGEST, SMALLEST
from wblab.disks.survey import site
from wblab.disks.testfile import test_file
from wblab.lab.progress import Report
from wblab.twin.machine import measured_bps

TIMES, SECONDS, MOST_BYTES = 5, 2.0, 128 << 20  # of the rate
_FILE_BYTES, _SMALL = 1 << 20, 64
_UNSTEADY = 1.5  # times between the quickest and the slowest: more is said


@dataclass(frozen=True)
class Measured:
    """rates: of each measurement, in bytes/s. latency_ns: of a request of 4 KiB, without its bytes."""

    rates: tuple[int, ...]
    latency_ns: int

    @property
    def write_bps(self) -> int:
        """The middle rate."""
        return int(median(self.rates))

    @property
    def disk(self) -> Disk:
        """The model of the disk: this rate, and this latency."""
        latency, rate = Nanoseconds(self.latency_ns), BytesPerSecond(self.write_bps)
        return Disk(model="device", write_bps=rate, latency=latency)

    def doubts(self) -> list[str]:
        """Return what makes it doubtful, in words."""
        least, most = min(self.rates), max(self.rates)
        if most < _UNSTEADY * least:
            return []
        return [
            f"the disk's rate was between {least / (1 << 20):.0f} and {most / (1 << 20):.0f} MiB/s: others use it too, "
            "or it has a cache; measure it when they are quiet (wblab disk measure), and give --disk"
        ]


def measure(directory: Path, report: Report) -> Measured:
    """Measure the disk below a directory; its files are gone afterwards. Raises InputError where that cannot be."""
    rates = []
    for number in range(TIMES):
        report(number / (TIMES + 1), "rate")
        rates.append(max(measured_bps(directory, SECONDS, MOST_BYTES), 1))
    report(TIMES / (TIMES + 1), "latency")
    return Measured(tuple(rates), _latency_ns(directory, int(median(rates))))


def _latency_ns(directory: Path, write_bps: int) -> int:
    """Return what a write of 4 KiB takes besides its bytes, around the page cache where the filesystem can."""
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
