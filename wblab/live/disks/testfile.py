"""The file used to measure a disk. It has no name, so nothing stays, however the program ends."""

import ctypes
import mmap
import os
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from errno import EINVAL, EISDIR, ENOENT, ENOSYS, EOPNOTSUPP
from fcntl import ioctl

from wblab.core.syscalls import checked, libc, sync_file_range
from wblab.live.disks.plan import LARGEST, SMALLEST

# Several concurrent reads from one thread: the kernel's asynchronous I/O (io_submit(2)).

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


_SETFLAGS, _NOCOW = 0x40086602, 0x00800000  # FS_IOC_SETFLAGS, FS_NOCOW_FL: linux/fs.h
_MANY = 21


class TestFile:
    """A file under a directory, whose blocks go to the disk at once.

    direct: bypassing the page cache (O_DIRECT). Otherwise each block is written out before the next, without a flush
    (sync_file_range(2)), and dropped from the page cache before it is read.
    """

    __test__ = False  # pytest

    def __init__(self, fd: int, direct: bool) -> None:
        self._fd = fd
        self.direct = direct
        self._block = mmap.mmap(-1, LARGEST)  # page-aligned, as O_DIRECT requires
        self._block.write(os.urandom(LARGEST))  # some disks are faster with zeros
        self._views = {size: memoryview(self._block)[:size] for size in (SMALLEST, 4 * SMALLEST, LARGEST)}
        self._into = mmap.mmap(-1, LARGEST)
        self._places = {size: memoryview(self._into)[:size] for size in self._views}
        self._reads: Reads | None = None
        if direct:
            with suppress(OSError):
                self._reads = Reads(fd, SMALLEST)

    @property
    def has_together(self) -> bool:
        """Whether several reads can be in flight at once."""
        return self._reads is not None

    now_ns = staticmethod(time.monotonic_ns)

    def write(self, offset: int, size: int) -> None:
        """Write a block. Raises OSError."""
        os.pwritev(self._fd, [self._views[size]], offset)
        if not self.direct:
            sync_file_range(self._fd)

    def read(self, offset: int, size: int) -> None:
        """Read a block from the disk. Raises OSError."""
        if not self.direct:
            os.posix_fadvise(self._fd, offset, size, os.POSIX_FADV_DONTNEED)
        os.preadv(self._fd, [self._places[size]], offset)

    def read_together(self, offsets: Sequence[int], size: int) -> None:
        """Read blocks concurrently. Raises OSError."""
        assert self._reads
        self._reads.read(offsets, size)

    def flush(self) -> None:
        """Flush the disk's cache to the medium. Raises OSError."""
        os.fdatasync(self._fd)

    def reserve(self, size: int) -> None:
        """Reserve space, if the filesystem can. Raises OSError, above all ENOSPC and EDQUOT."""
        try:
            checked(libc.fallocate(self._fd, 0, ctypes.c_int64(0), ctypes.c_int64(size)))
        except OSError as error:
            if error.errno not in (EOPNOTSUPP, ENOSYS):  # vfat
                raise

    def call_ns(self) -> int:
        """Return the time of an empty system call, in ns."""
        return sorted(self._timed(lambda: os.fstat(self._fd)) for _ in range(_MANY))[_MANY // 2]

    def _timed(self, call: Callable[[], object]) -> int:
        begin_ns = time.monotonic_ns()
        call()
        return time.monotonic_ns() - begin_ns

    def close(self) -> None:
        """Close the file and free its space."""
        if self._reads:
            self._reads.close()
        os.close(self._fd)


@contextmanager
def test_file(directory: int) -> Iterator[TestFile]:
    """Yield a new file on the filesystem of a directory, which is given by descriptor. Raises OSError."""
    fd, direct = _open(directory)
    with suppress(OSError):  # for btrfs; other filesystems do not copy on write
        ioctl(fd, _SETFLAGS, ctypes.c_int(_NOCOW))
    if not direct:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    file = TestFile(fd, direct)
    try:
        yield file
    finally:
        file.close()


def _open(directory: int) -> tuple[int, bool]:
    """Return a file without a name, and whether it bypasses the page cache."""
    try:
        return _open_nameless(directory, os.O_DIRECT), True
    except OSError as error:
        if error.errno != EINVAL:
            raise
        return _open_nameless(directory, 0), False


def _open_nameless(directory: int, flags: int) -> int:
    flags |= os.O_RDWR | os.O_CLOEXEC
    try:
        return os.open(".", flags | os.O_TMPFILE, 0o600, dir_fd=directory)
    except OSError as error:
        if error.errno not in (EOPNOTSUPP, EISDIR, ENOENT):  # vfat and exFAT have no nameless files
            raise
    name = f".wblab-{os.urandom(8).hex()}"
    fd = os.open(name, flags | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=directory)
    os.unlink(name, dir_fd=directory)
    return fd


test_file.__test__ = False  # type: ignore[attr-defined]
