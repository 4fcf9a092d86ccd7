"""Directories held by descriptor, where other users may swap the names that lead to them.

For root, another user's directory is hostile ground: its owner may replace any name in it by a link, at any moment. So
what we write there goes to a private directory of our own, reached only by descriptor.
"""

import os
import stat
from errno import ELOOP, ENOTDIR, EPERM
from pathlib import Path

from wblab.machine.changes import Contents, Directory, WayBack

_HOLD = os.O_PATH | os.O_CLOEXEC
_MOST_LINKS = 40  # the kernel's limit


def open_directory(path: Path) -> int:
    """Return a descriptor of a directory to make things in (O_PATH). Raises OSError.

    It is opened name by name. Root follows no other user's link, which could lead anywhere.
    """
    at = os.open("/" if path.is_absolute() else ".", _HOLD | os.O_DIRECTORY)
    left, links = list(path.parts[path.is_absolute() :]), 0
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


def make_directory(parent: int, name: str) -> int:
    """Make a private directory and return its descriptor. Raises OSError."""
    os.mkdir(name, 0o700, dir_fd=parent)
    return open_own(parent, name)


def open_own(parent: int, name: str) -> int:
    """Return a descriptor of an empty directory that we made. Raises OSError if it is no longer private."""
    directory = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        status = os.fstat(directory)
        is_ours = status.st_uid == os.geteuid() and not status.st_mode & 0o077
        if os.listdir(directory) or not (is_ours or _without_links(directory)):
            raise OSError(EPERM, f"files made there belong to user {status.st_uid}: run it as this user, without sudo")
    except OSError:
        os.close(directory)
        raise
    return directory


def own_directory(parent: int, name: str, way_back: WayBack) -> int:
    """Make a private directory; the undo removes it with its content. Raises OSError."""
    way_back.note(Directory(path=name, held=parent))
    directory = make_directory(parent, name)
    way_back.note(Contents(held=directory))
    return directory


def _followed(link: int, name: str, owner: int) -> Path:
    """Return the target of a held link. Raises OSError if we are root and the link is another user's."""
    if os.geteuid() == 0 != owner:
        raise OSError(ELOOP, f"{name} is a link of user {owner}: give the directory that it leads to")
    return Path(os.readlink("", dir_fd=link))


def _without_links(directory: int) -> bool:
    """Whether a filesystem has no links to follow; some, such as vfat, have no owners either."""
    try:
        os.symlink("nowhere", "link", dir_fd=directory)
    except PermissionError:
        return True
    os.unlink("link", dir_fd=directory)
    return False


def _exchange(old: int, new: int) -> int:
    os.close(old)
    return new
