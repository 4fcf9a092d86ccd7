"""readers DEVICE ROUNDS: read a device with one thread, and with one on each processor, untraced and traced.

Each thread reads its own part of the device in order and around the page cache, a MiB a call. The device's queue splits
a call into many requests, so that what the kernel does for each of them fills the time. readers.json keeps the medians.
"""

import json
import os
import re
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from mmap import mmap
from pathlib import Path
from statistics import median
from threading import Barrier

from wblab.core.layout import LEFT, SCRATCH

RESULT = "readers.json"
_BLOCK = 1 << 20
_LONGEST_S = 60
_EVENT = "events/block/block_bio_queue/enable"
_RECORDED = re.compile(r"^(?:entries|overrun): (\d+)$", re.MULTILINE)  # overrun: entries that newer ones replaced


@dataclass(frozen=True)
class Instance:
    """An instance of tracefs, which has a buffer for each processor (Documentation/trace/ftrace.rst)."""

    path: Path

    def trace(self, *, on: bool) -> None:
        """Empty the buffers, then record each bio that enters a queue, or nothing. Raises OSError."""
        (self.path / "trace").write_text("")
        (self.path / _EVENT).write_text(str(int(on)))

    def recorded(self, processor: str = "*") -> int:
        """Return how many events the buffer of a processor got, or all of them together."""
        stats = (path.read_text() for path in self.path.glob(f"per_cpu/cpu{processor}/stats"))
        return sum(int(number) for text in stats for number in _RECORDED.findall(text))


def main(device: str, rounds: int) -> dict[str, float]:
    """Return the median times in ns: alone, together, alone_traced, together_traced. Raises OSError.

    own: the least share of the events of the thread alone that were in its own processor's buffer.
    """
    fd = os.open(device, os.O_RDONLY | os.O_DIRECT)
    processors = sorted(os.sched_getaffinity(0))
    instance = Instance(Path("/sys/kernel/tracing/instances/readers"))
    instance.path.mkdir()
    times: dict[str, list[int]] = {}
    own = []
    for _ in range(rounds):
        for name, chosen in (("alone", processors[-1:]), ("together", processors)):
            for suffix, on in (("", False), ("_traced", True)):
                instance.trace(on=on)
                times.setdefault(name + suffix, []).append(read(fd, chosen, len(processors)))
                if on and len(chosen) == 1:
                    own.append(instance.recorded(str(chosen[0])) / instance.recorded())
    return {name: median(found) for name, found in times.items()} | {"own": min(own)}


def read(fd: int, processors: Sequence[int], parts: int) -> int:
    """Return how long it takes in ns until a thread on each processor has read its part. Raises OSError."""
    size = os.lseek(fd, 0, os.SEEK_END) // parts // _BLOCK * _BLOCK
    together = Barrier(len(processors) + 1, timeout=_LONGEST_S)  # so that a failed thread ends all

    def thread(number: int) -> None:
        os.sched_setaffinity(0, [processors[number]])  # of this thread alone
        buffers = [mmap(-1, _BLOCK)]
        together.wait()
        for place in range(number * size, (number + 1) * size, _BLOCK):
            os.preadv(fd, buffers, place)

    with ThreadPoolExecutor(len(processors)) as pool:
        jobs = [pool.submit(thread, number) for number in range(len(processors))]
        together.wait()
        start_ns = time.monotonic_ns()
        for job in jobs:
            job.result()
        return time.monotonic_ns() - start_ns


if __name__ == "__main__":
    Path(SCRATCH, LEFT, RESULT).write_text(json.dumps(main(sys.argv[1], int(sys.argv[2]))))
