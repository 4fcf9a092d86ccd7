"""Changes to a machine that are undone, also when the process that made them is killed.

    with Undo() as undo:
        undo.note("write", path, path.read_text())
        path.write_text("1")

Each step is noted by a second process, the guard, before the change is made. The guard does the steps, last first, as
soon as the other end of its pipe is gone: at the end of the block, and as well after a SIGKILL. There is one way back.

Where others may exchange names, a directory is not noted by its path but by its descriptor, which the guard gets too.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from errno import ENOTEMPTY, ESRCH
from pathlib import Path
from types import TracebackType

from wblab.core.errors import WblabError
from wblab.core.syscalls import set_process_name, umount
from wblab.lab.printable import printable
from wblab.lab.specfile import ROOT

_GUARD = "import sys; sys.path.insert(0, sys.argv[1]); from wblab.machine.undo import guard; guard()"
_NOTED = "noted"
_BUSY_LIMIT_S = 5.0
_HANGING_LIMIT_S = 60.0
_POLL_S = 0.02


class Undo:
    """What is to be undone at the end of a `with` block, or when this process dies."""

    def __init__(self) -> None:
        self.failures: tuple[str, ...] = ()  # what could not be undone, after the block
        self._guard: subprocess.Popen[str] | None = None

    def __enter__(self) -> "Undo":
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _GUARD, str(ROOT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # a signal to our process group is not for it
        )
        assert self._guard.stdout is not None
        self._guard.stdout.readline()  # it lives, and no signal but SIGKILL ends it
        return self

    def note(self, step: str, *arguments: str | int, directory: int | None = None) -> None:
        """Note a step of `STEPS` that undoes what is done next. Raises WblabError if nobody is there to note it.

        directory: the descriptor of the one that the step is about.
        """
        assert step in STEPS, step
        assert self._guard is not None
        assert self._guard.stdin is not None
        assert self._guard.stdout is not None
        try:
            self._guard.stdin.write(json.dumps([step, directory, *arguments]) + "\n")
            self._guard.stdin.flush()
            answer = self._guard.stdout.readline()
        except OSError:
            answer = ""
        if answer.strip() != _NOTED:
            raise WblabError("the process that undoes changes is gone: nothing more is changed")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._guard is not None
        said, _ = self._guard.communicate()
        self.failures = tuple(said.splitlines())
        if self._guard.returncode:
            self.failures += ("the process that undoes changes died: they may still be there",)


class NoUndo(Undo):
    """For a machine that ends with us, as a guest does: nothing is noted, nothing undone."""

    def __enter__(self) -> "NoUndo":
        return self

    def note(self, step: str, *arguments: str | int, directory: int | None = None) -> None:
        """Do nothing."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        pass


def guard() -> None:
    """Be the second process: note steps until the pipe ends, then do them, last first, and print what fails."""
    holder = os.getppid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    set_process_name("wblab-undo")
    _say(_NOTED)
    steps = []
    for line in sys.stdin:
        step, directory, *arguments = json.loads(line)
        if directory is not None:
            try:
                arguments.append(_held(holder, directory))
            except OSError as error:  # the holder has died, or is told, and does not do what it told of
                _say(str(error.strerror))
                continue
        steps.append((step, arguments))
        _say(_NOTED)
    for step, arguments in reversed(steps):
        try:
            STEPS[step](*arguments)
        except OSError as error:
            _say(printable(f"cannot undo {' '.join(map(str, [step, *arguments]))}: {error.strerror}"))


def _held(holder: int, directory: int) -> int:
    """Return a descriptor of a directory that the holder holds, while it waits for us. Raises OSError.

    By /proc, since a guest's kernel may have no sockets by which descriptors could be sent.
    """
    held = os.open(f"/proc/{holder}/fd/{directory}", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    if os.getppid() != holder:
        raise ProcessLookupError(ESRCH, os.strerror(ESRCH))
    return held


def _say(line: str) -> None:
    """Tell the holder, if it is still there."""
    with suppress(BrokenPipeError):
        os.write(1, f"{line}\n".encode())


def _write(path: str, value: str) -> None:
    Path(path).write_text(value)


def _remove(path: str) -> None:
    """Remove a file; one that is not there is fine."""
    Path(path).unlink(missing_ok=True)


def _remove_directory(path: str, parent: int | None = None) -> None:
    """Remove a directory, a cgroup or a trace instance; one in use is waited for, as its users may just be dying."""
    _patiently(lambda: os.rmdir(path, dir_fd=parent))


def _empty(directory: int) -> None:
    """Remove all that is in a directory; a process that still writes there, or a disk that hangs, is waited for."""

    def empty() -> None:
        for name in os.listdir(listed):
            with suppress(FileNotFoundError):
                try:
                    os.unlink(name, dir_fd=directory)
                except IsADirectoryError:
                    shutil.rmtree(name, dir_fd=directory)
        if left := os.listdir(listed):
            raise OSError(ENOTEMPTY, os.strerror(ENOTEMPTY), left[0])

    listed = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=directory)
    _patiently(empty, _HANGING_LIMIT_S)


def _unmount(path: str) -> None:
    """Unmount what is mounted there, once it is not in use."""
    if os.path.ismount(path):
        _patiently(lambda: umount(path))


def _evacuate(cgroup: str, target: str) -> None:
    """Move all processes of a cgroup to another; the directory may be gone."""
    with suppress(FileNotFoundError):
        for pid in Path(cgroup, "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                Path(target, "cgroup.procs").write_text(pid)


def _kill_group(pid: int) -> None:
    """Kill all processes of a group. Its leader is kept from being reaped until then, so that the group is no other."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


STEPS: dict[str, Callable[..., None]] = {
    "write": _write,
    "remove": _remove,
    "remove directory": _remove_directory,
    "empty": _empty,
    "unmount": _unmount,
    "evacuate": _evacuate,
    "kill group": _kill_group,
}


def _patiently(do: Callable[[], None], limit_s: float = _BUSY_LIMIT_S) -> None:
    deadline_s = time.monotonic() + limit_s
    while True:
        try:
            do()
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > deadline_s:
                raise
            time.sleep(_POLL_S)
        else:
            return
