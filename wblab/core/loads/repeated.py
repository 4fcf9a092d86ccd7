"""Cycles of the same system calls each time, which a guest's kernel can run as a batch.

In User Mode Linux, each system call costs two switches between the process and its kernel. A kernel with `um_cycles`
(linux-uml/patches) makes the calls of many cycles in one go. It makes each call as the process would, at the same
virtual time, and records the same boundaries.
"""

import ctypes
import os
import time
from collections.abc import Callable
from mmap import mmap
from typing import NamedTuple, Protocol

from wblab.core.syscalls import checked, libc
from wblab.core.units import NS_PER_S

_SYS_WRITE, _SYS_CLOCK_NANOSLEEP, _SYS_UM_CYCLES = 1, 230, 0x554D  # x86-64; the last is User Mode Linux's own
_DEADLINE = (1 << 64) - 1  # not a system call: store now + args[1] ns as a timespec at args[0]
_TIMER_ABSTIME = 1
_RWF_DONTCACHE, _AT_POSITION = 0x80, -1  # include/uapi/linux/fs.h; pwritev2(2)
_NEXT, _LENGTH, _LIMIT, _COUNT, _TIMES, _CALLS = range(6)  # struct um_cycles, asm/cycles.h
_WORDS = 7  # per call: its number and arguments


class Words(NamedTuple):
    """A system call's number and arguments."""

    number: int
    arguments: tuple[int, ...]


class Call(Protocol):
    """A system call with the same arguments each time. Making it raises OSError."""

    def __call__(self) -> object: ...

    @property
    def words(self) -> tuple[Words, ...]:
        """The call as the kernel needs it; none if it does not run it as a batch."""


def written_uncached(fd: int, block: bytes | bytearray) -> int:
    """Write bytes behind the last ones of a file with RWF_DONTCACHE; return how many. Raises OSError."""
    return os.pwritev(fd, [block], _AT_POSITION, _RWF_DONTCACHE)


class Writing:
    """write(2) of the same bytes to the same file."""

    def __init__(self, fd: int, block: bytearray | mmap) -> None:
        self._fd, self._block = fd, (ctypes.c_char * len(block)).from_buffer(block)

    def __call__(self) -> None:
        os.write(self._fd, self._block)

    @property
    def words(self) -> tuple[Words, ...]:
        """See Call."""
        return (Words(_SYS_WRITE, (self._fd, ctypes.addressof(self._block), len(self._block))),)


class WritingUncached:
    """pwritev2(2) of the same bytes behind the last ones of the same file, with RWF_DONTCACHE (Linux 6.14).

    The kernel begins to write them at once and drops them when they are written. It does not run such calls as a batch.
    """

    def __init__(self, fd: int, block: bytearray) -> None:
        self._fd, self._block = fd, block

    def __call__(self) -> None:
        written_uncached(self._fd, self._block)

    @property
    def words(self) -> tuple[Words, ...]:
        """See Call."""
        return ()


class Sleeping:
    """time.sleep: clock_nanosleep(2) to a deadline `idle_ns` from now."""

    def __init__(self, idle_ns: int) -> None:
        self._idle_ns, self._idle_s, self._deadline = idle_ns, idle_ns / NS_PER_S, (ctypes.c_int64 * 2)()

    def __call__(self) -> None:
        time.sleep(self._idle_s)

    @property
    def words(self) -> tuple[Words, ...]:
        """See Call."""
        deadline = ctypes.addressof(self._deadline)
        sleep = Words(_SYS_CLOCK_NANOSLEEP, (time.CLOCK_MONOTONIC, _TIMER_ABSTIME, deadline, 0))
        return (Words(_DEADLINE, (deadline, self._idle_ns)), sleep)


def writing(fd: int, size: int, *, dontcache: bool) -> Call:
    """Return the call that writes so many bytes to a file, each time behind the last ones."""
    return WritingUncached(fd, bytearray(size)) if dontcache else Writing(fd, bytearray(size))


class Repeated:
    """A cycle that makes `calls` in order. before: called once, at the start of the first cycle."""

    def __init__(self, *calls: Call, before: Callable[[], object] = lambda: None) -> None:
        self._calls, self._before = calls, before

    def __call__(self, number: int) -> None:
        if number == 0:
            self._before()
        for call in self._calls:
            call()

    def in_kernel(self, count: int, times: int) -> "KernelCycles | None":
        """Return the same cycles, run by the kernel; None if it does not run one of the calls.

        count, times: addresses of the number of recorded boundaries, and of the first boundary in ns (64 bits each).
        """
        if not all(call.words for call in self._calls):
            return None
        return KernelCycles([words for call in self._calls for words in call.words], count, times)


class KernelCycles:
    """Cycles that a guest's kernel runs. It holds addresses of memory that its caller keeps alive."""

    def __init__(self, calls: list[Words], count: int, times: int) -> None:
        self._memory = (ctypes.c_uint64 * (_CALLS + _WORDS * len(calls)))()
        self._memory[_LENGTH], self._memory[_COUNT], self._memory[_TIMES] = len(calls), count, times
        for place, (number, arguments) in enumerate(calls):
            at = _CALLS + _WORDS * place
            self._memory[at : at + 1 + len(arguments)] = [number, *arguments]

    def __call__(self, limit: int) -> bool:
        """Run cycles up to boundary `limit`, which the caller records; return True if it is due.

        Return False after a signal: the next call continues in the middle of a cycle. Raises OSError of a system call.
        """
        memory = self._memory
        memory[_LIMIT] = limit
        checked(libc.syscall(_SYS_UM_CYCLES, memory))
        if memory[_NEXT] < memory[_LENGTH]:
            return False
        memory[_NEXT] = 0
        return True
