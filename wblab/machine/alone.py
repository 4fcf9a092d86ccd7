"""A lock for the one process that changes the machine, in a directory that belongs to root alone."""

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.machine.trust import distrust

STATE = Path("/run/wblab")  # on a tmpfs: after a reboot nothing needs undoing


@contextmanager
def alone(directory: Path, lock: str, who: str, instead: str) -> Iterator[None]:
    """Hold the lock file `lock`. Raises WblabError if another process, described by `who`, holds it.

    instead: what to do if the directory cannot be used.
    """
    os.umask(0o077)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if reason := distrust(directory):
            raise PermissionError(errno.EPERM, reason)
        descriptor = os.open(directory / lock, flags, 0o600)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FileExistsError(errno.EEXIST, f"its {lock} is not a regular file")
    except OSError as error:
        raise WblabError(f"cannot use the directory {directory}: {error.strerror}: {instead}") from None
    with open(descriptor, "r+", errors="replace") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pid = file.read(20).strip()
            raise WblabError(f"{who} is already running with pid {pid}: stop it first: kill {pid}") from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
