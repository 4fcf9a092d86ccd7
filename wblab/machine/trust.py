"""Whether anybody else may change what a path leads to."""

import os
import stat
from collections.abc import Iterable
from errno import ELOOP
from pathlib import Path

# Documentation/admin-guide/sysctl/fs.rst
_PROTECTIONS = [Path("/proc/sys/fs/protected_symlinks"), Path("/proc/sys/fs/protected_hardlinks")]
_MOUNTS = Path("/proc/self/mountinfo")
_MOST_LINKS = 40  # as in the kernel


def distrust(path: Path, *, sticky: bool = False) -> str:
    """Return in words who else but root and we may change what a path leads to; '' where nobody may. Raises OSError.

    Each directory from the root on, each link and what it leads to must be root's or ours, and nobody else may write to
    it. On the way there may be sticky directories such as /tmp, whose entries only their owners may replace; with
    `sticky`, the path may be one itself, if the kernel follows no link of others there. Nobody changes what lies on a
    filesystem that is read-only itself, and not only mounted so. What has passed cannot be exchanged before we use it.
    """
    return _distrust_way(path, passing=sticky and all(file.read_text().strip() == "1" for file in _PROTECTIONS))


def _distrust_way(path: Path, *, passing: bool) -> str:
    """Return what speaks against any entry on the way to a path, which is itself the last or passed through too."""
    at, left, links = Path("/"), list(Path(os.path.abspath(path)).parts[1:]), 0
    while True:
        if reason := _distrust(at, passing=passing or bool(left)):
            return reason
        if not left:
            return ""
        if (name := left.pop(0)) == "..":  # of a link: `at` has none
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
    """Return who else may change where something new at a path would come to lie; '' where nobody may. Raises OSError.

    Of what is there already on the way, all is looked at, as `distrust` does.
    """
    path = Path(os.path.abspath(path))
    there = next(each for each in (path, *path.parents) if os.path.lexists(each))
    return distrust(there, sticky=there != path)


def distrust_any(paths: Iterable[Path]) -> str:
    """Return why one of these paths is not to be trusted, '' where all are; see `distrust`. Raises OSError."""
    directories: dict[Path, str] = {}  # what is to be said of each
    for path in paths:
        if path.parent not in directories:
            directories[path.parent] = _distrust_way(path.parent, passing=True)
        last = distrust(path) if path.is_symlink() else _distrust(path.absolute(), passing=False)
        if reason := directories[path.parent] or last:
            return reason
    return ""


def _distrust(path: Path, *, passing: bool) -> str:
    """Return what speaks against one entry; sticky directories are good enough for `passing` through."""
    status = os.lstat(path)
    is_link = stat.S_ISLNK(status.st_mode)
    others = status.st_mode & (stat.S_IWOTH if status.st_gid == 0 else stat.S_IWOTH | stat.S_IWGRP)
    if status.st_uid not in (0, os.geteuid()):
        reason = f"{path} belongs to user {status.st_uid}"
    elif others and not is_link and not (passing and status.st_mode & stat.S_ISVTX):
        reason = f"others than its owner may write to {path}"
    else:
        return ""
    return "" if _is_read_only(status.st_dev) else reason


def _is_read_only(device: int) -> bool:
    """Whether a filesystem is read-only wherever it is mounted, by its superblock's options (proc_pid_mountinfo(5)).

    One that a process of its owner serves (FUSE) is not.
    """
    found = []
    for line in _MOUNTS.read_text().splitlines():
        mount, _, rest = line.partition(" - ")
        filesystem, *_, options = rest.split(" ")
        if mount.split(" ")[2] == f"{os.major(device)}:{os.minor(device)}":
            found.append("ro" in options.split(",") and not filesystem.startswith("fuse"))
    return bool(found) and all(found)
