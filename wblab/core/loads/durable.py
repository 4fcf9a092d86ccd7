"""Innocent loads that wait for the disk in each cycle."""

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

# O_DIRECT bypasses the page cache, but not the disk's own write cache.
Method = Literal["fsync", "fdatasync", "sync_file_range", "O_SYNC", "O_DSYNC", "O_DIRECT", "none"]
_FLAGS = {"O_SYNC": os.O_SYNC, "O_DSYNC": os.O_DSYNC, "O_DIRECT": os.O_DIRECT}
_SEQUENCE_BYTES = 8


@dataclass(frozen=True, kw_only=True)
class _Records(Periodic, OnFile):
    """Writes a record of `block` bytes, waits until it is on the disk, then sleeps for `idle`.

    A record begins with the number of its cycle (8 bytes, little-endian), which shows later which records the disk has.
    size: the file has this size from the start and its records are overwritten in turn; 0: the file grows.
    count: the load ends after so many records; 0: when it is stopped.
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
        record = memoryview(mmap(-1, block))  # page-aligned, for O_DIRECT
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
    """Innocent: writes a record, makes it durable by `method`, then sleeps."""

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
    """Innocent: appends a record to a log and calls fdatasync, as a database commits, then sleeps."""

    kind = "commit"

    @property
    def description(self) -> str:
        verb = "writes over" if self.size else "appends"
        return f"commits: {verb} {format_bytes(self.block)}, fdatasync, {self._rhythm}"

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        return self._prepare(mount, "fdatasync")


@dataclass(frozen=True, kw_only=True)
class SyncFilesystem(Periodic):
    """Innocent: writes all dirty data of its filesystem, of all programs, to the disk (syncfs), then sleeps.

    all_disks: of all filesystems, by sync(2).
    """

    kind = "syncfs"
    waits_for_disk = True
    all_disks: bool = False

    @property
    def description(self) -> str:
        return f"calls {'sync' if self.all_disks else 'syncfs'}, every {format_time(self.idle)}"

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        sleep, idle_s = time.sleep, self.idle / NS_PER_S
        fd = os.open(mount, os.O_RDONLY | os.O_DIRECTORY)
        write_out = (lambda _: os.sync()) if self.all_disks else syncfs

        def cycle(number: int) -> None:
            write_out(fd)
            sleep(idle_s)

        return cycle


def _sync(method: Method, fd: int) -> Callable[[], object] | None:
    """Return the call that waits for the disk after a write; None if the write itself waits, or nothing does."""
    if method == "fsync":
        return lambda: os.fsync(fd)
    if method == "fdatasync":
        return lambda: os.fdatasync(fd)
    if method == "sync_file_range":
        return lambda: sync_file_range(fd)
    return None
