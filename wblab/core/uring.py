"""io_uring without a library: io_uring_setup(2), io_uring_enter(2) and two rings in shared memory."""

import ctypes
import errno
import mmap
import os
import struct
from typing import NamedTuple

from wblab.core.syscalls import checked, libc

_SETUP, _ENTER = 425, 426  # the same number on every architecture
_OFF_SQ_RING, _OFF_SQES = 0, 0x10000000
_GETEVENTS = 1
_SQE = struct.Struct("<BBHiQQIIQ24x")  # opcode, flags, priority, fd, offset, address, length, flags, user data
_CQE = struct.Struct("<QiI")  # user data, result, flags
_U32 = struct.Struct("<I")
_MASK = 0xFFFFFFFF
AT_FDCWD = -100
OPENAT, CLOSE, READ, WRITE, UNLINKAT = 18, 19, 22, 23, 36


class _Offsets(ctypes.Structure):
    """Offsets in a ring: `completions` in the completion ring, `array` in the submission ring."""

    _names = ("head", "tail", "mask", "entries", "_lost", "completions", "array", "_reserved")
    _fields_ = (*((name, ctypes.c_uint32) for name in _names), ("_address", ctypes.c_uint64))


class _Params(ctypes.Structure):
    _names = ("sq_entries", "cq_entries", "flags", "sq_thread_cpu", "sq_thread_idle", "features", "wq_fd")
    _fields_ = (
        *((name, ctypes.c_uint32) for name in _names),
        ("_reserved", ctypes.c_uint32 * 3),
        ("sq", _Offsets),
        ("cq", _Offsets),
    )


class Entry(NamedTuple):
    """An operation for the kernel; its opcode defines the meaning of the fields, see io_uring_enter(2)."""

    opcode: int
    fd: int
    address: int = 0
    length: int = 0
    offset: int = 0
    flags: int = 0


class Ring:
    """A ring of at least `entries`; the caller numbers the operations."""

    def __init__(self, entries: int) -> None:
        """Set up the ring. Raises OSError; its text says so if the kernel has no io_uring or forbids it."""
        params = _Params()
        try:
            self._fd = checked(libc.syscall(_SETUP, entries, ctypes.byref(params)))
        except OSError as error:
            if error.errno in (errno.ENOSYS, errno.EPERM):
                reason = "this kernel has no io_uring, or forbids it: choose another paradigm"
                raise OSError(error.errno, reason) from None
            raise
        sq, cq = params.sq, params.cq
        length = max(sq.array + params.sq_entries * 4, cq.completions + params.cq_entries * _CQE.size)
        self._rings = mmap.mmap(self._fd, length, offset=_OFF_SQ_RING)
        self._entries = mmap.mmap(self._fd, params.sq_entries * _SQE.size, offset=_OFF_SQES)
        self._sq, self._cq, self._room = sq, cq, params.sq_entries

    def submit(self, number: int, entry: Entry) -> None:
        """Start an operation. Its memory must stay in place until it completes. Raises OSError."""
        tail = self._at(self._sq.tail)
        place = tail & (self._room - 1)
        opcode, fd, address, length, offset, flags = entry
        _SQE.pack_into(self._entries, place * _SQE.size, opcode, 0, 0, fd, offset, address, length, flags, number)
        _U32.pack_into(self._rings, self._sq.array + 4 * place, place)
        _U32.pack_into(self._rings, self._sq.tail, tail + 1 & _MASK)
        self._enter(1, 0, 0)

    def completed(self) -> list[tuple[int, int]]:
        """Return the operations completed since the last call: number and result, or negative errno."""
        head, tail = self._at(self._cq.head), self._at(self._cq.tail)
        mask, done = self._at(self._cq.mask), []
        while head != tail:
            number, result, _ = _CQE.unpack_from(self._rings, self._cq.completions + (head & mask) * _CQE.size)
            done.append((number, result))
            head = head + 1 & _MASK
        _U32.pack_into(self._rings, self._cq.head, head)
        return done

    def wait(self) -> None:
        """Wait until one operation completes. Raises OSError."""
        self._enter(0, 1, _GETEVENTS)

    def close(self) -> None:
        """Release the ring."""
        self._rings.close()
        self._entries.close()
        os.close(self._fd)

    def _at(self, offset: int) -> int:
        value: int = _U32.unpack_from(self._rings, offset)[0]
        return value

    def _enter(self, submitted: int, least: int, flags: int) -> None:
        checked(libc.syscall(_ENTER, self._fd, submitted, least, flags, None, 0))
