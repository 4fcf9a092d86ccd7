"""A program with one main loop that keeps a log, after A. Chadd, "Writing Disk-IO efficient applications"."""

import time
from dataclasses import dataclass
from pathlib import Path
from random import Random

from wblab.core.errors import InputError
from wblab.core.loads.base import Cycle, Periodic
from wblab.core.loads.files import OnFile, create
from wblab.core.loads.logs import LOGS, Log, Paradigm
from wblab.core.units import NS_PER_S, Bytes, format_bytes, format_time

_WORDS: dict[Paradigm, str] = {
    "sync": "itself",
    "threads": "by a thread",
    "pipe": "through a pipe to a process",
    "aio": "by POSIX AIO",
    "io_uring": "by io_uring",
    "mmap": "into mapped memory",
}
_PIPE_BUF = 4096  # the largest atomic write to a pipe, see pipe(7)
_MOST_ROOM = 1 << 20  # /proc/sys/fs/pipe-max-size, unless it was changed


@dataclass(frozen=True, kw_only=True)
class Loop(Periodic, OnFile):
    """Innocent: a program's main loop, which logs a line of `block` bytes, then sleeps.

    paradigm: who writes the log. sync: the loop. mmap: the loop, to a mapped file. threads: a thread. pipe: a process
    at the other end of a pipe. aio: POSIX AIO. io_uring: the kernel.
    room: the size of the queue of lines; a line that does not fit is dropped.
    """

    kind = "loop"
    block: Bytes = Bytes(160)
    paradigm: Paradigm = "sync"
    room: Bytes = Bytes(64 << 10)

    @property
    def description(self) -> str:
        return (
            f"a main loop that logs {format_bytes(self.block)} {_WORDS[self.paradigm]}, every {format_time(self.idle)}"
        )

    @property
    def cycle_bytes(self) -> Bytes:
        return self.block

    def check(self, path: str = "") -> None:
        super().check(path)
        if not 0 < self.block <= _PIPE_BUF:
            raise InputError(f"{path}block: {self.block} is not between 1 and {_PIPE_BUF} bytes: give a shorter line")
        if not _PIPE_BUF <= self.room <= _MOST_ROOM:
            raise InputError(f"{path}room: give between {format_bytes(_PIPE_BUF)} and {format_bytes(_MOST_ROOM)}")

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        return _Cycle(LOGS[self.paradigm](create(mount / self.file), self.block, self.room), self.block, self.idle)

    def finish(self, cycle: Cycle) -> None:
        if isinstance(cycle, _Cycle):
            cycle.log.close()


class _Cycle:
    def __init__(self, log: Log, block: int, idle_ns: int) -> None:
        self.log, self._line, self._idle_s = log, bytes(block - 1) + b"\n", idle_ns / NS_PER_S

    def __call__(self, number: int) -> bool:
        dropped = self.log.put(self._line)
        time.sleep(self._idle_s)
        return dropped
