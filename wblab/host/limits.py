"""What a guest may take of the host before it is ended."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.core.units import format_bytes
from wblab.host.mkfs import Mkfs
from wblab.host.sparse import taken_bytes

_MOST_FILES = 1000


@dataclass(frozen=True)
class Limits:
    """Bounds on one guest.

    silence_s, wall_s: host time without a word (see wblab.host.silence), and in all. ending_s: from its word that it
    powers off to its end. said_bytes: its words in all.
    output_bytes: the files that it leaves. console_bytes: what its console prints. memory_bytes: memory of its
    processes, and of files that they hold, beside the guest's own. processes: their number.
    """

    silence_s: float = 60.0
    ending_s: float = 20.0
    wall_s: float = 6 * 3600.0
    said_bytes: int = 16 << 20
    output_bytes: int = 1 << 30
    console_bytes: int = 64 << 20
    memory_bytes: int = 1 << 30
    processes: int = 4096


class OverLimitError(WblabError):
    """A guest took more than it may."""


def check_files(limits: Limits, shared: Path, console: Path) -> None:
    """Raise OverLimitError for a guest that has written too much to its directory, or to its console."""
    used, count = _written(shared)
    if used > limits.output_bytes or count > _MOST_FILES:
        raise OverLimitError(
            f"the guest was ended: it wrote {format_bytes(used)} in {count} files, more than "
            f"{format_bytes(limits.output_bytes)} or {_MOST_FILES} files: trace fewer events, or raise --max-output"
        )
    if console.stat().st_size > limits.console_bytes:
        raise OverLimitError(f"the guest was ended: its console printed more than {format_bytes(limits.console_bytes)}")


def check_own(limits: Limits, own: Path) -> None:
    """Raise OverLimitError for a guest whose kernel has taken too much for files of its own, beside its memory."""
    used, count = _written(own)
    if used > limits.memory_bytes or count > _MOST_FILES:
        raise OverLimitError(
            f"the guest was ended: its kernel keeps {format_bytes(used)} in {count} files of its own, more than "
            f"{format_bytes(limits.memory_bytes)} or {_MOST_FILES} files"
        )


def _written(directory: Path) -> tuple[int, int]:
    """Return how much files below a directory hold, and how many there are; it counts no further than to the limit."""
    used = count = 0
    folders = [str(directory)]
    while folders and count <= _MOST_FILES:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    count += 1
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        used += _size_bytes(entry)
        except FileNotFoundError:  # it removes directories, or has ended
            continue
        except OSError as error:
            raise OverLimitError(f"the guest was ended: cannot read what it wrote: {error.strerror}") from None
    return used, count


def _size_bytes(entry: "os.DirEntry[str]") -> int:
    """Return what a file holds: a hole is nothing until it is copied. One that is removed meanwhile holds nothing."""
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return 0
    return max(status.st_blocks * 512, status.st_size)


def check_disks(disks: Mapping[int, Mkfs]) -> None:
    """Raise OverLimitError for a guest that has written more to a disk, by file descriptor, than that may take."""
    for fd, mkfs in disks.items():
        if 0 < mkfs.resident_bytes < taken_bytes(fd):
            raise OverLimitError(
                f"the guest was ended: a disk took more than {format_bytes(mkfs.resident_bytes)} of memory: "
                f"raise {mkfs.key}.resident"
            )


def check_wall(limits: Limits, started_s: float) -> None:
    """Raise OverLimitError for a guest that started at that time.monotonic() and takes too long."""
    if time.monotonic() - started_s > limits.wall_s:
        raise OverLimitError(f"the guest was ended: it took longer than {limits.wall_s:g} s: raise --max-time")


def check_said(limits: Limits, said_bytes: int) -> None:
    """Raise OverLimitError for a guest that talks too much."""
    if said_bytes > limits.said_bytes:
        raise OverLimitError(f"the guest was ended: it sent more than {format_bytes(limits.said_bytes)} of messages")
