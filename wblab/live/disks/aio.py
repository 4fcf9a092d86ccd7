"""Several concurrent reads from one thread: the kernel's asynchronous I/O (io_submit(2))."""

import ctypes
import mmap
import os
import struct
from collections.abc import Sequence

from wblab.core.syscalls import checked, libc

MOST = 64  # reads in flight
_SETUP, _DESTROY, _GETEVENTS, _SUBMIT = 206, 207, 208, 209  # x86-64, arch/x86/entry/syscalls/syscall_64.tbl
_IOCB = struct.Struct("<QIIHhIQQqQII")  # struct iocb, include/uapi/linux/aio_abi.h
_EVENT = struct.Struct("<QQqq")  # struct io_event
_PREAD = 0


class Reads:
    """Reads of up to `size` bytes each, at most MOST at once, into buffers of its own; see close."""

    def __init__(self, fd: int, size: int) -> None:
        """Raises OSError if the kernel has no such I/O, or its limit is reached."""
        self._fd = fd
        self._context = ctypes.c_ulong(0)
        checked(libc.syscall(_SETUP, MOST, ctypes.byref(self._context)))
        self._room = mmap.mmap(-1, MOST * size)
        self._addresses = [
            ctypes.addressof(ctypes.c_char.from_buffer(self._room, place * size)) for place in range(MOST)
        ]
        self._events = ctypes.create_string_buffer(MOST * _EVENT.size)

    def read(self, offsets: Sequence[int], size: int) -> None:
        """Read at all offsets, and wait for the last. Raises OSError."""
        blocks = [
            _IOCB.pack(place, 0, 0, _PREAD, 0, self._fd, self._addresses[place], size, offset, 0, 0, 0)
            for place, offset in enumerate(offsets)
        ]
        content = ctypes.create_string_buffer(b"".join(blocks), len(blocks) * _IOCB.size)
        begin = ctypes.addressof(content)
        pointers = (ctypes.c_void_p * len(blocks))(*(begin + place * _IOCB.size for place in range(len(blocks))))
        sent = done = 0
        while done < len(blocks):
            if sent < len(blocks):
                rest = ctypes.byref(pointers, sent * ctypes.sizeof(ctypes.c_void_p))
                sent += checked(libc.syscall(_SUBMIT, self._context, len(blocks) - sent, rest))
            wanted = sent - done
            found = checked(libc.syscall(_GETEVENTS, self._context, wanted, wanted, self._events, None))
            for place in range(found):
                _, _, result, _ = _EVENT.unpack_from(self._events, place * _EVENT.size)
                if result < 0:
                    raise OSError(-result, os.strerror(-result))
            done += found

    def close(self) -> None:
        """Release the kernel's resources."""
        libc.syscall(_DESTROY, self._context)
