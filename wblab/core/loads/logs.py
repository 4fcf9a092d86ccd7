"""Ways to write a program's log: in its main loop, or by a thread, a process or the kernel."""

import fcntl
import os
import signal
import threading
from collections import deque
from collections.abc import Callable
from errno import EIO
from functools import partial
from mmap import mmap
from typing import Literal, Protocol

from wblab.core.child import fork_child
from wblab.core.loads.engines import Aio, Call, Engine, Uring

Paradigm = Literal["sync", "threads", "pipe", "aio", "io_uring", "mmap"]
_READ_BYTES = 65536
_WINDOW_BYTES = 1 << 20
_MOST_WAITING = 4096


class Log(Protocol):
    """A log whose lines all have the same length."""

    def put(self, line: bytes) -> bool:
        """Accept a line or drop it; return whether it was dropped. Raises OSError."""

    def close(self) -> None:
        """Write all accepted lines and close the log. Raises OSError."""


class Direct:
    """A log that the loop itself writes."""

    def __init__(self, fd: int, block: int, room: int) -> None:
        self._fd = fd

    def put(self, line: bytes) -> bool:
        os.write(self._fd, line)
        return False

    def close(self) -> None:
        os.close(self._fd)


class Thread:
    """A log that a thread writes."""

    def __init__(self, fd: int, block: int, room: int) -> None:
        self._fd, self._most = fd, room // block
        self._lines: deque[bytes] = deque()  # an empty line marks the end
        self._count = os.eventfd(0, os.EFD_SEMAPHORE)  # not a Python lock, which a signal could leave locked
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
        os.eventfd_write(self._count, 2)  # a stop may come between a line and its count
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


class Pipe:
    """A log that a process reads from a pipe and writes, in pieces of up to 64 KiB."""

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


class Queue:
    """A log whose lines are submitted to an engine, each with its offset in the file."""

    def __init__(self, engine: Callable[[int], Engine], fd: int, block: int, room: int) -> None:
        self._fd, self._most, self._number = fd, min(room // block, _MOST_WAITING), 0
        self._engine = engine(self._most)

    def put(self, line: bytes) -> bool:
        self._check()
        if self._engine.waiting >= self._most:
            return True
        self._engine.submit(self._number, Call("write", self._fd, line, self._number * len(line)))
        self._number += 1
        return False

    def close(self) -> None:
        self._engine.close()
        os.close(self._fd)

    def _check(self) -> None:
        for _, result in self._engine.reap():
            if result < 0:
                raise OSError(-result, os.strerror(-result))


class Mapped:
    """A log that the loop writes to a mapped file, which grows by one window at a time."""

    def __init__(self, fd: int, block: int, room: int) -> None:
        path = f"/proc/self/fd/{fd}"
        self._fd, self._length, self._window = os.open(path, os.O_RDWR), 0, 0
        os.close(fd)
        self._memory: mmap | None = None

    def put(self, line: bytes) -> bool:
        while line:
            at = self._length - self._window
            if not self._memory or at == _WINDOW_BYTES:
                self._move()
                continue
            piece = line[: _WINDOW_BYTES - at]
            self._memory[at : at + len(piece)] = piece
            self._length += len(piece)
            line = line[len(piece) :]
        return False

    def close(self) -> None:
        if self._memory:
            self._memory.close()
        os.ftruncate(self._fd, self._length)
        os.close(self._fd)

    def _move(self) -> None:
        """Map the next window. Its blocks are allocated first: on a full disk, a fault would be SIGBUS."""
        if self._memory:
            self._memory.close()
        self._window = self._length
        os.posix_fallocate(self._fd, self._window, _WINDOW_BYTES)
        self._memory = mmap(self._fd, _WINDOW_BYTES, offset=self._window)


LOGS: dict[Paradigm, Callable[[int, int, int], Log]] = {
    "sync": Direct,
    "threads": Thread,
    "pipe": Pipe,
    "aio": partial(Queue, Aio),
    "io_uring": partial(Queue, Uring),
    "mmap": Mapped,
}
