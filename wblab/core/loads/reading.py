"""An innocent load that reads."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from mmap import mmap
from pathlib import Path
from random import Random
from typing import Literal

from wblab.core.loads.base import Cycle, Periodic
from wblab.core.loads.files import OnWholeFile
from wblab.core.parameters import check_direct
from wblab.core.units import NS_PER_S, Bytes, format_bytes, format_time

Order = Literal["sequential", "random"]
Cache = Literal["cold", "warm", "direct"]


@dataclass(frozen=True, kw_only=True)
class Read(Periodic, OnWholeFile):
    """Innocent: reads a block of a file of `size`, then sleeps.

    order: `sequential` starts again at the file's end; `random` chooses each block by the run's seed.
    cache: `cold` drops the file from the page cache: after each random block, or at the end of a sequential pass. This
    is a system call of the cycle. `warm` reads the whole file in advance. `direct` bypasses the page cache (O_DIRECT).
    """

    kind = "read"
    waits_for_disk = True
    order: Order = "random"
    cache: Cache = "cold"

    @property
    def description(self) -> str:
        how = {"sequential": "in order", "random": "at random"}[self.order]
        return f"reads {format_bytes(self.block)} {how}, {self.cache}, every {format_time(self.idle)}"

    def check(self, path: str = "") -> None:
        super().check(path)
        if self.cache == "direct":
            check_direct(f"{path}block", self.block)

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        self.lay_out(mount)
        read, sleep, idle_s = os.preadv, time.sleep, self.idle / NS_PER_S
        fd = os.open(mount / self.file, os.O_RDONLY | (os.O_DIRECT if self.cache == "direct" else 0))
        buffers = [memoryview(mmap(-1, self.block))]  # page-aligned, for O_DIRECT
        if self.cache == "warm":
            for at in range(0, self.size, self.block):
                read(fd, buffers, at)
        elif self.cache == "cold":
            _drop(fd)
        place = places(self.order, self.size, self.block, draws)
        drops, last = self.cache == "cold", self.size - self.block
        each = self.order == "random"

        def cycle(number: int) -> None:
            at = place(number)
            read(fd, buffers, at)
            if drops and (each or at == last):
                _drop(fd)
            sleep(idle_s)

        return cycle


def places(order: Order, size: Bytes, block: Bytes, draws: Random) -> Callable[[int], int]:
    """Return a function from a cycle's number to the offset of its block, in a file of `size`."""
    if order == "sequential":
        return lambda number: number * block % size
    draw, blocks = draws.randrange, size // block
    return lambda number: draw(blocks) * block


def _drop(fd: int) -> None:
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
