"""Loads that work on a file, and how the file is made."""

import os
from dataclasses import dataclass
from pathlib import Path

from wblab.core.loads.base import Load, Progress
from wblab.core.parameters import check_block, check_file, check_whole_blocks
from wblab.core.units import Bytes

_PIECE_BYTES = 1 << 20


@dataclass(frozen=True, kw_only=True)
class OnFile(Load):
    """Works on `file`, a path relative to the load's directory."""

    file: str

    def check(self, path: str = "") -> None:
        super().check(path)
        check_file(f"{path}file", self.file)


@dataclass(frozen=True, kw_only=True)
class OnWholeFile(OnFile):
    """Works on blocks of a file that has its full `size` from the start."""

    size: Bytes
    block: Bytes = Bytes(4096)

    @property
    def files(self) -> dict[str, Bytes]:
        return {self.file: self.size}

    def check(self, path: str = "") -> None:
        super().check(path)
        check_block(f"{path}block", self.block)
        check_whole_blocks(f"{path}size", self.size, self.block)

    def lay_out(self, mount: Path, progress: Progress = lambda: None) -> None:
        lay_out(mount / self.file, self.size, progress)


def create(path: Path) -> int:
    """Create or truncate a file, with its directories; return a descriptor for writing. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)


def lay_out(path: Path, size: int, progress: Progress) -> None:
    """Make a file of this size, on the disk but not in the page cache, unless there is one. Raises OSError.

    It is written, not only allocated: reading unwritten blocks needs no disk.
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
