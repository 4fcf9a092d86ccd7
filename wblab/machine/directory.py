"""Private directories of our own in those of other users: what we write there is reached only by descriptor."""

import fcntl
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from errno import EPERM
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.lab import results as names
from wblab.lab.held import held, through
from wblab.machine.changes import Directory, DirectoryContents, WayBack

_WORK = ".work"
_NAME_LETTERS = 50  # of a name in that of what is not whole yet: a name has at most 255 bytes


def make_directory(parent: int, name: str) -> int:
    """Make a private directory and return its descriptor. Raises OSError."""
    os.mkdir(name, 0o700, dir_fd=parent)
    return open_own(parent, name)


def open_own(parent: int, name: str, has_links: Callable[[int], bool] | None = None) -> int:
    """Return a descriptor of an empty directory that we made. Raises OSError if it is no longer private.

    has_links: whether a directory's filesystem can have links that somebody follows; by default as it shows.
    """
    has_links = has_links or _has_links
    directory = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        status = os.fstat(directory)
        is_ours = status.st_uid == os.geteuid() and not status.st_mode & 0o077
        if os.listdir(directory) or (not is_ours and has_links(directory)):
            raise OSError(EPERM, f"files made there belong to user {status.st_uid}: run it as this user, without sudo")
    except OSError:
        os.close(directory)
        raise
    return directory


@contextmanager
def made_whole(parent: int, name: str) -> Iterator[int]:
    """Yield a new directory below a held one, which gets its name when the block ends: it is there whole or not at all.

    Nobody else can get into it before. Raises OSError.
    """
    partial = f".{name}"[:_NAME_LETTERS] + f".{secrets.token_hex(8)}.partial"
    directory = make_directory(parent, partial)
    try:
        yield directory
        os.fchmod(directory, usual_mode())
        os.rename(partial, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True, dir_fd=parent)
        raise
    finally:
        os.close(directory)


@contextmanager
def workroom(parent: int, name: str) -> Iterator[Path]:
    """Yield a private directory below a held one, by descriptor, and remove it and its content at the end.

    Those of this name that a killed process left are removed first. Raises OSError.
    """
    prefix = f".{name}"[:_NAME_LETTERS] + "."
    for left in os.listdir(through(parent)):
        if left.startswith(prefix) and left.endswith(_WORK) and _is_left(parent, left):
            shutil.rmtree(left, ignore_errors=True, dir_fd=parent)
    work = f"{prefix}{secrets.token_hex(8)}{_WORK}"
    directory = make_directory(parent, work)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        yield through(directory)
    finally:
        shutil.rmtree(work, ignore_errors=True, dir_fd=parent)
        os.close(directory)


def _is_left(parent: int, name: str) -> bool:
    """Whether a directory is ours and nobody works in it."""
    try:
        directory = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    except OSError:
        return False
    try:
        fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(directory).st_uid == os.geteuid()
    except OSError:
        return False
    finally:
        os.close(directory)


def own_directory(parent: int, name: str, way_back: WayBack) -> int:
    """Make a private directory; the undo removes it with its content. Raises OSError."""
    way_back.note(Directory(path=name, held=parent))
    directory = make_directory(parent, name)
    way_back.note(DirectoryContents(held=directory))
    return directory


def _has_links(directory: int) -> bool:
    """Whether a filesystem has links to follow; some, such as vfat, have none, and no owners either."""
    try:
        os.symlink("nowhere", "link", dir_fd=directory)
    except PermissionError:
        return False
    os.unlink("link", dir_fd=directory)
    return True


def usual_mode() -> int:
    """Return the mode of a new directory that is not private."""
    os.umask(mask := os.umask(0o077))
    return 0o777 & ~mask


# A directory of results while it is made: held by descriptor, so that nobody leads its writers elsewhere.


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
