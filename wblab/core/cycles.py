"""The measuring loop: run a load's cycles and note the time at every boundary between two of them."""

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
)  # the first: what a load is until it says more
_COUNT, _END, _STATUS, _DROPPED, _ERROR = range(5)
_ERROR_BYTES = 128
_MADV_POPULATE_WRITE = 23  # as if all pages were written to, without a page fault for each; since Linux 5.14
_FIRST = _ERROR + _ERROR_BYTES // 8


class Stamps:
    """Boundary times in ns, in memory that is allocated, touched and locked before the first of them.

    The memory is shared with children: what a load noted is there for its parent however the load ends.
    """

    def __init__(self, capacity: int) -> None:
        self._memory = mmap.mmap(-1, 8 * (_FIRST + capacity))
        self.slots = memoryview(self._memory).cast("q")
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self.count_address, self.times_address = address + 8 * _COUNT, address + 8 * _FIRST
        _lock(self._memory)

    def append(self, time_ns: int) -> None:
        """Note one boundary."""
        slots = self.slots
        count = slots[_COUNT]
        slots[_FIRST + count] = time_ns
        slots[_COUNT] = count + 1

    def halt(self, time_ns: int) -> None:
        """Note that a load which is still at it was stopped where it stood: for its parent, as it cannot do so."""
        if self.slots[_COUNT]:
            self.append(time_ns)
        self.slots[_END] = _ENDS.index("halted")

    def note_error(self, error: OSError) -> None:
        """Note why a system call failed, unless an earlier one did."""
        if not self.error:
            said = (error.strerror or str(error)).encode()[:_ERROR_BYTES]
            self._memory[8 * _ERROR : 8 * _ERROR + len(said)] = said

    @property
    def error(self) -> str:
        """Why a system call failed, in words; nothing if none did."""
        noted = self._memory[8 * _ERROR : 8 * _FIRST]
        return noted.rstrip(b"\0").decode(errors="replace")

    def times_ns(self, first: int = 0) -> "array[int]":
        """Return the boundaries noted so far, from the one with this number on."""
        return array("q", self.slots[_FIRST + first : _FIRST + self.slots[_COUNT]])


@dataclass(frozen=True)
class Ending:
    """Why a load ended, with the system's reason where a system call failed.

    status: of a command that ended otherwise than well, its exit code, or less than 0 the signal. dropped: how many of
    its cycles dropped their work.
    """

    end: End
    error: str = ""
    status: int = 0
    dropped: int = 0


class Stopped(Exception):  # noqa: N818 - not an error
    """Raised by SIGINT or SIGTERM: the cycle in progress ends here."""


def run_cycles(  # noqa: PLR0913
    load: Load, mount: Path, stamps: Stamps, start_ns: int, draws: Random, *, batch: int = 0
) -> None:
    """Run the load in this process until it ends, is stopped or fails; leave all in `stamps`.

    `start_ns` is the CLOCK_MONOTONIC time of its first boundary; `draws` is what the load draws from. A load that is
    stopped notes that moment as its last boundary, so that a pause which was still going on is kept. SIGINT and SIGTERM
    are ignored from its end on. batch: how many cycles the kernel makes at once, where it can; see Repeated.
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
    """Return why the load that filled `stamps` ended."""
    return Ending(_ENDS[stamps.slots[_END]], stamps.error, stamps.slots[_STATUS], stamps.slots[_DROPPED])


def check_ending(name: str, ended: Ending) -> None:
    """Raise WblabError for a load that came to a bad end."""
    if ended.end == "failed":
        raise WblabError(f"the load {name} failed: {ended.error}")
    if ended.status:
        raise WblabError(f"the load {name}: its command ended with {describe_code(ended.status)}")
    if ended.end == "full":
        raise WblabError(f"the load {name} ran more cycles than it has room for: raise its idle time")


def stamps_for(load: Load) -> Stamps:
    """Return a buffer that is large enough for the load, its first boundary and the one of a stop."""
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
    """Touch and lock the pages, as far as the limits of an ordinary user allow (RLIMIT_MEMLOCK)."""
    try:
        memory.madvise(_MADV_POPULATE_WRITE)
    except OSError:
        for offset in range(0, len(memory), mmap.PAGESIZE):
            memory[offset] = 0
    with suppress(OSError):
        lock_memory(ctypes.addressof(ctypes.c_char.from_buffer(memory)), len(memory))
