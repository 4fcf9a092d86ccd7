"""I/O engines: a main loop makes its system calls on files itself, or submits them to an engine."""

import ctypes
import os
import threading
from collections import deque
from collections.abc import Callable
from errno import EIO
from mmap import ACCESS_READ, ALLOCATIONGRANULARITY, mmap
from typing import Literal, NamedTuple, get_args

from wblab.core import uring
from wblab.core.aio import Operation
from wblab.core.syscalls import memory_of

Name = Literal["open", "read", "write", "close", "unlink"]
NAMES: tuple[Name, ...] = get_args(Name)
_MODE = 0o644


class Call(NamedTuple):
    """A system call on a file: open and unlink take `path`, the others `fd`; read and write also take `buffer`."""

    name: Name
    fd: int = -1
    buffer: bytes | bytearray = b""
    offset: int = 0
    path: str = ""
    flags: int = os.O_RDONLY


def perform(call: Call) -> int:
    """Make a call and return its result. Raises OSError."""
    if call.name == "open":
        return os.open(call.path, call.flags, _MODE)
    if call.name == "read":
        return os.preadv(call.fd, [call.buffer], call.offset) if isinstance(call.buffer, bytearray) else 0
    if call.name == "write":
        return os.pwrite(call.fd, call.buffer, call.offset)
    if call.name == "close":
        os.close(call.fd)
    else:
        os.unlink(call.path)
    return 0


class Engine:
    """A synchronous engine: the loop makes all calls itself.

    accepts: the calls that can be submitted. waiting: the number of calls that were submitted and not reaped.
    """

    accepts: frozenset[Name] = frozenset()

    def __init__(self, most: int) -> None:
        """Set up an engine for at most `most` calls in flight. Raises OSError."""
        self.waiting = 0

    def perform(self, call: Call) -> int:
        """Make a call at once, in the loop. Raises OSError."""
        return perform(call)

    def submit(self, number: int, call: Call) -> None:
        """Start a call, under a number that no other call in flight has. Raises OSError."""
        raise NotImplementedError

    def reap(self) -> list[tuple[int, int]]:
        """Return the calls that completed since: number and result, or negative errno."""
        return []

    def close(self) -> None:
        """Wait for all calls in flight. Raises OSError."""


class Threads(Engine):
    """Threads make the calls: one for each call in flight, up to 16."""

    accepts = frozenset(NAMES)

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._calls: deque[tuple[int, Call] | None] = deque()
        self._done: deque[tuple[int, int]] = deque()
        self._count = os.eventfd(0, os.EFD_SEMAPHORE)  # not a Python lock, which a signal could leave locked
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(min(most, 16))]
        for thread in self._threads:
            thread.start()

    def submit(self, number: int, call: Call) -> None:
        self.waiting += 1
        self._calls.append((number, call))
        os.eventfd_write(self._count, 1)

    def reap(self) -> list[tuple[int, int]]:
        done = []
        while self._done:
            done.append(self._done.popleft())
            self.waiting -= 1
        return done

    def close(self) -> None:
        self._calls.extend([None] * len(self._threads))
        os.eventfd_write(self._count, len(self._threads) + 1)  # a stop may come between a call and its count
        for thread in self._threads:
            thread.join()
        os.close(self._count)

    def _work(self) -> None:
        while os.eventfd_read(self._count) and (taken := self._calls.popleft()):
            number, call = taken
            try:
                result = perform(call)
            except OSError as error:
                result = -(error.errno or EIO)
            self._done.append((number, result))


class Aio(Engine):
    """POSIX AIO: reads and writes, one at a time for each descriptor."""

    accepts = frozenset({"read", "write"})

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._under_way: dict[int, Operation] = {}

    def submit(self, number: int, call: Call) -> None:
        self._under_way[number] = Operation(call.name, call.fd, call.buffer, call.offset)
        self.waiting += 1

    def reap(self) -> list[tuple[int, int]]:
        results = [(number, operation.result()) for number, operation in self._under_way.items()]
        done = [(number, result) for number, result in results if result is not None]
        for number, _ in done:
            del self._under_way[number]
            self.waiting -= 1
        return done

    def close(self) -> None:
        for operation in self._under_way.values():
            while operation.result() is None:
                operation.wait()


class Uring(Engine):
    """io_uring: all five calls."""

    accepts = frozenset(NAMES)

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._ring = uring.Ring(most)
        self._memory: dict[int, object] = {}

    def submit(self, number: int, call: Call) -> None:
        self._memory[number], entry = _entry(call)
        self._ring.submit(number, entry)
        self.waiting += 1

    def reap(self) -> list[tuple[int, int]]:
        done = self._ring.completed()
        for number, _ in done:
            del self._memory[number]
            self.waiting -= 1
        return done

    def close(self) -> None:
        self.reap()
        while self.waiting > 0:
            self._ring.wait()
            self.reap()
        self._ring.close()


class Mapped(Engine):
    """Mapped files: the loop copies to and from memory, and waits in page faults."""

    def perform(self, call: Call) -> int:
        if call.name not in ("read", "write"):
            return perform(call)
        begin = call.offset - call.offset % ALLOCATIONGRANULARITY
        at, end = call.offset - begin, call.offset - begin + len(call.buffer)
        if call.name == "read":
            with mmap(call.fd, end, access=ACCESS_READ, offset=begin) as memory:
                memory[at:end]  # a copy
        else:
            if os.fstat(call.fd).st_size < begin + end:
                os.posix_fallocate(call.fd, begin, end)  # on a full disk, a fault beyond it would be SIGBUS
            with mmap(call.fd, end, offset=begin) as memory:
                memory[at:end] = call.buffer
        return len(call.buffer)


class Sendfile(Engine):
    """sendfile instead of read: from the file to a socket, without a copy."""

    def __init__(self, most: int) -> None:
        import socket  # imported here, as other loads do not need it

        super().__init__(most)
        self._sink, self._client = socket.socketpair()
        self._received = bytearray(1 << 16)

    def perform(self, call: Call) -> int:
        if call.name != "read":
            return perform(call)
        left, at = len(call.buffer), call.offset
        while left > 0:  # in pieces that fit into the socket, as the loop is also its client
            sent = os.sendfile(self._sink.fileno(), call.fd, at, min(left, len(self._received)))
            if not sent:
                break
            left, at = left - sent, at + sent
            while sent > 0:
                sent -= self._client.recv_into(self._received)
        return len(call.buffer) - left

    def close(self) -> None:
        self._sink.close()
        self._client.close()


ENGINES: dict[str, Callable[[int], Engine]] = {
    "sync": Engine,
    "threads": Threads,
    "aio": Aio,
    "io_uring": Uring,
    "mmap": Mapped,
    "sendfile": Sendfile,
}
_CODES = {"open": uring.OPENAT, "read": uring.READ, "write": uring.WRITE, "unlink": uring.UNLINKAT}


def _entry(call: Call) -> tuple[object, uring.Entry]:
    """Return the buffer of a call, which must stay in place until it completes, and its io_uring entry."""
    if call.name == "close":
        return None, uring.Entry(uring.CLOSE, call.fd)
    if call.name in ("open", "unlink"):
        path = ctypes.create_string_buffer(os.fsencode(call.path))
        place = uring.Entry(_CODES[call.name], uring.AT_FDCWD, ctypes.addressof(path))
        return path, place._replace(length=_MODE, flags=call.flags | os.O_CLOEXEC) if call.name == "open" else place
    memory = memory_of(call.buffer)
    at = ctypes.addressof(memory)
    return memory, uring.Entry(_CODES[call.name], call.fd, at, len(call.buffer), call.offset)
