"""Memory reserved in advance: during a lock-up, an allocation may wait for the disk like everything else."""

import ctypes
from contextlib import suppress

from wblab.core.syscalls import checked, libc

ENVIRONMENT = {"PYTHONMALLOC": "malloc"}  # Python's objects come from the C library's heap, which `reserve` keeps

_MCL_CURRENT, _MCL_FUTURE = 1, 2
_M_TRIM_THRESHOLD, _M_MMAP_MAX, _M_ARENA_MAX = -1, -4, -8  # malloc.h of glibc


def reserve(heap_bytes: int) -> None:
    """Grow the heap by this much now, and never shrink it; later threads use it too. See mallopt(3).

    A C library without these options keeps its own behaviour.
    """
    mallopt = getattr(libc, "mallopt", None)
    if mallopt is None:
        return
    mallopt(_M_MMAP_MAX, 0)
    mallopt(_M_ARENA_MAX, 1)
    mallopt(_M_TRIM_THRESHOLD, -1)
    libc.malloc.restype = ctypes.c_void_p
    libc.free(ctypes.c_void_p(libc.malloc(ctypes.c_size_t(heap_bytes))))


def lock_all() -> None:
    """Lock all our memory, now and in future, as far as our limit allows (RLIMIT_MEMLOCK).

    See mlockall(2).
    """
    with suppress(OSError):
        checked(libc.mlockall(_MCL_CURRENT | _MCL_FUTURE))
