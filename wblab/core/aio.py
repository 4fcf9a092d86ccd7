"""POSIX AIO of the C library: aio_read(3) and aio_write(3), in the library's own threads.

glibc runs one operation per descriptor at a time, so operations on one file wait for each other.
"""

import ctypes
import errno
import os

from wblab.core.syscalls import libc, memory_of

_SIGEV_NONE = 1


class _Sigevent(ctypes.Structure):
    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signo", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("pad", ctypes.c_int * 12),
    )


class _Aiocb(ctypes.Structure):
    """struct aiocb of glibc on x86-64; musl's has the same layout, except for the library's private fields."""

    _fields_ = (
        ("fd", ctypes.c_int),
        ("opcode", ctypes.c_int),
        ("priority", ctypes.c_int),
        ("buffer", ctypes.c_void_p),
        ("length", ctypes.c_size_t),
        ("event", _Sigevent),
        ("own", ctypes.c_byte * 32),
        ("offset", ctypes.c_int64),
        ("reserved", ctypes.c_byte * 64),
    )


class Operation:
    """One read into a buffer, or one write from it."""

    def __init__(self, name: str, fd: int, buffer: bytes | bytearray, offset: int) -> None:
        """Start the operation; `name` is read or write. Raises OSError."""
        if not hasattr(libc, "aio_read"):
            raise OSError(errno.ENOSYS, "this C library has no POSIX AIO: choose another paradigm")
        self._memory = memory_of(buffer)
        self._block = _Aiocb(fd=fd, buffer=ctypes.addressof(self._memory), length=len(buffer), offset=offset)
        self._block.event.notify = _SIGEV_NONE
        self._at = ctypes.byref(self._block)
        if (libc.aio_read if name == "read" else libc.aio_write)(self._at):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    def result(self) -> int | None:
        """Return the number of bytes, or negative errno; None while it runs. Call it no more after a result."""
        error: int = libc.aio_error(self._at)
        if error == errno.EINPROGRESS:
            return None
        done: int = _aio_return()(self._at)
        return -error if error else done

    def wait(self) -> None:
        """Wait until the operation ends."""
        ones = (ctypes.c_void_p * 1)(ctypes.addressof(self._block))
        libc.aio_suspend(ones, 1, None)


def _aio_return() -> "ctypes._NamedFuncPointer":
    function = libc.aio_return
    function.restype = ctypes.c_ssize_t
    return function
