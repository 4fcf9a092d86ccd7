"""The directories of results: each is staged under a name of its own, and gets its final one when it is complete."""

import fcntl
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import InputError, nearest
from wblab.core.files import is_file
from wblab.core.units import Bytes
from wblab.lab import places
from wblab.lab.formats import EXPERIMENT, STUDY_FILE

# Files that come with the lab: each is found by its name, and one of the user's own by its path.

_LONGEST_NAME = 100


@dataclass(frozen=True)
class SpecFiles:
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


SPECS = SpecFiles("spec", "an experiment", places.PRESETS, "wblab run", EXPERIMENT, "a run directory")
MATRICES = SpecFiles("matrix", "a matrix", places.MATRICES, "wblab study")
DESIGNS = SpecFiles("design", "a design", places.EXPLORATIONS, "wblab study")
DISKS = SpecFiles("disk", "a disk", places.DISKS, "wblab run --disk")


def _others(name: str, wanted: SpecFiles) -> Iterator[str]:
    for kind in (SPECS, MATRICES, DESIGNS, DISKS):
        if kind != wanted and kind.has(name):
            yield f"it is {kind.called}: {kind.command} {name}"


# Directories that a user names.


def directory_of(given: Path, place: Path) -> Path:
    """Return the directory that a path names, from here or among the results in `place`; else the path itself."""
    return next((path for path in (given, place / given) if path.is_dir()), given)


def study_at(given: Path, place: Path) -> Path | None:
    """Return the study's directory that a path names, from here or among the results in `place`; None for none."""
    return next((path for path in (given, place / given) if is_file(path / STUDY_FILE)), None)


def empty(directory: Path) -> Path:
    """Make a directory unless it exists and is empty; return it. Raises InputError."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        taken = any(directory.iterdir())
    except OSError as error:
        raise InputError(f"cannot make the directory {str(directory)!r}: {error.strerror}") from None
    if taken:
        raise InputError(f"{str(directory)!r} is not empty: name a new directory")
    return directory


# What a folder of the cache or of results takes on the disk, and whether a process works in it.


def size_bytes(path: Path) -> Bytes:
    """Return the space that the files of a folder take on the disk; files that vanish meanwhile take none."""
    return Bytes(sum(_sizes(path)))


def is_held(path: Path) -> bool:
    """Whether a process, this one included, holds the lock on `path`, a file or a folder; False if it is not there."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _sizes(path: Path) -> Iterator[int]:
    for folder, _, files in os.walk(path):
        for name in files:
            try:
                yield os.lstat(os.path.join(folder, name)).st_blocks * 512
            except OSError:  # removed in the meantime
                continue


STAGED = "_"


def dated(name: str) -> str:
    """Return the name of a directory that is made now."""
    return f"{time.strftime('%Y-%m-%d_%H-%M-%S')}_{name}"


def stage(results: Path, name: str, mode: int = 0o777) -> Path:
    """Make and return a new staged run directory, `_<date>_<name>`; a suffix keeps it from any that exists."""
    stem = dated(name)
    results.mkdir(parents=True, exist_ok=True)
    for final in _names(stem):
        if not (results / final).exists():
            try:
                (staged := results / f"{STAGED}{final}").mkdir(mode)
            except FileExistsError:
                continue
            return staged
    raise FileExistsError(f"no free name for {stem} in {results}")


def commit(staged: Path) -> Path:
    """Give a run that succeeded its final name, and return it."""
    stem = staged.name.removeprefix(STAGED)
    for name in _names(stem):
        final = staged.with_name(name)
        try:  # renaming onto a directory that is not empty fails: nothing is overwritten
            os.rename(staged, final)
        except OSError:
            if not final.exists():
                raise
        else:
            return final
    raise FileExistsError(f"no free name for {stem}")


def _names(stem: str) -> Iterator[str]:
    """Yield the names that a run may take, in their order: the plain one, then -2, -3 and so on."""
    yield stem
    yield from (f"{stem}-{number}" for number in range(2, 1000))
