"""Cycles that make the same system calls each time, described so that a guest's kernel can make them too.

With each of its own system calls, a process of User Mode Linux and its kernel wait for each other twice. A kernel that
has `um_cycles` (linux-uml/patches) makes the calls of many cycles one after the other, each as if the process had made
it, at the same virtual time, and notes the same boundaries.
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
_DEADLINE = (1 << 64) - 1  # no system call: now and args[1] ns more, as a timespec at args[0]
_TIMER_ABSTIME = 1
_NEXT, _LENGTH, _LIMIT, _COUNT, _TIMES, _CALLS = range(6)  # struct um_cycles, asm/cycles.h
_WORDS = 7  # of a call: its number and arguments


class Words(NamedTuple):
    """A system call as the kernel takes it."""

    number: int
    arguments: tuple[int, ...]


class Call(Protocol):
    """A system call that takes the same each time. Making it raises OSError."""

    def __call__(self) -> object: ...

    @property
    def words(self) -> tuple[Words, ...]:
        """What a kernel needs to make it."""


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


class Sleeping:
    """time.sleep: until a deadline that is so many ns after now, by clock_nanosleep(2)."""

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


class Repeated:
    """A cycle of some calls. before: what only the first one does first."""

    def __init__(self, *calls: Call, before: Callable[[], object] = lambda: None) -> None:
        self._calls, self._before = calls, before

    def __call__(self, number: int) -> None:
        if number == 0:
            self._before()
        for call in self._calls:
            call()

    def in_kernel(self, count: int, times: int) -> "KernelCycles":
        """Return the same for the kernel.

        count, times: addresses of the number of boundaries noted so far, and of the first, in ns (64 bits each).
        """
        return KernelCycles([words for call in self._calls for words in call.words], count, times)


class KernelCycles:
    """Cycles that a guest's kernel makes. It holds the addresses of what others keep alive."""

    def __init__(self, calls: list[Words], count: int, times: int) -> None:
        self._memory = (ctypes.c_uint64 * (_CALLS + _WORDS * len(calls)))()
        self._memory[_LENGTH], self._memory[_COUNT], self._memory[_TIMES] = len(calls), count, times
        for place, (number, arguments) in enumerate(calls):
            at = _CALLS + _WORDS * place
            self._memory[at : at + 1 + len(arguments)] = [number, *arguments]

    def __call__(self, limit: int) -> bool:
        """Run cycles until there are `limit` boundaries but for the last one, which is the caller's; True: it is due.

        False after a signal: what is to be done now is in the middle of a cycle, where the next call goes on. Raises
        OSError of a system call.
        """
        memory = self._memory
        memory[_LIMIT] = limit
        checked(libc.syscall(_SYS_UM_CYCLES, memory))
        if memory[_NEXT] < memory[_LENGTH]:
            return False
        memory[_NEXT] = 0
        return True
