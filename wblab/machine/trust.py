"""Whether another user could change what a path leads to."""

import grp
import os
import pwd
import stat
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from errno import ELOOP
from pathlib import Path
from typing import Protocol

from wblab.core.errors import InputError
from wblab.lab.held import held, path_of

_MOST_LINKS = 40  # the kernel's limit


@dataclass(frozen=True)
class FileProtections:
    """What the kernel says of files: whether it follows no links of others (sysctls, fs.rst), and what is mounted.

    status: of a file, whose links it does not follow.
    """

    protections: Sequence[Path] = (Path("/proc/sys/fs/protected_symlinks"), Path("/proc/sys/fs/protected_hardlinks"))
    mounts: Path = Path("/proc/self/mountinfo")
    status: Callable[[Path], os.stat_result] = os.lstat


_KERNEL = FileProtections()


def distrust(path: Path, *, sticky: bool = False, kernel: FileProtections = _KERNEL) -> str:
    """Return who, except root and us, could change what a path leads to; '' if nobody can. Raises OSError.

    Each directory from the root on, each link and its target must belong to root or us, and nobody else may write to
    it. Sticky directories such as /tmp, whose entries only their owners may replace, may be passed through. With
    `sticky`, the path itself may be one, if the kernel follows no link of other users there. A filesystem that is
    itself read-only, not only mounted so, is safe. What has passed cannot be swapped before we use it.
    """
    is_protected = all(file.read_text().strip() == "1" for file in kernel.protections)
    return _distrust_way(path, kernel, passing=sticky and is_protected)


def _distrust_way(path: Path, kernel: FileProtections, *, passing: bool) -> str:
    """Return the objection to any entry on the way to a path, which is the last one, or passed through as well."""
    at, left, links = Path("/"), list(Path(os.path.abspath(path)).parts[1:]), 0
    while True:
        if reason := _distrust(at, kernel, passing=passing or bool(left)):
            return reason
        if not left:
            return ""
        if (name := left.pop(0)) == "..":  # from a link: `at` contains none
            at = at.parent
        elif (at / name).is_symlink():
            if reason := _distrust(at / name, kernel, passing=True):
                return reason
            if (links := links + 1) > _MOST_LINKS:
                raise OSError(ELOOP, os.strerror(ELOOP), str(path))
            target = Path(os.readlink(at / name))
            at, left = (Path("/") if target.is_absolute() else at), [*target.parts[target.is_absolute() :], *left]
        else:
            at /= name


def distrust_new(path: Path, kernel: FileProtections = _KERNEL) -> str:
    """Return who else could change where a new file at this path would lie; '' if nobody can. Raises OSError.

    Checks every existing entry on the way, as `distrust` does.
    """
    path = Path(os.path.abspath(path))
    there = next(each for each in (path, *path.parents) if os.path.lexists(each))
    return distrust(there, sticky=there != path, kernel=kernel)


def distrust_any(paths: Iterable[Path], kernel: FileProtections = _KERNEL) -> str:
    """Return why one of these paths cannot be trusted, '' if all can; see `distrust`. Raises OSError."""
    directories: dict[Path, str] = {}  # the objection to each
    for path in paths:
        if path.parent not in directories:
            directories[path.parent] = _distrust_way(path.parent, kernel, passing=True)
        last = distrust(path, kernel=kernel) if path.is_symlink() else _distrust(path.absolute(), kernel, passing=False)
        if reason := directories[path.parent] or last:
            return reason
    return ""


def _distrust(path: Path, kernel: FileProtections, *, passing: bool) -> str:
    """Return the objection to one entry; sticky directories may be passed through (`passing`)."""
    status = kernel.status(path)
    is_link = stat.S_ISLNK(status.st_mode)
    others = status.st_mode & (stat.S_IWOTH if status.st_gid == 0 else stat.S_IWOTH | stat.S_IWGRP)
    if status.st_uid not in (0, os.geteuid()):
        reason = f"{path} belongs to user {status.st_uid}"
    elif others and not is_link and not (passing and status.st_mode & stat.S_ISVTX):
        reason = f"other users than its owner may write to {path}"
    else:
        return ""
    return "" if _is_read_only(status.st_dev, kernel.mounts) else reason


def _is_read_only(device: int, mounts: Path) -> bool:
    """Whether a filesystem is read-only wherever it is mounted, by its superblock's options (proc_pid_mountinfo(5)).

    One served by a user's process (FUSE) does not count.
    """
    found = []
    for line in mounts.read_text().splitlines():
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
    return objection(status, path_of(directory) / name, ourselves(), is_alone_in)


def objection(status: os.stat_result, said: Path, ours: Collection[int], is_alone: Callable[[int, int], bool]) -> str:
    """Return why what was found is another user's, by its status; '' if it is ours.

    said: what the answer calls it. ours: the users whose files are ours. is_alone: whether a user is alone in a
    group, both by number.
    """
    if stat.S_ISLNK(status.st_mode):
        return f"{said} is a link"
    if status.st_uid not in ours:
        return f"{said} belongs to user {status.st_uid}"
    by_others = status.st_mode & stat.S_IWOTH and not (stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX)
    by_group = status.st_mode & stat.S_IWGRP and status.st_gid and not is_alone(status.st_uid, status.st_gid)
    return f"other users may write to {said}" if by_others or by_group else ""


def check_found(path: Path, instead: str) -> None:
    """Raise InputError for what was found in this directory, not named, and is another user's; `instead`: what to do.

    A link of our own is followed: what it leads to must be ours too. What is not there is nobody's.
    """
    try:
        if path.is_symlink() and os.lstat(path).st_uid in ourselves():
            path = Path(os.path.realpath(path))
        with held(path.parent) as directory:
            reason = distrust_found(directory, path.name)
    except FileNotFoundError:
        return
    except OSError as error:
        reason = f"{path}: {error.strerror}"
    if reason:
        raise InputError(f"{reason}: it was found here, and not named: {instead}")


def ourselves(user: int | None = None, caller: str | None = None) -> set[int]:
    """Return the users whose files are ours. user, caller: who we are, and who called sudo; by default as it is."""
    user = os.geteuid() if user is None else user
    caller = os.environ.get("SUDO_UID", "") if caller is None else caller
    return {0, user} | ({int(caller)} if user == 0 and caller.isdecimal() else set())


class UserAccount(Protocol):
    """A user (pwd(5))."""

    @property
    def pw_name(self) -> str:
        """The user's name."""

    @property
    def pw_uid(self) -> int:
        """The user's number."""

    @property
    def pw_gid(self) -> int:
        """The number of the user's group."""


def is_alone_in(user: int, group: int) -> bool:
    """Whether a group is a user's own, as distributions give one to each user (then new files are group-writable)."""
    try:
        return has_own_group(pwd.getpwuid(user), group, pwd.getpwall(), grp.getgrgid(group).gr_mem)
    except KeyError:
        return False


def has_own_group(user: UserAccount, group: int, accounts: Iterable[UserAccount], members: Iterable[str]) -> bool:
    """Whether nobody but a user is in a group. accounts: all users. members: the group's further ones, by name."""
    having = {entry.pw_uid for entry in accounts if entry.pw_gid == group}
    return having == {user.pw_uid} and set(members) <= {user.pw_name}
