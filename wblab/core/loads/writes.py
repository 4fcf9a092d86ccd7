"""Innocent loads that write little and do not wait for the disk."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random

from wblab.core.loads.base import Cycle, Periodic
from wblab.core.loads.files import OnFile, create
from wblab.core.loads.repeated import Repeated, Sleeping, writing, written_uncached
from wblab.core.parameters import check_block
from wblab.core.units import NS_PER_S, Bytes, format_time


@dataclass(frozen=True, kw_only=True)
class _SmallWrites(Periodic, OnFile):
    """Writes `block` bytes, then sleeps for `idle`, until it is stopped.

    dontcache: with RWF_DONTCACHE (Linux 6.14): the kernel begins to write them at once, and drops them then.
    """

    block: Bytes = Bytes(1)
    dontcache: bool = False

    @property
    def cycle_bytes(self) -> Bytes:
        return self.block

    def check(self, path: str = "") -> None:
        super().check(path)
        check_block(f"{path}block", self.block)


@dataclass(frozen=True, kw_only=True)
class Write(_SmallWrites):
    """Innocent: appends a small block to one file, then sleeps."""

    kind = "write"

    @property
    def description(self) -> str:
        return f"appends to a file it has open, every {format_time(self.idle)}"

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        return Repeated(writing(create(mount / self.file), self.block, dontcache=self.dontcache), Sleeping(self.idle))


@dataclass(frozen=True, kw_only=True)
class MultiWrite(_SmallWrites):
    """Innocent: writes a small block to a new file (file.0, file.1, …) each time, then sleeps."""

    kind = "multiwrite"

    @property
    def description(self) -> str:
        return f"opens and writes a new file, every {format_time(self.idle)}"

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        close, sleep, idle_s = os.close, time.sleep, self.idle / NS_PER_S
        write = written_uncached if self.dontcache else os.write
        stem = mount / self.file
        stem.parent.mkdir(parents=True, exist_ok=True)
        prefix, flags = f"{stem}.", os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        block = bytes(self.block)

        def cycle(number: int) -> None:
            fd = os.open(f"{prefix}{number}", flags, 0o644)
            write(fd, block)
            close(fd)
            sleep(idle_s)

        return cycle
