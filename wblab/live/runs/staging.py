"""The run directory of a live run: safe where others may swap names, and private until it is handed over."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wblab.lab import results as names
from wblab.lab.held import open_directory
from wblab.machine.directory import open_own


@dataclass(frozen=True)
class Staged:
    """A run directory that is this process's working directory: its files are opened by bare names.

    path: where it was made, for messages. started_in: the working directory before.
    """

    path: Path
    started_in: int
    _parent: int
    _directory: int

    def commit(self) -> Path:
        """Give a successful run's directory its final name, and return its path."""
        os.fchdir(self._parent)
        return self.path.with_name(names.commit(Path(self.path.name)).name)

    def give_back(self) -> None:
        """Hand it and its content to the user who called sudo."""
        for name in os.listdir(self._directory):
            _give(name, self._directory)
        _give(self._directory)


@contextmanager
def staged(results: Path, name: str) -> Iterator[Staged]:
    """Make a run's directory and work in it during the block. Raises OSError.

    Nobody else may read it: it shows what ran on the machine, and the output of a command that root started.
    """
    started_in = os.open(".", os.O_PATH | os.O_DIRECTORY)
    parent = _results(results)
    try:
        os.fchdir(parent)
        umask = os.umask(0o077)
        try:
            made = names.stage(Path(), name)
        finally:
            os.umask(umask)
        directory = open_own(parent, made.name)
        os.fchdir(directory)
        yield Staged(results / made.name, started_in, parent, directory)
        os.close(directory)
    finally:
        os.fchdir(started_in)
        os.close(parent)
        os.close(started_in)


def _results(path: Path) -> int:
    """Return a descriptor of the directory of runs, made if missing. Raises OSError."""
    try:
        return open_directory(path)
    except FileNotFoundError:
        parent = _results(path.parent)
    try:
        os.mkdir(path.name, dir_fd=parent)
        directory = os.open(path.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
        if os.fstat(directory).st_uid == os.geteuid() and not os.listdir(directory):
            _give(directory)
        return directory
    finally:
        os.close(parent)


def _give(path: int | str, directory: int | None = None) -> None:
    if os.geteuid() == 0 and (user := os.environ.get("SUDO_UID", "")).isdecimal():
        group = os.environ.get("SUDO_GID", "")
        owner = int(user), int(group) if group.isdecimal() else -1
        if isinstance(path, int):
            os.fchown(path, *owner)
        else:
            os.chown(path, *owner, dir_fd=directory, follow_symlinks=False)
