"""An innocent load that writes to a mapped file."""

import os
import time
from dataclasses import dataclass
from mmap import PAGESIZE, mmap
from pathlib import Path
from random import Random
from typing import Literal

from wblab.core.errors import InputError
from wblab.core.loads.base import Cycle, Periodic
from wblab.core.loads.files import OnWholeFile
from wblab.core.loads.reading import Order, places
from wblab.core.units import NS_PER_S, Bytes, format_bytes, format_time


@dataclass(frozen=True, kw_only=True)
class Mapped(Periodic, OnWholeFile):
    """Innocent: writes to each page of a block of a mapped file of `size`, then sleeps.

    It stalls in page faults, not in system calls: on a page that is clean or under writeback.
    order: as of `read`. msync: `sync` waits until the block is on the disk.
    """

    kind = "mapped"
    order: Order = "random"
    msync: Literal["none", "sync"] = "none"

    @property
    def description(self) -> str:
        how = {"sequential": "in order", "random": "at random"}[self.order]
        sync = ", msync" if self.msync == "sync" else ""
        return f"writes to {format_bytes(self.block)} of a mapped file, {how}{sync}, every {format_time(self.idle)}"

    @property
    def cycle_bytes(self) -> Bytes:
        return self.block

    def check(self, path: str = "") -> None:
        super().check(path)
        if self.block % PAGESIZE:
            raise InputError(f"{path}block: {format_bytes(self.block)} is not a multiple of a page, {PAGESIZE} B")

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        self.lay_out(mount)
        sleep, idle_s, block, syncs = time.sleep, self.idle / NS_PER_S, self.block, self.msync == "sync"
        fd = os.open(mount / self.file, os.O_RDWR)
        memory = mmap(fd, self.size)
        os.close(fd)
        place = places(self.order, self.size, block, draws)

        def cycle(number: int) -> None:
            at = place(number)
            for page in range(at, at + block, PAGESIZE):
                memory[page] = number & 0xFF
            if syncs:
                memory.flush(at, block)
            sleep(idle_s)

        return cycle
