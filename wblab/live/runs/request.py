"""The request of a live run, and the checks made before anything is changed."""

import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from wblab.core.check import CGROUP_FILE, EVENT, check_name
from wblab.core.errors import InputError
from wblab.core.loads import Command, Commit, Control, IoClass, Load, Mapped, MultiWrite, SyncWrite, Write
from wblab.core.units import NS_PER_MS, NS_PER_S, Bytes, Nanoseconds

# The base experiment's innocent loads.
INNOCENT: dict[str, Load] = {
    "c1": Control(idle=Nanoseconds(50 * NS_PER_MS)),
    "w1": Write(file="w1", idle=Nanoseconds(50 * NS_PER_MS)),
    "mw1": MultiWrite(file="mw1", idle=Nanoseconds(100 * NS_PER_MS)),
}
# Further ones. Their files are created first, and keep their size.
BESIDES: dict[str, Load] = {
    "k1": Commit(file="k1", size=Bytes(4 << 20), idle=Nanoseconds(100 * NS_PER_MS)),
    "s1": SyncWrite(file="s1", size=Bytes(4 << 20), idle=Nanoseconds(100 * NS_PER_MS)),
    "m1": Mapped(file="m1", size=Bytes(4 << 20), idle=Nanoseconds(100 * NS_PER_MS)),
}
KNOWN = INNOCENT | BESIDES
WITH_PID = ("c1",)  # who watches a program adds no writer of their own
EVENTS = ("writeback:balance_dirty_pages", "writeback:global_dirty_state")


@dataclass(frozen=True, kw_only=True)
class Captures:
    """Which pauses to capture: those longer than `bound`, with the time `around` before and after.

    buffer: for each processor; None: it grows as needed. most, most_bytes: limits to the number and the total size of
    captures.
    """

    bound: Nanoseconds
    around: Nanoseconds = Nanoseconds(2 * NS_PER_S)
    buffer: Bytes | None = None
    most: int = 20
    most_bytes: Bytes = Bytes(1 << 30)


@dataclass(frozen=True, kw_only=True)
class LiveRequest:
    """The request of a live run. argv: the command; empty: run the loads until the limit or Ctrl-C.

    wait, tail: how long the loads run before and after the command. limit: longest run; None: no limit. schedulers: by
    device. cgroup: files of the command's group. events: () for no trace. pid: the process whose pauses are captured,
    in place of those of the loads.
    """

    directory: Path
    name: str = "live"
    argv: tuple[str, ...] = ()
    ioclass: IoClass = "none"
    iolevel: int = 4
    wait: Nanoseconds = Nanoseconds(5 * NS_PER_S)
    tail: Nanoseconds = Nanoseconds(5 * NS_PER_S)
    limit: Nanoseconds | None = None
    innocent: tuple[str, ...] = tuple(INNOCENT)
    schedulers: dict[str, str] = field(default_factory=dict)
    cgroup: dict[str, str] = field(default_factory=dict)
    events: tuple[str, ...] = EVENTS
    buffer: Bytes = Bytes(4 << 20)
    captures: Captures | None = None
    pid: int | None = None

    @property
    def command_name(self) -> str:
        """The name of the command's load: the program's, if it is valid."""
        name = re.sub(r"[^A-Za-z0-9._-]", "-", Path(self.argv[0]).name)[:32] if self.argv else ""
        return "command" if name in KNOWN or not re.match(r"[A-Za-z0-9]", name) else name

    def loads(self) -> dict[str, Load]:
        """Return all loads of the run by name, the command last."""
        loads = {name: KNOWN[name] for name in self.innocent}
        if self.argv:
            command = Command(argv=self.argv, wait=self.wait, ioclass=self.ioclass, iolevel=self.iolevel)
            loads[self.command_name] = command
        return loads


def check_request(request: LiveRequest) -> None:
    """Raise InputError for a request that cannot run."""
    check_name(request.name, "--name")
    if not request.directory.is_dir() or not os.access(request.directory, os.W_OK | os.X_OK):
        raise InputError(f"--dir: cannot write to {str(request.directory)!r}: give a directory on the disk under test")
    _check_innocent(request)
    for event in request.events:
        if not EVENT.fullmatch(event):
            raise InputError(f"--events: {event!r} is not of the form system:event")
    if request.captures and request.captures.bound <= 0:
        raise InputError("--capture-pauses: give a time over 0, such as 200ms")
    if request.pid is not None:
        _check_pid(request, request.pid)
    _check_command(request)


def _check_pid(request: LiveRequest, pid: int) -> None:
    if not request.captures:
        raise InputError("--pid says whose pauses to capture: add --capture-pauses 300ms")
    if os.geteuid():
        raise InputError("--pid captures what a program waits for, and only root may trace that: use sudo")
    if not Path(f"/proc/{pid}/task/{pid}").exists():
        raise InputError(f"--pid {pid}: there is no such process: 'pgrep -o NAME' prints that of a program")


def _check_innocent(request: LiveRequest) -> None:
    for name in request.innocent:
        if name not in KNOWN:
            raise InputError(f"--innocent: no load {name!r}: choose from {', '.join(KNOWN)}")
    if not request.innocent:
        raise InputError(f"--innocent: give at least one of {', '.join(KNOWN)}")


def _check_command(request: LiveRequest) -> None:
    if request.argv:
        if shutil.which(request.argv[0]) is None:
            raise InputError(f"cannot run {request.argv[0]!r}: give the path of a program")
        request.loads()[request.command_name].check("command: ")
    elif request.ioclass != "none" or request.cgroup:
        raise InputError("--ioclass and --cgroup apply to a command: write one after --")
    if request.ioclass == "realtime" and os.geteuid():
        raise InputError("--ioclass realtime needs root: use sudo")
    for file in request.cgroup:
        if not CGROUP_FILE.fullmatch(file):
            raise InputError(f"--cgroup: {file!r} is not a file of a controller, such as memory.high")
