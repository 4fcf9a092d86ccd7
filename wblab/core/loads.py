"""The kinds of load: what one cycle does, and nothing else. A new kind is one small class here.

`prepare` opens and allocates all that the cycles need and returns the function that runs one cycle.
Between two timestamps (see wblab.core.cycles) there are then only that cycle's own system calls.
"""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from wblab.core.units import NS_PER_S, Bytes, Nanoseconds

IoClass = Literal["none", "realtime", "best-effort", "idle"]
Cycle = Callable[[int], object]

# A load without an end of its own stops after this many cycles: its buffer takes 8 bytes for each.
MAX_ENDLESS_CYCLES = 100_000


@dataclass(frozen=True, kw_only=True)
class Load:
    """What all loads have in common.

    start: delay of the first cycle after the common start of the loads.
    ioclass, iolevel: I/O priority, as in ioprio_set(2); level 0 (highest) to 7 counts in two of the classes.
    """

    kind: ClassVar[str]
    innocent: ClassVar[bool] = True

    start: Nanoseconds = Nanoseconds(0)
    ioclass: IoClass = "none"
    iolevel: int = 4

    @property
    def capacity(self) -> int:
        """The largest number of cycles that this load can run."""
        return MAX_ENDLESS_CYCLES

    @property
    def written_bytes(self) -> Bytes:
        """How much the load writes before it ends by itself; 0 when it runs until it is stopped."""
        return Bytes(0)

    def idle_ns(self, number: int) -> int:
        """The part of cycle `number`, in ns, that the load spends asleep by its own will."""
        raise NotImplementedError

    def prepare(self, mount: Path) -> Cycle:
        """Return what runs cycle `number`, on the filesystem at `mount`. Both raise OSError."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class _SmallWrites(Load):
    """Writes `block` bytes, then sleeps for `idle`, until it is stopped."""

    file: str
    idle: Nanoseconds
    block: Bytes = Bytes(1)

    def idle_ns(self, number: int) -> int:
        return self.idle


@dataclass(frozen=True, kw_only=True)
class Control(Load):
    """Sleeps: a pause of this load is a stall of the environment, not of writeback."""

    kind = "control"
    idle: Nanoseconds

    def idle_ns(self, number: int) -> int:
        return self.idle

    def prepare(self, mount: Path) -> Cycle:
        sleep, idle_s = time.sleep, self.idle / NS_PER_S
        return lambda number: sleep(idle_s)


@dataclass(frozen=True, kw_only=True)
class Write(_SmallWrites):
    """Innocent: appends a small block to one file, then sleeps."""

    kind = "write"

    def prepare(self, mount: Path) -> Cycle:
        write, sleep, idle_s = os.write, time.sleep, self.idle / NS_PER_S
        fd = _create(mount / self.file)
        block = bytes(self.block)

        def cycle(number: int) -> None:
            write(fd, block)
            sleep(idle_s)

        return cycle


@dataclass(frozen=True, kw_only=True)
class MultiWrite(_SmallWrites):
    """Innocent: writes a small block to a new file (file.0, file.1, …) each time, then sleeps."""

    kind = "multiwrite"

    def prepare(self, mount: Path) -> Cycle:
        write, close, sleep, idle_s = os.write, os.close, time.sleep, self.idle / NS_PER_S
        stem = mount / self.file
        stem.parent.mkdir(parents=True, exist_ok=True)
        prefix, flags = f"{stem}.", os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        block = bytes(self.block)

        def cycle(number: int) -> None:
            fd = os.open(f"{prefix}{number}", flags, 0o644)
            write(fd, block)
            close(fd)
            sleep(idle_s)

        return cycle


@dataclass(frozen=True, kw_only=True)
class Offender(Load):
    """Waits once, in its first cycle, then writes `size` in blocks as fast as it is let."""

    kind = "load"
    innocent = False
    file: str
    wait: Nanoseconds
    size: Bytes
    block: Bytes

    @property
    def capacity(self) -> int:
        return -(-self.size // self.block)

    @property
    def written_bytes(self) -> Bytes:
        return Bytes(self.capacity * self.block)

    def idle_ns(self, number: int) -> int:
        return self.wait if number == 0 else 0

    def prepare(self, mount: Path) -> Cycle:
        write, sleep, wait_s = os.write, time.sleep, self.wait / NS_PER_S
        fd = _create(mount / self.file)
        block = bytes(self.block)

        def cycle(number: int) -> None:
            if number == 0 and wait_s:
                sleep(wait_s)
            write(fd, block)

        return cycle


@dataclass(frozen=True, kw_only=True)
class Command(Load):
    """Waits once, in its first cycle, then runs a command on the filesystem to its end, which is the second."""

    kind = "command"
    innocent = False
    argv: tuple[str, ...]
    wait: Nanoseconds

    @property
    def capacity(self) -> int:
        return 2

    def idle_ns(self, number: int) -> int:
        return self.wait if number == 0 else 0

    def prepare(self, mount: Path) -> Cycle:
        os.chdir(mount)

        def cycle(number: int) -> None:
            if number == 0:
                time.sleep(self.wait / NS_PER_S)
            else:
                _run(self.argv)

        return cycle


class CommandFailed(Exception):  # noqa: N818 - it is the command's, not ours
    """A command that ran and ended otherwise than with exit code 0.

    status: its exit code, or less than 0 the signal that ended it.
    """

    def __init__(self, status: int) -> None:
        self.status = status


KINDS: dict[str, type[Load]] = {load.kind: load for load in (Control, Write, MultiWrite, Offender, Command)}


def _run(argv: tuple[str, ...]) -> None:
    """Run a command to its end; it ends with us if we are stopped. Raises OSError, CommandFailed."""
    pid = os.posix_spawnp(argv[0], argv, os.environ)
    try:
        _, status = os.waitpid(pid, 0)
    except BaseException:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
        raise
    if status:
        raise CommandFailed(os.waitstatus_to_exitcode(status))


def _create(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
