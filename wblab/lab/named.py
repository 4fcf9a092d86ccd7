"""Files that come with the lab: each is found by its name, and one of the user's own by its path."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import InputError, nearest
from wblab.lab import places
from wblab.lab.formats import EXPERIMENT

_LONGEST_NAME = 100


@dataclass(frozen=True)
class Named:
    """The files of one kind.

    noun, called: "spec" in "no spec X", "an experiment" in "it is an experiment". command: takes such a name. within: a
    file in a directory that may be given in its place. instead: what a message calls such a directory.
    """

    noun: str
    called: str
    folder: Path
    command: str
    within: str = ""
    instead: str = ""

    def names(self) -> list[str]:
        """Return the names of those that come with the lab."""
        return sorted(path.stem for path in self.folder.glob("*.toml"))

    def find(self, text: str) -> Path:
        """Return the file of a path or a name. Raises InputError, which names the nearest and the right verb."""
        for path in (Path(text), Path(text, self.within)):
            if os.path.isfile(path):  # no exception where a directory above it cannot be read
                return path
        if self.has(text):
            return self._path(text)
        if others := list(_others(text, self)):
            raise InputError(f"no {self.noun} {text!r}: {'; '.join(others)}")
        names = self.names()
        choice = ", ".join(filter(None, ["give a TOML file", self.instead]))
        raise InputError(
            f"no {self.noun} {text!r}{nearest(Path(text).stem, names)}: {choice} or one of {', '.join(names)}"
        )

    def has(self, name: str) -> bool:
        """Whether one of this name comes with the lab."""
        plain = name.isprintable() and "/" not in name and len(name) < _LONGEST_NAME
        return plain and self._path(name).is_file()

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.toml"


SPECS = Named("spec", "an experiment", places.PRESETS, "wblab run", EXPERIMENT, "a run directory")
MATRICES = Named("matrix", "a matrix", places.MATRICES, "wblab study")
DESIGNS = Named("design", "a design", places.EXPLORATIONS, "wblab study")
DISKS = Named("disk", "a disk", places.DISKS, "wblab run --disk")


def _others(name: str, wanted: Named) -> Iterator[str]:
    for kind in (SPECS, MATRICES, DESIGNS, DISKS):
        if kind != wanted and kind.has(name):
            yield f"it is {kind.called}: {kind.command} {name}"
