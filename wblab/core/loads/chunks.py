"""A file written in chunks, after He et al., "Reducing File System Tail Latencies with Chopper" (FAST 2015)."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random

from wblab.core.errors import InputError
from wblab.core.loads.base import Cycle
from wblab.core.loads.files import OnFile, create
from wblab.core.parameters import check_block, check_wait
from wblab.core.units import NS_PER_S, Bytes, Nanoseconds, format_bytes, format_time

_MOST_CHUNKS = 10
_MOST_DENSITY = 200


@dataclass(frozen=True, kw_only=True)
class Chunks(OnFile):
    """Waits once, in its first cycle, then writes a file of `size` in equal chunks, one a cycle, and ends.

    order: of the chunks, a digit each. fsync, sync: after which writes, in their order and a bit each, the file is
    synced; or closed, everything synced, and the file opened again. density: how much of each chunk is written, its
    last bytes, in per cent; above 100, what is over is written in a second pass.
    """

    kind = "chunks"
    role = "offender"
    sleeps_first = True
    wait: Nanoseconds
    size: Bytes
    order: str = "0123"
    fsync: str = "0000"
    sync: str = "0001"
    density: int = 100

    @property
    def description(self) -> str:
        size, count = format_bytes(self.size), len(self.order)
        return f"from {format_time(self.wait)} on, writes a file of {size} in {count} chunks, in the order {self.order}"

    @property
    def capacity(self) -> int:
        return len(self.order) * len(self._passes)

    @property
    def files(self) -> dict[str, Bytes]:
        return {self.file: self.size}

    @property
    def _passes(self) -> tuple[int, ...]:
        """How many per cent of each chunk are written, in each pass."""
        return (self.density,) if self.density <= 100 else (100, self.density - 100)

    def check(self, path: str = "") -> None:
        super().check(path)
        check_wait(f"{path}wait", self.wait)
        count = len(self.order)
        if not 0 < count <= _MOST_CHUNKS or sorted(self.order) != list("0123456789"[:count]):
            raise InputError(f"{path}order: {self.order!r} is no order of chunks: write for example 3012")
        for key in ("fsync", "sync"):
            bits = getattr(self, key)
            if len(bits) != count or set(bits) - set("01"):
                raise InputError(f"{path}{key}: {bits!r} is not {count} digits 0 or 1, one for each chunk")
        if not 0 < self.density <= _MOST_DENSITY:
            raise InputError(f"{path}density: {self.density} is not between 1 and {_MOST_DENSITY} per cent")
        if self.size <= 0 or self.size % count:
            raise InputError(f"{path}size: {format_bytes(self.size)} is not a multiple of its {count} chunks")
        check_block(f"{path}size", Bytes(self.size // count))

    def idle_ns(self, number: int) -> int:
        return self.wait if number == 0 else 0

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        path, count = mount / self.file, len(self.order)
        whole = self.size // count
        block = bytes(whole)
        fd = create(path)

        def cycle(number: int) -> None:
            nonlocal fd
            if number == 0 and self.wait:
                time.sleep(self.wait / NS_PER_S)
            place, written = number % count, whole * self._passes[number // count] // 100
            if fd < 0:
                fd = os.open(path, os.O_WRONLY)
            os.pwrite(fd, block[:written], (int(self.order[place]) + 1) * whole - written)
            if self.fsync[place] == "1":
                os.fsync(fd)
            if self.sync[place] == "1":
                os.close(fd)
                fd = -1
                os.sync()

        return cycle
