"""The loads of a live run: each is a process of its own that ends with us."""

import mmap
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from random import Random

from wblab.core.child import fork_child
from wblab.core.cycles import Stamps, ending, run_cycles, stamps_for
from wblab.core.errors import WblabError
from wblab.core.loads import Command, CommandFailed, Cycle, Load
from wblab.core.streams import NO_SEED, draw_stream
from wblab.core.syscalls import set_ioprio, set_process_name
from wblab.core.units import NS_PER_S
from wblab.machine.changes import ProcessGroup, WayBack
from wblab.machine.processes import end_with, room_to_measure

_SPAWNED, _RELEASED = 0, 1  # places in shared memory: the command's pid, from its load; permission to begin, from us
_POLL_S, _SOON_S = 0.1, 0.01
_PATIENCE_S = 10.0  # for a command after SIGTERM
_RELEASE_LIMIT_S = 300.0  # a load blocked by writeback ends when it is unblocked


@dataclass(frozen=True)
class StartedLoad:
    """A started load. shared: memory shared with its process."""

    name: str
    load: Load
    pid: int
    stamps: Stamps
    shared: memoryview

    @property
    def spawned(self) -> int:
        """The pid of the command's own process, a child of the load's process; 0 before it starts."""
        pid: int = self.shared[_SPAWNED]
        return pid

    def has_ended(self) -> bool:
        """Whether its process has ended. It is not reaped, so its pid is not reused."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def check(self) -> None:
        """Raise WblabError if an innocent load failed."""
        ended = ending(self.stamps)
        if self.load.role != "offender" and ended.end == "failed" and self.has_ended():
            raise WblabError(f"the load {self.name} failed: {ended.error or 'its process died'}")


class _Spawning(Command):
    """A command that reports its pid, and ends its whole process group when it is stopped."""

    def __init__(self, command: Command, shared: memoryview) -> None:
        super().__init__(**{field.name: getattr(command, field.name) for field in fields(command)})
        self._shared = shared

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        return self._cycle

    def _cycle(self, number: int) -> None:
        if number == 0:
            time.sleep(self.wait / NS_PER_S)
            return
        pid = os.posix_spawnp(self.argv[0], self.argv, os.environ)
        self._shared[_SPAWNED] = pid
        try:
            _, status = os.waitpid(pid, 0)
        except BaseException:
            os.killpg(0, signal.SIGTERM)  # ignored in this process by now
            os.waitpid(pid, 0)
            raise
        if status:
            raise CommandFailed(os.waitstatus_to_exitcode(status))


def start_load(  # noqa: PLR0913 - two of them by name
    name: str,
    load: Load,
    directory: int,
    start_ns: int,
    setup: Callable[[memoryview], None] = lambda shared: None,
    *,
    seed: int = NO_SEED,
) -> StartedLoad:
    """Start a load whose first cycle begins at `start_ns` (CLOCK_MONOTONIC); its process runs `setup` first.

    directory: a descriptor of its working directory, because a name could be redirected. seed: of what it draws.
    """
    stamps, parent = stamps_for(load), os.getpid()
    shared = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast("q")

    def task() -> None:
        end_with(parent)
        os.setpgid(0, 0)  # the terminal's signals are for our parent
        set_process_name(name)
        if load.ioclass != "none":
            set_ioprio(load.ioclass, load.iolevel)
        setup(shared)
        os.fchdir(directory)
        own = _Spawning(load, shared) if isinstance(load, Command) else load
        _room = room_to_measure()
        run_cycles(own, Path(), stamps, start_ns, draw_stream(seed, name))

    return StartedLoad(name, load, fork_child(task), stamps, shared)


def start_command(name: str, load: Command, directory: int, start_ns: int, log: Path) -> StartedLoad:
    """Start the command's load, which begins when it is released. Its output goes to `log`, a new file."""

    def setup(shared: memoryview) -> None:
        while not shared[_RELEASED]:
            time.sleep(_SOON_S)
        null, output = os.open(os.devnull, os.O_RDONLY), os.open(log, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        for target, source in enumerate((null, output, output)):
            os.dup2(source, target)

    return start_load(name, load, directory, start_ns, setup)


def release(command: StartedLoad, group: Path | None, way_back: WayBack) -> None:
    """Let the command's load begin, in a cgroup if one is given. Raises OSError.

    The undo kills all that it started, except what has left its process group.
    """
    way_back.note(ProcessGroup(leader=command.pid))
    if group:
        (group / "cgroup.procs").write_text(str(command.pid))
    command.shared[_RELEASED] = 1


def stop_loads(running: list[StartedLoad]) -> None:
    """Stop the loads that still run, and wait for them. Raises WblabError if one cannot be stopped."""
    left = [item for item in running if not item.has_ended()]
    for item in left:
        os.kill(item.pid, signal.SIGTERM)
    asked_s = time.monotonic()
    while left := [item for item in left if not item.has_ended()]:
        waited_s = time.monotonic() - asked_s
        for item in left:
            if item.spawned and waited_s > _PATIENCE_S:
                os.kill(item.spawned, signal.SIGKILL)
        if waited_s > _RELEASE_LIMIT_S:
            raise WblabError(f"the load {left[0].name} does not end after SIGTERM: it is still blocked by writeback")
        time.sleep(_POLL_S)


def reap(running: list[StartedLoad]) -> None:
    """Reap the loads that have ended."""
    for item in running:
        if item.has_ended():
            os.waitpid(item.pid, 0)
