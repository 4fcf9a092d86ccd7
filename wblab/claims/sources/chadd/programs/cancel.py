"""cancel FILE COUNT: start COUNT reads of a file that is not in memory, cancel them, and count those that complete.

Each read has its own descriptor, because glibc's POSIX AIO does one operation per descriptor at a time. The result goes
to cancel.json: how many reads were started, and how many completed in spite of being cancelled.
"""

import ctypes
import json
import os
import sys
import time
from mmap import PAGESIZE
from pathlib import Path

from wblab.core.aio import Operation
from wblab.core.layout import LEFT, SCRATCH
from wblab.core.syscalls import libc, memory_of
from wblab.core.uring import READ, Entry, Ring

RESULT = "cancel.json"
_ASYNC_CANCEL = 14  # include/uapi/linux/io_uring.h
_BEFORE_S = 0.002  # until all reads are in flight
_APART = 1 << 20  # further than readahead reaches


def by_aio(fds: list[int]) -> int:
    """Return how many reads POSIX AIO completed in spite of aio_cancel(3). Raises OSError."""
    begun = [Operation("read", fd, bytearray(PAGESIZE), place * _APART) for place, fd in enumerate(fds)]
    time.sleep(_BEFORE_S)
    for fd in fds:
        libc.aio_cancel(fd, None)
    results = []
    for operation in begun:
        while (result := operation.result()) is None:
            operation.wait()
        results.append(result)
    return results.count(PAGESIZE)


def by_uring(fds: list[int]) -> int:
    """Return how many reads io_uring completed in spite of IORING_OP_ASYNC_CANCEL. Raises OSError."""
    ring, count = Ring(2 * len(fds)), len(fds)
    memory = [memory_of(bytearray(PAGESIZE)) for _ in fds]
    for number, fd in enumerate(fds):
        ring.submit(number, Entry(READ, fd, ctypes.addressof(memory[number]), PAGESIZE, number * _APART))
    time.sleep(_BEFORE_S)
    for number in range(count):
        ring.submit(count + number, Entry(_ASYNC_CANCEL, -1, number))
    results: dict[int, int] = {}
    while len(results) < 2 * count:
        ring.wait()
        results |= dict(ring.completed())
    ring.close()
    return sum(results[number] == PAGESIZE for number in range(count))


def main(path: str, count: int) -> dict[str, int]:
    """Return how many reads were started each way, and how many completed. Raises OSError."""
    done = {}
    for name, cancel in (("aio", by_aio), ("io_uring", by_uring)):
        fds = [os.open(path, os.O_RDONLY) for _ in range(count)]
        os.posix_fadvise(fds[0], 0, 0, os.POSIX_FADV_DONTNEED)
        done[name] = cancel(fds)
        for fd in fds:
            os.close(fd)
    return {"begun": count, **done}


if __name__ == "__main__":
    Path(SCRATCH, LEFT, RESULT).write_text(json.dumps(main(sys.argv[1], int(sys.argv[2]))))
