"""Identify processes and threads."""

import errno
import fcntl
import os
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.core.syscalls import IOPRIO_CLASSES, checked, libc
from wblab.machine.trust import distrust

# A lock for the one process that changes the machine, in a directory that belongs to root alone.

STATE = Path("/run/wblab")  # on a tmpfs: after a reboot nothing needs undoing


def require_root(why: str) -> None:
    """Raise WblabError with this reason for anybody but root."""
    if os.geteuid() != 0:
        raise WblabError(why)


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


# I/O priorities as the kernel stores them, class, hint and level in one number, so they can be restored exactly.
#
# For other threads. A load of a guest sets its own class by wblab/core/syscalls.py.

CLASS_SHIFT = 13
_SYS_IOPRIO_SET, _SYS_IOPRIO_GET, _WHO_PROCESS = 251, 252, 1  # x86-64


def ioprio_value(ioclass: str, level: int) -> int:
    """Return the number for a class (a key of IOPRIO_CLASSES) and a level."""
    return IOPRIO_CLASSES[ioclass] << CLASS_SHIFT | level


def get_ioprio(tid: int) -> int:
    """Return the I/O priority of a thread; see ioprio_get(2). Raises OSError."""
    return checked(libc.syscall(_SYS_IOPRIO_GET, _WHO_PROCESS, tid), f"I/O priority of {tid}")


def set_ioprio(tid: int, value: int) -> None:
    """Set the I/O priority of a thread; see ioprio_set(2). Raises OSError."""
    checked(libc.syscall(_SYS_IOPRIO_SET, _WHO_PROCESS, tid, value), f"I/O priority of {tid}")


# Processes that end with the process that started them.

_PR_SET_PDEATHSIG = 1


def end_with(parent: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Have the kernel signal this process when `parent`, which forked it, is gone.

    See prctl(2), PR_SET_PDEATHSIG. Raises OSError.
    """
    checked(libc.prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0))
    if os.getppid() != parent:  # it died before the call took effect
        os.kill(os.getpid(), number)


@dataclass(frozen=True)
class ProcessIdentity:
    """Fields of /proc/PID/stat, proc(5). `start_ticks` tells a process from a later one with the same number."""

    name: str
    state: str
    parent: int
    session: int
    flags: int
    start_ticks: int


def identify(task: int) -> ProcessIdentity | None:
    """Return the identity of a process or thread; None if it is gone."""
    try:
        text = Path(f"/proc/{task}/stat").read_bytes()
    except OSError:
        return None
    before, _, after = text.rpartition(b")")  # a name may contain spaces and brackets
    fields = after.split()
    name = before.partition(b"(")[2].decode(errors="replace")
    return ProcessIdentity(name, fields[0].decode(), int(fields[1]), int(fields[3]), int(fields[6]), int(fields[19]))


def threads(pid: int) -> list[int]:
    """Return the threads of a process; none if it is gone."""
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


# Python asks for memory a megabyte at a time (Objects/obmalloc.c): so many objects fill that.
_FILL_AN_ARENA = 1 << 16


def room_to_measure() -> object:
    """Return what keeps memory free for Python's objects, for as long as it is held.

    Whoever measures system calls does not want one that fetches memory among them, which comes when the heap is full.
    """
    objects = [object() for _ in range(_FILL_AN_ARENA)]
    return objects[-1]
