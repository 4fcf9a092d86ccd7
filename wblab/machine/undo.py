"""Changes to a machine that are undone, even if the process that made them is killed.

    with Undo() as undo:
        undo.note(Directory(path=str(path)))
        path.mkdir()

A second process, the guard, notes each change before it is made. The guard undoes the changes, last first, as soon as
the other end of its pipe is closed: at the end of the block, and after a SIGKILL too. There is only this one way back.

Where other users may swap names, a directory is noted by its descriptor, which the guard gets too, not by its path.
"""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from errno import ESRCH
from types import TracebackType

from wblab.core.errors import InputError, WblabError
from wblab.core.syscalls import set_process_name
from wblab.lab.places import ROOT
from wblab.lab.printable import printable
from wblab.machine.changes import Change, Directory, DirectoryContents, from_row, to_row, undo_all

_GUARD = "import sys; sys.path.insert(0, sys.argv[1]); from wblab.machine.undo import guard; guard()"
_NOTED = "noted"


class Undo:
    """The changes to undo at the end of a `with` block, or when this process dies."""

    def __init__(self) -> None:
        self.failures: tuple[str, ...] = ()  # what could not be undone, after the block
        self._guard: subprocess.Popen[str] | None = None

    def __enter__(self) -> "Undo":
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _GUARD, str(ROOT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # keeps it out of reach of signals to our process group
        )
        assert self._guard.stdout is not None
        self._guard.stdout.readline()  # it runs, and only SIGKILL can end it
        return self

    def note(self, *changes: Change) -> None:
        """Note changes about to be made. Raises WblabError if the guard is gone."""
        for change in changes:
            self._note(change)

    def _note(self, change: Change) -> None:
        assert self._guard is not None
        assert self._guard.stdin is not None
        assert self._guard.stdout is not None
        try:
            self._guard.stdin.write(json.dumps(to_row(change)) + "\n")
            self._guard.stdin.flush()
            answer = self._guard.stdout.readline()
        except OSError:
            answer = ""
        if answer.strip() != _NOTED:
            raise WblabError("the process that undoes changes is gone: no more changes are made")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._guard is not None
        said, _ = self._guard.communicate()
        self.failures = tuple(said.splitlines())
        if self._guard.returncode:
            self.failures += ("the process that undoes changes died: some changes may remain",)


class NoUndo(Undo):
    """For a machine that ends with us, such as a guest: notes nothing, undoes nothing."""

    def __enter__(self) -> "NoUndo":
        return self

    def note(self, *changes: Change) -> None:
        """Do nothing."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        pass


def guard() -> None:
    """Run as the second process: note changes until the pipe ends, undo them last first, and print failures."""
    holder = os.getppid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    set_process_name("wblab-undo")
    _say(_NOTED)
    changes = []
    for line in sys.stdin:
        try:
            changes.append(_with_directory(from_row(json.loads(line)), holder))
        except (OSError, ValueError, InputError) as error:  # the holder learns of it, and does not make the change
            _say(f"not noted: {error}")
        else:
            _say(_NOTED)
    for failure in undo_all(changes):
        _say(printable(failure))


def _with_directory(change: Change, holder: int) -> Change:
    """Return a change with our own descriptor of the directory that its holder holds. Raises OSError."""
    if isinstance(change, Directory | DirectoryContents) and change.held is not None:
        return replace(change, held=_held(holder, change.held))
    return change


def _held(holder: int, directory: int) -> int:
    """Return a descriptor of a directory that the holder holds, while it waits for us. Raises OSError.

    Through /proc, because a guest's kernel may have no sockets for sending descriptors.
    """
    held = os.open(f"/proc/{holder}/fd/{directory}", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    if os.getppid() != holder:
        raise ProcessLookupError(ESRCH, os.strerror(ESRCH))
    return held


def _say(line: str) -> None:
    """Tell the holder, if it still runs."""
    with suppress(BrokenPipeError):
        os.write(1, f"{line}\n".encode())
