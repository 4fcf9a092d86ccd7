"""Innocent loads that write a little and do not wait for the disk."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from wblab.core.loads.base import Cycle, Load
from wblab.core.loads.files import create
from wblab.core.parameters import check_block, check_file, check_idle
from wblab.core.units import NS_PER_S, Bytes, Nanoseconds, format_time


@dataclass(frozen=True, kw_only=True)
class _SmallWrites(Load):
    """Writes `block` bytes, then sleeps for `idle`, until it is stopped."""

    file: str
    idle: Nanoseconds
    block: Bytes = Bytes(1)

    @property
    def cycle_bytes(self) -> Bytes:
        return self.block

    def check(self, path: str = "") -> None:
        super().check(path)
        check_file(f"{path}file", self.file)
        check_block(f"{path}block", self.block)
        check_idle(f"{path}idle", self.idle)

    def idle_ns(self, number: int) -> int:
        return self.idle


@dataclass(frozen=True, kw_only=True)
class Write(_SmallWrites):
    """Innocent: appends a small block to one file, then sleeps."""

    kind = "write"

    @property
    def description(self) -> str:
        return f"appends to a file it has open, every {format_time(self.idle)}"

    def prepare(self, mount: Path, seed: str = "") -> Cycle:
        write, sleep, idle_s = os.write, time.sleep, self.idle / NS_PER_S
        fd = create(mount / self.file)
        block = bytes(self.block)

        def cycle(number: int) -> None:
            write(fd, block)
            sleep(idle_s)

        return cycle


@dataclass(frozen=True, kw_only=True)
class MultiWrite(_SmallWrites):
    """Innocent: writes a small block to a new file (file.0, file.1, …) each time, then sleeps."""

    kind = "multiwrite"

    @property
    def description(self) -> str:
        return f"opens and writes a new file, every {format_time(self.idle)}"

    def prepare(self, mount: Path, seed: str = "") -> Cycle:
        write, close, sleep, idle_s = os.write, os.close, time.sleep, self.idle / NS_PER_S
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
