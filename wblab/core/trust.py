"""Whether anybody else may change what a path leads to."""

import os
import stat
from errno import ELOOP
from pathlib import Path

# Documentation/admin-guide/sysctl/fs.rst
_PROTECTIONS = [Path("/proc/sys/fs/protected_symlinks"), Path("/proc/sys/fs/protected_hardlinks")]
_MOST_LINKS = 40  # as in the kernel


def distrust(path: Path, *, sticky: bool = False) -> str:
    """Return in words who else but root and we may change what a path leads to; '' where nobody may. Raises OSError.

    Each directory from the root on, each link and what it leads to must be root's or ours, and not for others to write
    to; but for sticky directories such as /tmp on the way, whose entries only their owners may replace; with `sticky`,
    the path may be such a directory itself, if the kernel follows no link of others there. What lies on a filesystem
    that is mounted read-only nobody changes. Nothing that has passed can be exchanged before we use it.
    """
    sticky = sticky and all(path.read_text().strip() == "1" for path in _PROTECTIONS)
    at, left, links = Path("/"), list(Path(os.path.abspath(path)).parts[1:]), 0
    while True:
        if reason := _distrust(at, passing=sticky or bool(left)):
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


def _distrust(path: Path, *, passing: bool) -> str:
    """Return what speaks against one entry; sticky directories are good enough for `passing` through."""
    status = os.lstat(path)
    is_link = stat.S_ISLNK(status.st_mode)
    if os.statvfs(path.parent if is_link else path).f_flag & os.ST_RDONLY:
        return ""
    if status.st_uid not in (0, os.geteuid()):
        return f"{path} belongs to user {status.st_uid}"
    mode = status.st_mode & (stat.S_IWOTH if status.st_gid == 0 else stat.S_IWOTH | stat.S_IWGRP)
    if not mode or is_link or (passing and status.st_mode & stat.S_ISVTX):
        return ""
    return f"others than its owner may write to {path}"
