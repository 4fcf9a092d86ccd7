"""The rights of a process that is root, and its limits: what it gives up for good. See capabilities(7)."""

import ctypes
import resource
from contextlib import suppress
from pathlib import Path

from wblab.core.syscalls import checked, libc

_PR_CAPBSET_READ, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 23, 24, 38
_VERSION_3 = 0x20080522  # of struct __user_cap_header_struct: three sets of 64 bits


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def drop_capabilities() -> None:
    """Give up all capabilities, and that a program which is executed could have more. Raises OSError."""
    capability = 0
    while libc.prctl(_PR_CAPBSET_READ, capability, 0, 0, 0) >= 0:
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)  # fails for an ordinary user, who has none
        capability += 1
    checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), 0, 0, 0))
    header, none = _Header(_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    checked(libc.capset(ctypes.byref(header), none), "capset")


def limit_files(largest_bytes: int) -> None:
    """Bound the size of any file that is written, and leave no core file. Raises OSError."""
    for number, wanted in ((resource.RLIMIT_FSIZE, largest_bytes), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(number)
        bound = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(number, (bound, bound))


def die_first() -> None:
    """Be the one that the host's kernel ends when it is out of memory; see proc(5), oom_score_adj."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
