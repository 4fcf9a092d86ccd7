"""The file that a disk is measured with: it has no name, so that nothing of it stays, whatever ends the program."""

import ctypes
import mmap
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from errno import EINVAL, EISDIR, ENOENT, ENOSYS, EOPNOTSUPP
from fcntl import ioctl

from wblab.core.syscalls import checked, libc, sync_file_range
from wblab.disks.aio import Reads
from wblab.disks.plan import LARGEST, SMALLEST

_SETFLAGS, _NOCOW = 0x40086602, 0x00800000  # FS_IOC_SETFLAGS, FS_NOCOW_FL: linux/fs.h
_MANY = 21


class TestFile:
    """A file below a directory, of blocks that go to the disk at once.

    direct: around the page cache (O_DIRECT). Otherwise each block is written out, which is not flushed, before the
    next (sync_file_range(2)), and the page cache forgets a block before it is read.
    """

    __test__ = False  # pytest

    def __init__(self, fd: int, direct: bool) -> None:
        self._fd = fd
        self.direct = direct
        self._block = mmap.mmap(-1, LARGEST)  # at a page's begin, as O_DIRECT wants it
        self._block.write(os.urandom(LARGEST))  # some disks are quicker with zeros
        self._views = {size: memoryview(self._block)[:size] for size in (SMALLEST, 4 * SMALLEST, LARGEST)}
        self._into = mmap.mmap(-1, LARGEST)
        self._places = {size: memoryview(self._into)[:size] for size in self._views}
        self._reads: Reads | None = None
        if direct:
            with suppress(OSError):
                self._reads = Reads(fd, SMALLEST)

    @property
    def has_together(self) -> bool:
        """Whether several reads can be under way at once."""
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
        """Read blocks at once. Raises OSError."""
        assert self._reads
        self._reads.read(offsets, size)

    def flush(self) -> None:
        """Have the disk bring what it has in its cache to the medium. Raises OSError."""
        os.fdatasync(self._fd)

    def reserve(self, size: int) -> None:
        """Have the filesystem keep room, where it can. Raises OSError, above all ENOSPC and EDQUOT."""
        try:
            checked(libc.fallocate(self._fd, 0, ctypes.c_int64(0), ctypes.c_int64(size)))
        except OSError as error:
            if error.errno not in (EOPNOTSUPP, ENOSYS):  # vfat
                raise

    def call_ns(self) -> int:
        """Return what a system call takes that has nothing to do."""
        return sorted(self._timed(lambda: os.fstat(self._fd)) for _ in range(_MANY))[_MANY // 2]

    def _timed(self, call: Callable[[], object]) -> int:
        begin_ns = time.monotonic_ns()
        call()
        return time.monotonic_ns() - begin_ns

    def close(self) -> None:
        """Let the file go, and its room with it."""
        if self._reads:
            self._reads.close()
        os.close(self._fd)


@contextmanager
def test_file(directory: int) -> Iterator[TestFile]:
    """Yield a new file on the filesystem of a directory, held by its descriptor. Raises OSError."""
    fd, direct = _open(directory)
    with suppress(OSError):  # btrfs; elsewhere there is nothing to copy on a write
        ioctl(fd, _SETFLAGS, ctypes.c_int(_NOCOW))
    if not direct:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    file = TestFile(fd, direct)
    try:
        yield file
    finally:
        file.close()


def _open(directory: int) -> tuple[int, bool]:
    """Return a file without a name, and whether it goes around the page cache."""
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
        if error.errno not in (EOPNOTSUPP, EISDIR, ENOENT):  # vfat and exFAT know no such files
            raise
    name = f".wblab-{os.urandom(8).hex()}"
    fd = os.open(name, flags | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=directory)
    os.unlink(name, dir_fd=directory)
    return fd


test_file.__test__ = False  # type: ignore[attr-defined]
