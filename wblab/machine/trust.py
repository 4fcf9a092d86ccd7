"""Whether another user could change what a path leads to."""

import grp
import os
import pwd
import stat
from collections.abc import Iterable
from errno import ELOOP
from pathlib import Path

from wblab.core.errors import InputError
from wblab.lab.held import held, path_of

# Documentation/admin-guide/sysctl/fs.rst
_PROTECTIONS = [Path("/proc/sys/fs/protected_symlinks"), Path("/proc/sys/fs/protected_hardlinks")]
_MOUNTS = Path("/proc/self/mountinfo")
_MOST_LINKS = 40  # the kernel's limit


def distrust(path: Path, *, sticky: bool = False) -> str:
    """Return who, except root and us, could change what a path leads to; '' if nobody can. Raises OSError.

    Each directory from the root on, each link and its target must belong to root or us, and nobody else may write to
    it. Sticky directories such as /tmp, whose entries only their owners may replace, may be passed through. With
    `sticky`, the path itself may be one, if the kernel follows no link of other users there. A filesystem that is
    itself read-only, not only mounted so, is safe. What has passed cannot be swapped before we use it.
    """
    return _distrust_way(path, passing=sticky and all(file.read_text().strip() == "1" for file in _PROTECTIONS))


def _distrust_way(path: Path, *, passing: bool) -> str:
    """Return the objection to any entry on the way to a path, which is the last one, or passed through as well."""
    at, left, links = Path("/"), list(Path(os.path.abspath(path)).parts[1:]), 0
    while True:
        if reason := _distrust(at, passing=passing or bool(left)):
            return reason
        if not left:
            return ""
        if (name := left.pop(0)) == "..":  # from a link: `at` contains none
            at = at.parent
        elif (at / name).is_symlink():
            if reason := _distrust(at / name, passing=True):
                return reason
            if (links := links + 1) > _MOST_LINKS:
                raise OSError(ELOOP, os.strerror(ELOOP), str(path))
            target = Path(os.readlink(at / name))
            at, left = (Path("/") if target.is_absolute() else at), [*target.parts[target.is_absolute() :], *left]
        else:
            at /= name


def distrust_new(path: Path) -> str:
    """Return who else could change where a new file at this path would lie; '' if nobody can. Raises OSError.

    Checks every existing entry on the way, as `distrust` does.
    """
    path = Path(os.path.abspath(path))
    there = next(each for each in (path, *path.parents) if os.path.lexists(each))
    return distrust(there, sticky=there != path)


def distrust_any(paths: Iterable[Path]) -> str:
    """Return why one of these paths cannot be trusted, '' if all can; see `distrust`. Raises OSError."""
    directories: dict[Path, str] = {}  # the objection to each
    for path in paths:
        if path.parent not in directories:
            directories[path.parent] = _distrust_way(path.parent, passing=True)
        last = distrust(path) if path.is_symlink() else _distrust(path.absolute(), passing=False)
        if reason := directories[path.parent] or last:
            return reason
    return ""


def _distrust(path: Path, *, passing: bool) -> str:
    """Return the objection to one entry; sticky directories may be passed through (`passing`)."""
    status = os.lstat(path)
    is_link = stat.S_ISLNK(status.st_mode)
    others = status.st_mode & (stat.S_IWOTH if status.st_gid == 0 else stat.S_IWOTH | stat.S_IWGRP)
    if status.st_uid not in (0, os.geteuid()):
        reason = f"{path} belongs to user {status.st_uid}"
    elif others and not is_link and not (passing and status.st_mode & stat.S_ISVTX):
        reason = f"other users than its owner may write to {path}"
    else:
        return ""
    return "" if _is_read_only(status.st_dev) else reason


def _is_read_only(device: int) -> bool:
    """Whether a filesystem is read-only wherever it is mounted, by its superblock's options (proc_pid_mountinfo(5)).

    One served by a user's process (FUSE) does not count.
    """
    found = []
    for line in _MOUNTS.read_text().splitlines():
        mount, _, rest = line.partition(" - ")
        filesystem, *_, options = rest.split(" ")
        if mount.split(" ")[2] == f"{os.major(device)}:{os.minor(device)}":
            found.append("ro" in options.split(",") and not filesystem.startswith("fuse"))
    return bool(found) and all(found)


def distrust_found(directory: int, name: str = "") -> str:
    """Return why a held directory, or an entry of it, that was found and not named is another user's; '' if it is ours.

    It must be no link and belong to us, to root, or for root to the user who called sudo; and nobody else may write to
    it, except to a sticky directory. Raises OSError.
    """
    status = os.stat(name, dir_fd=directory, follow_symlinks=False) if name else os.fstat(directory)
    said = path_of(directory) / name
    if stat.S_ISLNK(status.st_mode):
        return f"{said} is a link"
    if status.st_uid not in _ourselves():
        return f"{said} belongs to user {status.st_uid}"
    by_others = status.st_mode & stat.S_IWOTH and not (stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX)
    by_group = status.st_mode & stat.S_IWGRP and status.st_gid and not _is_alone(status.st_uid, status.st_gid)
    return f"other users may write to {said}" if by_others or by_group else ""


def check_found(path: Path, instead: str) -> None:
    """Raise InputError for what was found in this directory, not named, and is another user's; `instead`: what to do.

    A link of our own is followed: what it leads to must be ours too. What is not there is nobody's.
    """
    try:
        if path.is_symlink() and os.lstat(path).st_uid in _ourselves():
            path = Path(os.path.realpath(path))
        with held(path.parent) as directory:
            reason = distrust_found(directory, path.name)
    except FileNotFoundError:
        return
    except OSError as error:
        reason = f"{path}: {error.strerror}"
    if reason:
        raise InputError(f"{reason}: it was found here, and not named: {instead}")


def _ourselves() -> set[int]:
    caller = os.environ.get("SUDO_UID", "")
    return {0, os.geteuid()} | ({int(caller)} if os.geteuid() == 0 and caller.isdecimal() else set())


def _is_alone(user: int, group: int) -> bool:
    """Whether a group is a user's own, as distributions give one to each user (then new files are group-writable)."""
    try:
        name, members = pwd.getpwuid(user).pw_name, grp.getgrgid(group).gr_mem
    except KeyError:
        return False
    having = {entry.pw_uid for entry in pwd.getpwall() if entry.pw_gid == group}
    return having == {user} and set(members) <= {name}
