"""A program with one main loop that keeps a log, after A. Chadd, "Writing Disk-IO efficient applications"."""

import fcntl
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from errno import EIO
from pathlib import Path
from random import Random
from typing import Literal

from wblab.core.child import fork_child
from wblab.core.errors import InputError
from wblab.core.loads.base import Cycle, Periodic
from wblab.core.loads.files import OnFile, create
from wblab.core.units import NS_PER_S, Bytes, format_bytes, format_time

Paradigm = Literal["sync", "threads", "pipe"]
_PIPE_BUF = 4096  # what goes into a pipe whole, or not at all; see pipe(7)
_MOST_ROOM = 1 << 20  # /proc/sys/fs/pipe-max-size, unless it was changed
_READ_BYTES = 65536


@dataclass(frozen=True, kw_only=True)
class Loop(Periodic, OnFile):
    """Innocent: the main loop of a program, which puts a line of `block` bytes into a log, then sleeps.

    paradigm: who writes. `sync`, the loop itself; `threads`, a thread; `pipe`, a process at the end of a pipe.
    room: how much may wait for the thread or the process; a line for which there is no room is dropped.
    """

    kind = "loop"
    block: Bytes = Bytes(160)
    paradigm: Paradigm = "sync"
    room: Bytes = Bytes(64 << 10)

    @property
    def description(self) -> str:
        who = {"sync": "itself", "threads": "by a thread", "pipe": "through a pipe to a process"}[self.paradigm]
        return f"a main loop that logs {format_bytes(self.block)} {who}, every {format_time(self.idle)}"

    @property
    def cycle_bytes(self) -> Bytes:
        return self.block

    def check(self, path: str = "") -> None:
        super().check(path)
        if not 0 < self.block <= _PIPE_BUF:
            raise InputError(f"{path}block: {self.block} is not between 1 and {_PIPE_BUF}: a line of a log is short")
        if not _PIPE_BUF <= self.room <= _MOST_ROOM:
            raise InputError(f"{path}room: give between {format_bytes(_PIPE_BUF)} and {format_bytes(_MOST_ROOM)}")

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        return _Cycle(_LOGS[self.paradigm](create(mount / self.file), self.block, self.room), self.block, self.idle)

    def finish(self, cycle: Cycle) -> None:
        if isinstance(cycle, _Cycle):
            cycle.log.close()


class _Itself:
    """A log that the loop writes."""

    def __init__(self, fd: int, block: int, room: int) -> None:
        self._fd = fd

    def put(self, line: bytes) -> bool:
        """Take a line, or drop it; return whether it was dropped. Raises OSError."""
        os.write(self._fd, line)
        return False

    def close(self) -> None:
        """Have what was taken written. Raises OSError."""
        os.close(self._fd)


class _Thread:
    """A log that a thread writes."""

    def __init__(self, fd: int, block: int, room: int) -> None:
        self._fd, self._most = fd, room // block
        self._lines: deque[bytes] = deque()  # an empty one is the last
        self._count = os.eventfd(0, os.EFD_SEMAPHORE)  # no lock of Python's, which a signal could leave held
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def put(self, line: bytes) -> bool:
        if self._error:
            raise self._error
        if len(self._lines) >= self._most:
            return True
        self._lines.append(line)
        os.eventfd_write(self._count, 1)
        return False

    def close(self) -> None:
        self._lines.append(b"")
        os.eventfd_write(self._count, 2)  # a stop may have come between a line and its count
        self._thread.join()
        os.close(self._count)
        os.close(self._fd)
        if self._error:
            raise self._error

    def _write(self) -> None:
        try:
            while os.eventfd_read(self._count) and (line := self._lines[0]):
                os.write(self._fd, line)
                self._lines.popleft()
        except OSError as error:
            self._error = error


class _Pipe:
    """A log that a process writes, in pieces of up to 64 KiB, as they come out of a pipe."""

    def __init__(self, fd: int, block: int, room: int) -> None:
        source, self._sink = os.pipe()
        fcntl.fcntl(self._sink, fcntl.F_SETPIPE_SZ, room)
        os.set_blocking(self._sink, False)
        self._pid = fork_child(lambda: self._write(fd, source))
        os.close(source)
        os.close(fd)

    def put(self, line: bytes) -> bool:
        try:
            os.write(self._sink, line)
        except BlockingIOError:
            return True
        except BrokenPipeError:
            self.close()
            raise
        return False

    def close(self) -> None:
        if self._pid:
            os.close(self._sink)
            pid, self._pid = self._pid, 0
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            if code:
                number = code if code > 0 else EIO
                raise OSError(number, os.strerror(number))

    def _write(self, fd: int, source: int) -> None:
        os.close(self._sink)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # it ends with the pipe
        try:
            while piece := os.read(source, _READ_BYTES):
                os.write(fd, piece)
        except OSError as error:
            os._exit(error.errno or EIO)


_Log = _Itself | _Thread | _Pipe
_LOGS: dict[Paradigm, Callable[[int, int, int], _Log]] = {"sync": _Itself, "threads": _Thread, "pipe": _Pipe}


class _Cycle:
    def __init__(self, log: _Log, block: int, idle_ns: int) -> None:
        self.log, self._line, self._idle_s = log, bytes(block - 1) + b"\n", idle_ns / NS_PER_S

    def __call__(self, number: int) -> bool:
        dropped = self.log.put(self._line)
        time.sleep(self._idle_s)
        return dropped
