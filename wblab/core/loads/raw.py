"""Loads on a device without a filesystem. `mount` is then the device, not a directory."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from errno import EPERM
from mmap import mmap
from pathlib import Path
from random import Random
from stat import S_ISBLK
from typing import Literal

from wblab.core.errors import InputError
from wblab.core.loads.base import MAX_CYCLES, Cycle, Load, Periodic
from wblab.core.loads.offender import waiting
from wblab.core.loads.reading import Order, places
from wblab.core.loads.repeated import Repeated, Writing
from wblab.core.parameters import check_block, check_direct, check_wait, check_whole_blocks
from wblab.core.syscalls import on_hostfs
from wblab.core.units import NS_PER_S, Bytes, Nanoseconds, format_bytes, format_time

Through = Literal["cache", "direct"]


@dataclass(frozen=True, kw_only=True)
class _Raw(Load):
    """offset, size: the range of the device that the load uses.

    through: `cache` uses the device's page cache; `direct` bypasses it (O_DIRECT).
    """

    raw = True
    size: Bytes
    offset: Bytes = Bytes(0)
    block: Bytes = Bytes(4096)
    through: Through = "cache"

    @property
    def files(self) -> dict[str, Bytes]:
        return {"": Bytes(self.offset + self.size)}

    def check(self, path: str = "") -> None:
        super().check(path)
        check_block(f"{path}block", self.block)
        check_whole_blocks(f"{path}size", self.size, self.block)
        if self.offset < 0 or self.offset % 512:
            raise InputError(f"{path}offset: {self.offset} is not a multiple of 512 bytes: round it")
        if self.through == "direct":
            check_direct(f"{path}block", self.block)

    def _open(self, device: Path, flags: int) -> int:
        """Open the device. Refuse to write to a real machine's device, as that would destroy its data."""
        fd = os.open(device, flags | (os.O_DIRECT if self.through == "direct" else 0))
        if flags != os.O_RDONLY and S_ISBLK(os.fstat(fd).st_mode) and not on_hostfs("/"):
            os.close(fd)
            raise PermissionError(EPERM, "raw loads write to a device only inside a guest", str(device))
        return fd

    def _buffers(self) -> Sequence[memoryview]:
        return [memoryview(mmap(-1, self.block))]  # page-aligned, for O_DIRECT


@dataclass(frozen=True, kw_only=True)
class Raw(Periodic, _Raw):
    """Innocent: reads or writes a block of a device, then sleeps. order: as of `read`."""

    kind = "raw"
    waits_for_disk = True
    op: Literal["read", "write"] = "read"
    order: Order = "random"

    @property
    def description(self) -> str:
        how = {"sequential": "in order", "random": "at random"}[self.order]
        return f"{self.op}s {format_bytes(self.block)} of a device {how}, every {format_time(self.idle)}"

    @property
    def cycle_bytes(self) -> Bytes:
        return self.block if self.op == "write" else Bytes(0)

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        sleep, idle_s, offset, buffers = time.sleep, self.idle / NS_PER_S, self.offset, self._buffers()
        fd = self._open(mount, os.O_RDONLY if self.op == "read" else os.O_WRONLY)
        call = os.preadv if self.op == "read" else os.pwritev
        place = places(self.order, self.size, self.block, draws)

        def cycle(number: int) -> None:
            call(fd, buffers, offset + place(number))
            sleep(idle_s)

        return cycle


@dataclass(frozen=True, kw_only=True)
class RawOffender(_Raw):
    """Offender: waits once, in its first cycle, then writes `size` to a device in order, as fast as it can, like dd."""

    kind = "rawload"
    role = "offender"
    sleeps_first = True
    wait: Nanoseconds

    @property
    def description(self) -> str:
        size, block = format_bytes(self.size), format_bytes(self.block)
        return f"from {format_time(self.wait)} on, writes {size} of a device in blocks of {block}"

    @property
    def capacity(self) -> int:
        return self.size // self.block

    @property
    def cycle_bytes(self) -> Bytes:
        return self.block

    def check(self, path: str = "") -> None:
        super().check(path)
        check_wait(f"{path}wait", self.wait)
        if self.capacity > MAX_CYCLES:
            raise InputError(f"{path}block: {self.capacity} writes are more than {MAX_CYCLES}: raise block")

    def idle_ns(self, number: int) -> int:
        return self.wait if number == 0 else 0

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        fd = self._open(mount, os.O_WRONLY)
        os.lseek(fd, self.offset, os.SEEK_SET)
        return Repeated(Writing(fd, mmap(-1, self.block)), before=waiting(self.wait))
