"""The measuring loop: run a load's cycles and record the time of every boundary between two cycles."""

import ctypes
import mmap
import signal
import time
from array import array
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import FrameType
from typing import Literal

from wblab.core.child import describe_code
from wblab.core.errors import WblabError
from wblab.core.loads import CommandFailed, Cycle, Load
from wblab.core.loads.repeated import Repeated
from wblab.core.syscalls import lock_memory
from wblab.core.units import NS_PER_S

End = Literal["finished", "stopped", "full", "halted", "failed"]
_ENDS: tuple[End, ...] = (
    "failed",
    "finished",
    "stopped",
    "full",
    "halted",
)  # the first is the state of a load that has not reported its end
_COUNT, _END, _STATUS, _DROPPED, _ERROR = range(5)
_ERROR_BYTES = 128
_MADV_POPULATE_WRITE = 23  # allocates all pages, without a page fault for each; since Linux 5.14
_FIRST = _ERROR + _ERROR_BYTES // 8


class Stamps:
    """Boundary times in ns, in memory that is allocated, touched and locked in advance.

    Parent and children share the memory, so a load's times are not lost, however it ends.
    """

    def __init__(self, capacity: int) -> None:
        self._memory = mmap.mmap(-1, 8 * (_FIRST + capacity))
        self.slots = memoryview(self._memory).cast("q")
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self.count_address, self.times_address = address + 8 * _COUNT, address + 8 * _FIRST
        _lock(self._memory)

    def append(self, time_ns: int) -> None:
        """Record one boundary."""
        slots = self.slots
        count = slots[_COUNT]
        slots[_FIRST + count] = time_ns
        slots[_COUNT] = count + 1

    def halt(self, time_ns: int) -> None:
        """Record that the parent stopped the load for good at this time; the load itself no longer runs."""
        if self.slots[_COUNT]:
            self.append(time_ns)
        self.slots[_END] = _ENDS.index("halted")

    def note_error(self, error: OSError) -> None:
        """Record why a system call failed; the first failure is kept."""
        if not self.error:
            reason = (error.strerror or str(error)).encode()[:_ERROR_BYTES]
            self._memory[8 * _ERROR : 8 * _ERROR + len(reason)] = reason

    @property
    def error(self) -> str:
        """Why a system call failed; empty if none did."""
        reason = self._memory[8 * _ERROR : 8 * _FIRST]
        return reason.rstrip(b"\0").decode(errors="replace")

    def times_ns(self, first: int = 0) -> "array[int]":
        """Return the boundaries recorded so far, from number `first` on."""
        return array("q", self.slots[_FIRST + first : _FIRST + self.slots[_COUNT]])


@dataclass(frozen=True)
class Ending:
    """How a load ended. error: the reason, if a system call failed.

    status: a failed command's exit code, or the negative number of the signal that ended it. dropped: the number of
    cycles that dropped their work.
    """

    end: End
    error: str = ""
    status: int = 0
    dropped: int = 0


class Stopped(Exception):  # noqa: N818 - not an error
    """Raised on SIGINT or SIGTERM, which ends the cycle in progress."""


def run_cycles(  # noqa: PLR0913
    load: Load, mount: Path, stamps: Stamps, start_ns: int, draws: Random, *, batch: int = 0
) -> None:
    """Run the load in this process until it ends, is stopped or fails; record its boundaries and its end in `stamps`.

    start_ns: the CLOCK_MONOTONIC time of the first boundary. draws: the load's source of random numbers. batch: how
    many cycles the kernel runs at once, if it can; see Repeated.
    A load that is stopped records that moment as its last boundary, so a pause in progress is kept. From then on,
    SIGINT and SIGTERM are ignored.
    """
    slots, append, now = stamps.slots, stamps.append, time.monotonic_ns
    cycle: Cycle | None = None
    try:
        _on_stop(_raise_stopped)
        cycle = load.prepare(mount, draws)
        time.sleep(max(0, start_ns - now()) / NS_PER_S)
        append(now())
        in_kernel = cycle.in_kernel(stamps.count_address, stamps.times_address) if isinstance(cycle, Repeated) else None
        while (number := slots[_COUNT] - 1) < load.capacity:
            if batch and number and in_kernel:
                if not in_kernel(1 + min(number + batch, load.capacity)):
                    continue
            elif cycle(number):
                slots[_DROPPED] += 1
            append(now())
        _on_stop(signal.SIG_IGN)
        slots[_END] = _ENDS.index("finished" if load.ends else "full")
    except CommandFailed as failed:
        append(now())
        _on_stop(signal.SIG_IGN)
        slots[_STATUS] = failed.status
        slots[_END] = _ENDS.index("finished")
    except Stopped:
        if slots[_COUNT]:
            append(now())
        slots[_END] = _ENDS.index("stopped")
    except OSError as error:
        _on_stop(signal.SIG_IGN)
        stamps.note_error(error)
    finally:
        if cycle:
            _finish(load, cycle, stamps)


def ending(stamps: Stamps) -> Ending:
    """Return how the load that filled `stamps` ended."""
    return Ending(_ENDS[stamps.slots[_END]], stamps.error, stamps.slots[_STATUS], stamps.slots[_DROPPED])


def check_ending(name: str, ended: Ending) -> None:
    """Raise WblabError for a load that failed."""
    if ended.end == "failed":
        raise WblabError(f"the load {name} failed: {ended.error}")
    if ended.status:
        raise WblabError(f"the command of load {name} ended with {describe_code(ended.status)}")
    if ended.end == "full":
        raise WblabError(f"the load {name} ran more cycles than its buffer holds: raise its idle time")


def stamps_for(load: Load) -> Stamps:
    """Return a buffer for all boundaries of the load, with the first one and that of a stop."""
    return Stamps(load.capacity + 2)


def _finish(load: Load, cycle: Cycle, stamps: Stamps) -> None:
    try:
        load.finish(cycle)
    except OSError as error:
        stamps.slots[_END] = _ENDS.index("failed")
        stamps.note_error(error)


def _raise_stopped(number: int, frame: FrameType | None) -> None:
    _on_stop(signal.SIG_IGN)  # a second signal must not interrupt the end
    raise Stopped


def _on_stop(handler: Callable[[int, FrameType | None], None] | signal.Handlers) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handler)


def _lock(memory: mmap.mmap) -> None:
    """Touch the pages, and lock them if the user's limit permits it (RLIMIT_MEMLOCK)."""
    try:
        memory.madvise(_MADV_POPULATE_WRITE)
    except OSError:
        for offset in range(0, len(memory), mmap.PAGESIZE):
            memory[offset] = 0
    with suppress(OSError):
        lock_memory(ctypes.addressof(ctypes.c_char.from_buffer(memory)), len(memory))
