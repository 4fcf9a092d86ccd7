"""The cost of a task: wall clock, processor time, and units of a fixed reference work on the same machine.

The reference work, plain Python and system calls, runs before and after each task. On a busy or slow machine both take
longer, so their ratio is compared.
"""

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

REPEATS = 5
_PIECE = """
import os
file = os.memfd_create("piece")
block, total, table = bytes(4096), 0, {}
for i in range(60_000):
    os.pwrite(file, block, i % 256 * 4096)
    table[i % 1000] = total = total * 31 + i & 0xFFFFFFFF
    total ^= len(str(i)) + sum((i, total, 7))
"""


@dataclass(frozen=True)
class Spent:
    """The cost of a task: `cpu_s` includes all its children; `piece_s` is the reference work's processor time."""

    wall_s: float
    cpu_s: float
    piece_s: float

    @property
    def ratio(self) -> float:
        return self.cpu_s / self.piece_s


def cpu_s() -> float:
    """Return the processor time of this process and all its reaped children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(item.ru_utime + item.ru_stime for item in used)


def piece_s() -> float:
    """Do the reference work, and return its processor time."""
    before_s = cpu_s()
    subprocess.run([sys.executable, "-I", "-S", "-c", _PIECE], check=True)
    return cpu_s() - before_s


def spent(task: Callable[[], object]) -> Spent:
    """Run a task, with the reference work before and after it."""
    before_s = piece_s()
    start_s, start_cpu_s = time.perf_counter(), cpu_s()
    task()
    wall_s, used_s = time.perf_counter() - start_s, cpu_s() - start_cpu_s
    return Spent(wall_s, used_s, statistics.mean([before_s, piece_s()]))


def seconds(task: Callable[[], object]) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def show(title: str, figures_s: list[float]) -> None:
    print(f"  {title:44} {statistics.median(figures_s):6.2f} s  ({min(figures_s):.2f} to {max(figures_s):.2f})")
