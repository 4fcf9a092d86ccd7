"""System calls that the standard library lacks. Each returns its result or raises OSError."""

import ctypes
import os
from pathlib import Path

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_SYNCHRONOUS, MS_REMOUNT = 1, 2, 4, 16, 32
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
IOPRIO_CLASSES = {"none": 0, "realtime": 1, "best-effort": 2, "idle": 3}

_RB_POWER_OFF = 0x4321FEDC
_IOPRIO_WHO_PROCESS, _IOPRIO_CLASS_SHIFT = 1, 13
_SYS_IOPRIO_SET = 251  # x86-64, arch/x86/entry/syscalls/syscall_64.tbl

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, subject: str | None = None) -> int:
    if result < 0:
        errno = ctypes.get_errno()
        raise OSError(errno, os.strerror(errno), subject)
    return result


def mount(source: str, target: Path | str, filesystem: str, flags: int = 0, options: str = "") -> None:
    """mount(2)."""
    arguments = (os.fsencode(item) for item in (source, target, filesystem))
    _checked(_libc.mount(*arguments, ctypes.c_ulong(flags), os.fsencode(options)), f"{filesystem} on {target}")


def umount(target: Path | str) -> None:
    """umount2(2), without flags."""
    _checked(_libc.umount2(os.fsencode(target), 0), str(target))


def set_ioprio(ioclass: str, level: int) -> None:
    """ioprio_set(2) for the calling process; `ioclass` is a key of IOPRIO_CLASSES, `level` 0 to 7."""
    value = IOPRIO_CLASSES[ioclass] << _IOPRIO_CLASS_SHIFT | (0 if ioclass in ("none", "idle") else level)
    _checked(_libc.syscall(_SYS_IOPRIO_SET, _IOPRIO_WHO_PROCESS, 0, value), "I/O priority")


def lock_memory(address: int, length: int) -> None:
    """mlock(2)."""
    _checked(_libc.mlock(ctypes.c_void_p(address), ctypes.c_size_t(length)))


def set_process_control(option: int, value: int) -> None:
    """prctl(2) with one argument."""
    _checked(_libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0))


def power_off() -> None:
    """reboot(2): power the machine off, without a sync."""
    _checked(_libc.reboot(_RB_POWER_OFF))
