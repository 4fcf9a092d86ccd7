"""What a guest may take of the host before it is ended."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.core.units import format_bytes
from wblab.host.disks.holes import taken_bytes
from wblab.host.disks.mkfs import Mkfs
from wblab.host.process.unlinked import Unlinked, devices, unlinked_files
from wblab.host.process.usage import page_table_bytes, private_bytes

# Whether a guest's processes take more of the host's memory than they may.

# A kernel hands files to its processes through sockets, a few at a time: on a busy machine a look finds one now and
# then, never all the time.
_MOST_UNDER_WAY = 64
_LONGEST_UNDER_WAY = 10  # looks, one after the other
# For an instant, a kernel that starts has a page that it shares with a process and that nobody has open.
_LONGEST_MAPPED = 3
# Each takes memory of the host's kernel (struct vm_area_struct, and its place in a tree), beside the page tables. A run
# has some thousands.
_MOST_MAPPINGS, _MAPPING_BYTES = 1 << 20, 256


@dataclass(frozen=True)
class ProcessBounds:
    """What processes may take: files without a name up to own_bytes, and memory_bytes besides; and their number."""

    own_bytes: int
    memory_bytes: int
    processes: int


@dataclass(frozen=True)
class ProcessUsage:
    """What processes take, by their numbers: memory of their own, page tables, and files without a name.

    files: on these devices, of at most so many mappings. By default, as /proc says.
    """

    private_bytes: Callable[[Sequence[int]], int] = private_bytes
    page_table_bytes: Callable[[Sequence[int]], int] = page_table_bytes
    files: Callable[[Sequence[int], frozenset[int], int], Unlinked] = unlinked_files


_USAGE = ProcessUsage()


class LimitWatch:
    """Looks at a guest's processes again and again, and says what is too much."""

    def __init__(self, bounds: ProcessBounds, scratch: Path, usage: ProcessUsage = _USAGE) -> None:
        self._bounds, self._usage = bounds, usage
        self._devices = devices(scratch)
        self._under_way = self._mapped = 0  # looks in a row at which there was some

    def excess(self, pids: Sequence[int]) -> str:
        """Return what these processes take too much of; empty where all is within bounds."""
        bounds = self._bounds
        if len(pids) > bounds.processes:
            return f"it had more than {bounds.processes} processes"
        now = self._usage.files(pids, self._devices, _MOST_MAPPINGS)
        self._under_way = self._under_way + 1 if now.under_way else 0
        self._mapped = self._mapped + 1 if now.mapped else 0
        if now.mappings > _MOST_MAPPINGS:
            return f"its processes had more than {_MOST_MAPPINGS:,} mappings"
        of_kernel = self._usage.page_table_bytes(pids) + now.mappings * _MAPPING_BYTES
        if (
            self._usage.private_bytes(pids) + of_kernel + max(0, now.taken_bytes - bounds.own_bytes)
            > bounds.memory_bytes
        ):
            return f"its processes took more than {format_bytes(bounds.memory_bytes)} of memory"
        if now.hidden or self._mapped >= _LONGEST_MAPPED or self._under_way >= _LONGEST_UNDER_WAY:
            return "its processes hide files that they hold in memory"
        if now.under_way > _MOST_UNDER_WAY or now.channels > 2 * bounds.processes:
            return "its processes have too many sockets, pipes, or files in them"
        return ""


_MOST_FILES = 1000


@dataclass(frozen=True)
class Limits:
    """Bounds on one guest.

    silence_s, wall_s: host time without a word (see channel.py), and in all. ending_s: from its word that it
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
