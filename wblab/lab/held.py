"""Directories held by descriptor: where others may swap the names that lead to them, ours still lead to the same one.

For root, another user's directory is hostile ground: its owner may replace any name in it by a link, at any moment. So
a path is walked name by name, root follows no other user's link, and what is done in the directory is done through its
descriptor. Files are replaced with `replace_file` here, which holds the directory that they are in.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ELOOP, ENOTDIR
from pathlib import Path
from typing import BinaryIO

from wblab.core import files
from wblab.core.errors import InputError

_HOLD = os.O_PATH | os.O_CLOEXEC
_HELD = Path("/proc/self/fd")
_MOST_LINKS = 40  # the kernel's limit


def open_directory(path: Path) -> int:
    """Return a descriptor of a directory to make things in (O_PATH). Raises OSError.

    It is opened name by name. Root follows no other user's link, which could lead anywhere.
    """
    start, left = _start(path)
    at, links = os.open(start, _HOLD | os.O_DIRECTORY), 0
    try:
        while left:
            held = os.open(name := left.pop(0), _HOLD | os.O_NOFOLLOW, dir_fd=at)
            try:
                status = os.fstat(held)
                if stat.S_ISLNK(status.st_mode):
                    if (links := links + 1) > _MOST_LINKS:
                        raise OSError(ELOOP, os.strerror(ELOOP))
                    target = _followed(held, name, status.st_uid)
                    left = [*target.parts[target.is_absolute() :], *left]
                    if not target.is_absolute():
                        continue
                    held = _exchange(held, os.open("/", _HOLD | os.O_DIRECTORY))
                elif not stat.S_ISDIR(status.st_mode):
                    raise OSError(ENOTDIR, os.strerror(ENOTDIR))
                at, held = held, at
            finally:
                os.close(held)
    except OSError:
        os.close(at)
        raise
    return at


def path_of(directory: int) -> Path:
    """Return the present path of a held directory, for messages."""
    return Path(os.readlink(f"/proc/self/fd/{directory}"))


def through(directory: int) -> Path:
    """Return the path of a held directory by its descriptor, for what is done in it."""
    return _HELD / str(directory)


def descriptor_in(path: Path) -> int | None:
    """Return the descriptor that a path names its directory by (see `through`); None for an ordinary one."""
    return int(path.parts[len(_HELD.parts)]) if path.is_relative_to(_HELD) and path != _HELD else None


@contextmanager
def held(path: Path, *, make: bool = False) -> Iterator[int]:
    """Hold a directory; with `make`, it is made if it is missing, with its parents. Raises OSError.

    A message that names the path by the descriptor is raised again with the path itself.
    """
    descriptor = make_directories(path) if make else open_directory(path)
    try:
        yield descriptor
    except InputError as error:
        raise InputError(str(error).replace(str(through(descriptor)), str(path))) from None
    except OSError as error:
        if isinstance(error.filename, str):
            error.filename = error.filename.replace(str(through(descriptor)), str(path))
        raise
    finally:
        os.close(descriptor)


def make_directories(path: Path) -> int:
    """Return a descriptor of a directory, which is made if it is missing, with its parents. Raises OSError."""
    try:
        return open_directory(path)
    except FileNotFoundError:
        parent = make_directories(path.parent)
    try:
        try:
            os.mkdir(path.name, dir_fd=parent)
        except FileExistsError:  # another process was faster
            if not stat.S_ISDIR(os.stat(path.name, dir_fd=parent, follow_symlinks=False).st_mode):
                raise
        return os.open(path.name, _HOLD | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    finally:
        os.close(parent)


def open_below(directory: int, path: Path) -> int:
    """Return a descriptor of a directory below a held one; no link is followed. Raises OSError."""
    at = os.dup(directory)
    try:
        for name in path.parts:
            if name in ("..", "/"):
                raise OSError(ENOTDIR, "it leads out of its directory")
            at = _exchange(at, os.open(name, _HOLD | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at))
    except OSError as error:
        os.close(at)
        if error.errno == ENOTDIR:
            raise OSError(ENOTDIR, "a directory on the way is a link or a file, which is not followed here") from None
        raise
    return at


def read_below(directory: int, path: Path, most_bytes: int) -> bytes:
    """Return the content of a regular file below a held directory; no link is followed. Raises OSError."""
    within = open_below(directory, path.parent)
    try:
        return files.read_bytes(through(within) / path.name, most_bytes)
    finally:
        os.close(within)


@contextmanager
def replace_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a new file that replaces `path` at the end, as `wblab.core.files.replace_file`; its directory is held.

    Raises OSError, also for root where another user's link leads to the directory.
    """
    with held(path.parent) as directory, files.replace_file(through(directory) / path.name) as file:
        yield file


def _start(path: Path) -> tuple[Path, list[str]]:
    """Return what to open first: the root, this directory, or a held one (see `through`); and the names after it."""
    parts = list(path.parts)
    is_held = path.is_relative_to(_HELD) and path != _HELD
    first = len(_HELD.parts) + 1 if is_held else int(path.is_absolute())
    return Path(*parts[:first]), parts[first:]


def _followed(link: int, name: str, owner: int) -> Path:
    """Return the target of a held link. Raises OSError if we are root and the link is another user's."""
    if os.geteuid() == 0 != owner:
        raise OSError(ELOOP, f"{name} is a link of user {owner}: give the directory that it leads to")
    return Path(os.readlink("", dir_fd=link))


def _exchange(old: int, new: int) -> int:
    os.close(old)
    return new
