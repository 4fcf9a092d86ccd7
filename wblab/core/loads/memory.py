"""An innocent load that uses memory of its own, which can be swapped out."""

import time
from dataclasses import dataclass
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, PAGESIZE, mmap
from pathlib import Path
from random import Random

from wblab.core.errors import InputError
from wblab.core.loads.base import Cycle, Periodic
from wblab.core.loads.reading import Order, places
from wblab.core.parameters import check_whole_blocks
from wblab.core.units import NS_PER_S, Bytes, format_bytes, format_time


@dataclass(frozen=True, kw_only=True)
class Memory(Periodic):
    """Innocent: writes to each page of a block of its own memory, of `size`, then sleeps.

    It stalls in page faults, not in system calls: on a page that was swapped out, or when no memory is free. Half of
    each page is random, so zram compresses it to about a half.
    order: as of `read`. used: the share of its memory that it touches, in per cent, from its begin.
    grows: it takes its memory as it touches it; otherwise all before its first cycle, on top of the spec's `memory`.
    """

    kind = "memory"
    on_disk = False
    size: Bytes
    block: Bytes = Bytes(16 * PAGESIZE)
    order: Order = "random"
    used: int = 100
    grows: bool = False

    @property
    def description(self) -> str:
        how = {"sequential": "in order", "random": "at random"}[self.order]
        part = f"{self.used} % of " if self.used < 100 else ""
        grows = ", which it takes as it goes" if self.grows else ""
        every = f"every {format_time(self.idle)}"
        return (
            f"writes to {format_bytes(self.block)} of {part}{format_bytes(self.size)} of memory{grows}, {how}, {every}"
        )

    @property
    def held_bytes(self) -> Bytes:
        return Bytes(0 if self.grows else self.size)

    def check(self, path: str = "") -> None:
        super().check(path)
        if self.block <= 0 or self.block % PAGESIZE:
            raise InputError(f"{path}block: {format_bytes(self.block)} is not a multiple of a page, {PAGESIZE} B")
        check_whole_blocks(f"{path}size", self.size, self.block)
        if not 0 < self.used <= 100:
            raise InputError(f"{path}used: {self.used} is not between 1 and 100 per cent")
        if self._used_bytes < self.block:
            raise InputError(f"{path}used: {self.used} % of size are less than block: raise it, or lower block")

    @property
    def _used_bytes(self) -> Bytes:
        """The memory that it touches, in whole blocks."""
        return Bytes(self.size * self.used // 100 // self.block * self.block)

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        sleep, idle_s, block = time.sleep, self.idle / NS_PER_S, self.block
        memory = mmap(-1, self.size, flags=MAP_PRIVATE | MAP_ANONYMOUS)
        page = draws.randbytes(PAGESIZE // 2)
        if not self.grows:
            for at in range(0, self.size, PAGESIZE):
                memory[at : at + len(page)] = page
        place = places(self.order, self._used_bytes, block, draws)

        def cycle(number: int) -> None:
            at = place(number)
            for each in range(at, at + block, PAGESIZE):
                memory[each : each + len(page)] = page
            sleep(idle_s)

        return cycle
