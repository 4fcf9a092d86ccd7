"""Write a file in chunks, after He et al., "Reducing File System Tail Latencies with Chopper" (FAST 2015)."""

import os
import time
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from random import Random

from wblab.core.errors import InputError
from wblab.core.loads.base import Cycle, Progress
from wblab.core.loads.chunktree import DIRECTORIES, directory
from wblab.core.loads.files import OnFile, create
from wblab.core.parameters import check_block, check_wait
from wblab.core.units import NS_PER_S, Bytes, Nanoseconds, format_bytes, format_time

_MOST_CHUNKS = 10
_MOST_DENSITY = 200
_MOST_FILES = 2
_MOST_SPAN = 12
_NEAR = DIRECTORIES[0]  # the directory of the first of two files


@dataclass(frozen=True, kw_only=True)
class Chunks(OnFile):
    """Offender: waits once, in its first cycle, then writes a file of `size` in equal chunks, one per cycle, and ends.

    order: the order of the chunks, one digit each.
    fsync, sync: one bit per write, in the order of writing. fsync: sync the file after it. sync: close the file, sync
    everything and open the file again.
    density: how much of each chunk is written, in per cent, counted from its end; what exceeds 100 is written in a
    second pass.
    file_count: with 2, each chunk is written to `file`.0 and then to `file`.1, in a cycle each.
    span: the distance of two directories in a tree. The file, or the second of two, is in directory 2 + span; the first
    of two is in directory 3. 0: no tree.
    idle: the sleep before each write but the first.
    """

    kind = "chunks"
    role = "offender"
    sleeps_first = True
    maps_files = True
    wait: Nanoseconds
    size: Bytes
    order: str = "0123"
    fsync: str = "0000"
    sync: str = "0001"
    density: int = 100
    file_count: int = 1
    span: int = 0
    idle: Nanoseconds = Nanoseconds(0)

    @property
    def description(self) -> str:
        size, count = format_bytes(self.size), len(self.order)
        what = "a file" if self.file_count == 1 else f"{self.file_count} files"
        return f"from {format_time(self.wait)} on, writes {what} of {size} in {count} chunks, in the order {self.order}"

    @property
    def capacity(self) -> int:
        return len(self.order) * len(self._passes) * self.file_count

    @property
    def files(self) -> dict[str, Bytes]:
        return dict.fromkeys(self._names, self.size)

    @property
    def _names(self) -> tuple[str, ...]:
        """The files, in the order of writing."""
        file, numbers = PurePosixPath(self.file), range(self.file_count)
        names = [file.name if self.file_count == 1 else f"{file.name}.{number}" for number in numbers]
        far = _NEAR - 1 + self.span if self.span else 0
        places = [_NEAR if far and number < numbers[-1] else far for number in numbers]
        return tuple(str(file.parent / directory(place) / name) for place, name in zip(places, names, strict=True))

    @property
    def _passes(self) -> tuple[int, ...]:
        """The share of each chunk that each pass writes, in per cent."""
        return (self.density,) if self.density <= 100 else (100, self.density - 100)

    def check(self, path: str = "") -> None:
        super().check(path)
        check_wait(f"{path}wait", self.wait)
        check_wait(f"{path}idle", self.idle)
        count = len(self.order)
        if not 0 < count <= _MOST_CHUNKS or sorted(self.order) != list("0123456789"[:count]):
            raise InputError(f"{path}order: {self.order!r} must have each digit from 0 on once: write for example 3012")
        for key in ("fsync", "sync"):
            bits = getattr(self, key)
            if len(bits) != count or set(bits) - set("01"):
                raise InputError(f"{path}{key}: {bits!r} is not {count} digits 0 or 1, one for each chunk")
        if not 0 < self.density <= _MOST_DENSITY:
            raise InputError(f"{path}density: {self.density} is not between 1 and {_MOST_DENSITY} per cent")
        if not 1 <= self.file_count <= _MOST_FILES:
            raise InputError(f"{path}file_count: {self.file_count} is not between 1 and {_MOST_FILES}")
        if not 0 <= self.span <= _MOST_SPAN:
            raise InputError(f"{path}span: {self.span} is not between 0 and {_MOST_SPAN}")
        if self.size <= 0 or self.size % count:
            raise InputError(f"{path}size: {format_bytes(self.size)} is not a multiple of its {count} chunks: round it")
        check_block(f"{path}size", Bytes(self.size // count))

    def idle_ns(self, number: int) -> int:
        return self.idle if number else self.wait

    def lay_out(self, mount: Path, progress: Progress = lambda: None) -> None:
        for number in DIRECTORIES if self.span else ():
            where = (mount / self.file).parent / directory(number)
            where.mkdir(parents=True, exist_ok=True)

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        paths, count = [mount / name for name in self._names], len(self.order)
        whole = self.size // count
        block = bytes(whole)
        fds = [create(path) for path in paths]

        def cycle(number: int) -> None:
            if idle_ns := self.idle_ns(number):
                time.sleep(idle_ns / NS_PER_S)
            step, file = divmod(number, len(paths))
            place, written = step % count, whole * self._passes[step // count] // 100
            if fds[file] < 0:
                fds[file] = os.open(paths[file], os.O_WRONLY)
            os.pwrite(fds[file], block[:written], (int(self.order[place]) + 1) * whole - written)
            if self.fsync[place] == "1":
                os.fsync(fds[file])
            if self.sync[place] == "1":
                os.close(fds[file])
                fds[file] = -1
                os.sync()

        return cycle
