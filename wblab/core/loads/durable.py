"""Innocent loads whose cycles wait until the disk has something."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from mmap import mmap
from pathlib import Path
from random import Random
from typing import Literal

from wblab.core.errors import InputError
from wblab.core.loads.base import MAX_CYCLES, Cycle, Periodic, Progress
from wblab.core.loads.files import OnFile, lay_out
from wblab.core.parameters import check_block, check_direct, check_whole_blocks
from wblab.core.syscalls import sync_file_range, syncfs
from wblab.core.units import NS_PER_S, Bytes, format_bytes, format_time

# O_DIRECT goes around the page cache, but a disk may keep what it got in a cache of its own.
Method = Literal["fsync", "fdatasync", "sync_file_range", "O_SYNC", "O_DSYNC", "O_DIRECT", "none"]
_FLAGS = {"O_SYNC": os.O_SYNC, "O_DSYNC": os.O_DSYNC, "O_DIRECT": os.O_DIRECT}
_SEQUENCE_BYTES = 8


@dataclass(frozen=True, kw_only=True)
class _Records(Periodic, OnFile):
    """Writes records of `block` bytes, each to the disk before it sleeps for `idle`.

    A record begins with the number of its cycle (8 bytes, the lowest first), so that what the disk has can be told.
    size: the file is made before and its records are written over, from the first again and again; 0: it grows.
    count: after so many it ends by itself; 0: when it is stopped.
    """

    waits_for_disk = True
    block: Bytes = Bytes(4096)
    size: Bytes = Bytes(0)
    count: int = 0

    @property
    def ends(self) -> bool:
        return self.count > 0

    @property
    def capacity(self) -> int:
        return self.count or super().capacity

    @property
    def cycle_bytes(self) -> Bytes:
        return self.block

    @property
    def files(self) -> dict[str, Bytes]:
        taken = self.size or self.count * self.block
        return {self.file: Bytes(taken)} if taken else {}

    @property
    def _rhythm(self) -> str:
        return f"every {format_time(self.idle)}" + (f", {self.count} times" if self.count else "")

    def check(self, path: str = "") -> None:
        super().check(path)
        check_block(f"{path}block", self.block)
        if self.size:
            check_whole_blocks(f"{path}size", self.size, self.block)
        if not 0 <= self.count <= MAX_CYCLES:
            raise InputError(f"{path}count: {self.count} is not between 0 and {MAX_CYCLES}")

    def lay_out(self, mount: Path, progress: Progress = lambda: None) -> None:
        if self.size:
            lay_out(mount / self.file, self.size, progress)

    def _prepare(self, mount: Path, method: Method) -> Cycle:
        self.lay_out(mount)
        sleep, idle_s, block, size = time.sleep, self.idle / NS_PER_S, self.block, self.size
        path, write = mount / self.file, os.pwrite
        path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | (0 if size else os.O_TRUNC) | _FLAGS.get(method, 0), 0o644)
        record = memoryview(mmap(-1, block))  # on a page's begin, as O_DIRECT wants it
        digits = min(block, _SEQUENCE_BYTES)
        sync = _sync(method, fd)

        def cycle(number: int) -> None:
            record[:digits] = number.to_bytes(_SEQUENCE_BYTES, "little")[:digits]
            at = number * block
            write(fd, record, at % size if size else at)
            if sync:
                sync()
            sleep(idle_s)

        return cycle


@dataclass(frozen=True, kw_only=True)
class SyncWrite(_Records):
    """Innocent: writes a record and waits by `method` until the disk has it, then sleeps."""

    kind = "syncwrite"
    method: Method = "fsync"

    @property
    def description(self) -> str:
        how = {"none": "waits for nothing", **{name: f"opened with {name}" for name in _FLAGS}}
        return f"writes {format_bytes(self.block)}, {how.get(self.method, self.method)}, {self._rhythm}"

    def check(self, path: str = "") -> None:
        super().check(path)
        if self.method == "O_DIRECT":
            check_direct(f"{path}block", self.block)

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        return self._prepare(mount, self.method)


@dataclass(frozen=True, kw_only=True)
class Commit(_Records):
    """Innocent: appends a record to a log and waits for it by fdatasync, as databases commit, then sleeps."""

    kind = "commit"

    @property
    def description(self) -> str:
        verb = "writes over" if self.size else "appends"
        return f"commits: {verb} {format_bytes(self.block)}, fdatasync, {self._rhythm}"

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        return self._prepare(mount, "fdatasync")


@dataclass(frozen=True, kw_only=True)
class SyncFilesystem(Periodic):
    """Innocent: has all that is dirty on its filesystem written, whoever wrote it, then sleeps."""

    kind = "syncfs"
    waits_for_disk = True

    @property
    def description(self) -> str:
        return f"calls syncfs, every {format_time(self.idle)}"

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        sleep, idle_s = time.sleep, self.idle / NS_PER_S
        fd = os.open(mount, os.O_RDONLY | os.O_DIRECTORY)

        def cycle(number: int) -> None:
            syncfs(fd)
            sleep(idle_s)

        return cycle


def _sync(method: Method, fd: int) -> Callable[[], object] | None:
    """Return what waits for the disk after a write; None where the write itself does, or nothing."""
    if method == "fsync":
        return lambda: os.fsync(fd)
    if method == "fdatasync":
        return lambda: os.fdatasync(fd)
    if method == "sync_file_range":
        return lambda: sync_file_range(fd)
    return None
