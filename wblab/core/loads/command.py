"""Loads that run a command."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random

from wblab.core.loads.base import Cycle, Load, Periodic
from wblab.core.parameters import check_argv, check_wait
from wblab.core.units import NS_PER_S, Nanoseconds, format_time


class CommandFailed(Exception):  # noqa: N818 - the command failed, not the lab
    """A command ended, but not with exit code 0.

    status: its exit code, or the negative number of the signal that ended it.
    """

    def __init__(self, status: int) -> None:
        self.status = status


@dataclass(frozen=True, kw_only=True)
class _Runs(Load):
    """Runs a command on the filesystem."""

    needs_lab = True
    argv: tuple[str, ...]

    def check(self, path: str = "") -> None:
        super().check(path)
        check_argv(f"{path}argv", self.argv)


@dataclass(frozen=True, kw_only=True)
class Command(_Runs):
    """Offender: waits in its first cycle and runs a command on the filesystem in its second."""

    kind = "command"
    role = "offender"
    sleeps_first = True
    has_pauses = False
    wait: Nanoseconds

    @property
    def description(self) -> str:
        import shlex  # imported here, as a guest describes no load

        return f"from {format_time(self.wait)} on, runs {shlex.join(self.argv)}"

    @property
    def capacity(self) -> int:
        return 2

    def check(self, path: str = "") -> None:
        super().check(path)
        check_wait(f"{path}wait", self.wait)

    def idle_ns(self, number: int) -> int:
        return self.wait if number == 0 else 0

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        os.chdir(mount)

        def cycle(number: int) -> None:
            if number == 0:
                time.sleep(self.wait / NS_PER_S)
            else:
                _run(self.argv)

        return cycle


@dataclass(frozen=True, kw_only=True)
class Repeat(Periodic, _Runs):
    """Innocent: runs a command on the filesystem to its end, then sleeps."""

    kind = "repeat"
    waits_for_disk = True

    @property
    def description(self) -> str:
        import shlex  # imported here, as a guest describes no load

        return f"runs {shlex.join(self.argv)}, every {format_time(self.idle)}"

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        os.chdir(mount)

        def cycle(number: int) -> None:
            _run(self.argv)
            time.sleep(self.idle / NS_PER_S)

        return cycle


def _run(argv: tuple[str, ...]) -> None:
    """Run a command to its end; terminate it if this process is stopped. Raises OSError, CommandFailed."""
    pid, stops = 0, (signal.SIGINT, signal.SIGTERM)
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, stops)  # until its pid is known
        pid = os.posix_spawnp(argv[0], argv, os.environ, setsigmask=())
        signal.pthread_sigmask(signal.SIG_UNBLOCK, stops)
        _, status = os.waitpid(pid, 0)
    except BaseException:
        try:
            if pid:
                os.kill(pid, signal.SIGTERM)
                os.waitpid(pid, 0)
        except ProcessLookupError:  # it had just ended
            pass
        raise
    if status:
        raise CommandFailed(os.waitstatus_to_exitcode(status))
