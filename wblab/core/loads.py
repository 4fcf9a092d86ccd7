"""The kinds of load: what one cycle does, and all that others ask about it. A new kind is one small class here.

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

from wblab.core.errors import InputError
from wblab.core.parameters import check_argv, check_block, check_file, check_idle, check_wait
from wblab.core.units import NS_PER_S, Bytes, Nanoseconds, format_bytes, format_time

IoClass = Literal["none", "realtime", "best-effort", "idle"]
# control: its pauses are stalls of the environment. innocent: its pauses are the question. Both run until they are
# stopped. offender: ends by itself, and all offenders' end is that of the experiment.
Role = Literal["control", "innocent", "offender"]
Cycle = Callable[[int], object]

# A load without an end of its own stops after this many cycles: its buffer takes 8 bytes for each.
MAX_ENDLESS_CYCLES = 100_000
MAX_CYCLES = 1 << 22  # each takes 8 bytes of locked memory


@dataclass(frozen=True, kw_only=True)
class Load:
    """What all loads have in common.

    start: delay of the first cycle after the common start of the loads.
    disk: the name of the disk that it writes to, in a spec that has several; empty, the first.
    ioclass, iolevel: I/O priority, as in ioprio_set(2); level 0 (highest) to 7 counts in two of the classes.

    Of a kind: sleeps_first says that a cycle sleeps before it works and not after; has_pauses, that a cycle which takes
    longer than the load sleeps was stopped, where otherwise it is a span of work; needs_lab, that it needs programs of
    the host besides the guest's own.
    """

    kind: ClassVar[str]
    role: ClassVar[Role] = "innocent"
    sleeps_first: ClassVar[bool] = False
    has_pauses: ClassVar[bool] = True
    needs_lab: ClassVar[bool] = False

    start: Nanoseconds = Nanoseconds(0)
    disk: str = ""
    ioclass: IoClass = "none"
    iolevel: int = 4

    @property
    def capacity(self) -> int:
        """The largest number of cycles that this load can run."""
        return MAX_ENDLESS_CYCLES

    @property
    def description(self) -> str:
        """What the load does, in words."""
        return self.kind

    @property
    def cycle_bytes(self) -> Bytes:
        """How much one cycle writes; 0 where it is not known, or nothing."""
        return Bytes(0)

    @property
    def files(self) -> dict[str, Bytes]:
        """How much the load writes before it ends by itself, by file; none when it runs until it is stopped."""
        return {}

    @property
    def written_bytes(self) -> Bytes:
        """How much the load writes before it ends by itself; 0 when it runs until it is stopped."""
        return Bytes(sum(self.files.values()))

    def check(self, path: str = "") -> None:
        """Raise InputError for a load that cannot run; `path` stands before its keys in the message."""
        if self.start < 0:
            raise InputError(f"{path}start: {self.start} is negative")
        if not 0 <= self.iolevel <= 7:
            raise InputError(f"{path}iolevel: {self.iolevel} is not between 0 and 7")

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

    @property
    def cycle_bytes(self) -> Bytes:
        return self.block

    def check(self, path: str = "") -> None:
        super().check(path)
        check_file(f"{path}file", self.file)
        check_block(f"{path}block", self.block)
        check_idle(f"{path}idle", self.idle)

    def idle_ns(self, number: int) -> int:
        return self.idle


@dataclass(frozen=True, kw_only=True)
class Control(Load):
    """Sleeps: a pause of this load is a stall of the environment, not of writeback."""

    kind = "control"
    role = "control"
    sleeps_first = True
    idle: Nanoseconds

    @property
    def description(self) -> str:
        return f"only sleeps, {format_time(self.idle)} at a time: shows stalls of the machine itself"

    def check(self, path: str = "") -> None:
        super().check(path)
        check_idle(f"{path}idle", self.idle)

    def idle_ns(self, number: int) -> int:
        return self.idle

    def prepare(self, mount: Path) -> Cycle:
        sleep, idle_s = time.sleep, self.idle / NS_PER_S
        return lambda number: sleep(idle_s)


@dataclass(frozen=True, kw_only=True)
class Write(_SmallWrites):
    """Innocent: appends a small block to one file, then sleeps."""

    kind = "write"

    @property
    def description(self) -> str:
        return f"appends to a file it has open, every {format_time(self.idle)}"

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

    @property
    def description(self) -> str:
        return f"opens and writes a new file, every {format_time(self.idle)}"

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
    role = "offender"
    sleeps_first = True
    file: str
    wait: Nanoseconds
    size: Bytes
    block: Bytes

    @property
    def description(self) -> str:
        size, block = format_bytes(self.size), format_bytes(self.block)
        return f"from {format_time(self.wait)} on, writes {size} in blocks of {block}"

    @property
    def capacity(self) -> int:
        return -(-self.size // self.block)

    @property
    def cycle_bytes(self) -> Bytes:
        return self.block

    @property
    def files(self) -> dict[str, Bytes]:
        return {self.file: Bytes(self.capacity * self.block)}

    def check(self, path: str = "") -> None:
        super().check(path)
        check_file(f"{path}file", self.file)
        check_block(f"{path}block", self.block)
        check_wait(f"{path}wait", self.wait)
        if self.size <= 0:
            raise InputError(f"{path}size: an offender must write something")
        if self.capacity > MAX_CYCLES:
            raise InputError(f"{path}block: {self.capacity} writes are more than {MAX_CYCLES}: raise block")

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
    role = "offender"
    sleeps_first = True
    has_pauses = False
    needs_lab = True
    argv: tuple[str, ...]
    wait: Nanoseconds

    @property
    def description(self) -> str:
        import shlex  # a guest, which describes nothing, would take time and memory for it

        return f"from {format_time(self.wait)} on, runs {shlex.join(self.argv)}"

    @property
    def capacity(self) -> int:
        return 2

    def check(self, path: str = "") -> None:
        super().check(path)
        check_wait(f"{path}wait", self.wait)
        check_argv(f"{path}argv", self.argv)

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
