"""A directory of results while it is made: held by descriptor, so that nobody leads its writers elsewhere."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.lab import results as names
from wblab.lab.held import held, through
from wblab.machine.directory import open_own, usual_mode


@dataclass(frozen=True)
class Staged:
    """A directory of results that is made. shown: its path, for messages; at: its path by descriptor, to write to."""

    shown: Path
    at: Path
    _parent: int

    def commit(self) -> Path:
        """Give it its final name, and return its path."""
        return self.shown.with_name(names.commit(through(self._parent) / self.shown.name).name)

    def in_words(self, text: str) -> str:
        """Return a message that names the directory by its path."""
        return text.replace(str(self.at), str(self.shown))


@contextmanager
def staged(results: Path, name: str) -> Iterator[Staged]:
    """Make a staged directory below `results`, and hold both. Raises OSError."""
    with held(results, make=True) as parent:
        made = names.stage(through(parent), name, mode=0o700)
        directory = open_own(parent, made.name)
        try:
            with suppress(OSError):  # a filesystem without modes
                os.fchmod(directory, usual_mode())
            staged = Staged(results / made.name, through(directory), parent)
            try:
                yield staged
            except WblabError as error:
                error.args = tuple(staged.in_words(str(each)) for each in error.args)
                raise
        finally:
            os.close(directory)
