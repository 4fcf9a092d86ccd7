"""I/O priorities as the kernel stores them, class, hint and level in one number, so they can be restored exactly.

For other threads. A load of a guest sets its own class by wblab/core/syscalls.py.
"""

from wblab.core.syscalls import IOPRIO_CLASSES, checked, libc

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
