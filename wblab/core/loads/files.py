"""The files that loads write to and read from."""

import os
from pathlib import Path

from wblab.core.loads.base import Progress

_PIECE_BYTES = 1 << 20


def create(path: Path) -> int:
    """Return a descriptor to write a file by, made with its directories, or emptied. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)


def lay_out(path: Path, size: int, progress: Progress) -> None:
    """Make a file of this size that is on the disk and not in memory, unless it has this size. Raises OSError.

    It is written and not only allocated: what was never written is read without the disk.
    """
    if path.is_file() and path.stat().st_size == size:
        return
    fd = create(path)
    try:
        for at in range(0, size, _PIECE_BYTES):
            piece = memoryview(bytes(min(_PIECE_BYTES, size - at)))
            while piece:
                piece = piece[os.write(fd, piece) :]
            os.fsync(fd)
            progress()
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(fd)
