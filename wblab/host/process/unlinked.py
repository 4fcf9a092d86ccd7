"""What processes hold of memory in files that no directory has. Source: proc(5), unix(7).

Such a file, a memfd or one whose name was removed, takes memory for as long as somebody has it open or mapped, or has
sent it through a socket from which nobody has taken it yet. A descriptor tells a file's size. Only root can size a file
that is mapped but not open; nobody can size one in transit.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wblab.host.process.usage import threads

# A mapping of a file without a name: its range, and its device with its inode.
_MAPPED = re.compile(rb"^(\S+) \S+ \S+ (\S+ \d+) .*\(deleted\)$", re.MULTILINE)
_UNDER_WAY = re.compile(rb"^scm_fds:\s*(\d+)", re.MULTILINE)

_Inode = tuple[int, int]  # device and number


@dataclass(frozen=True)
class Unlinked:
    """taken_bytes: by files without a name. mapped: of how many, mapped and not open, we cannot know what they take.

    under_way: descriptors in sockets. channels: sockets and pipes. hidden: threads that we may not look at.
    mappings: of all kinds, which each take memory of the host's kernel.
    """

    taken_bytes: int
    mapped: int
    under_way: int
    channels: int
    hidden: int
    mappings: int = 0


def devices(directory: Path) -> frozenset[int]:
    """Return the devices of files in memory: that of a directory, and that of memfds."""
    memory = os.memfd_create("wblab-device")
    try:
        return frozenset((os.stat(directory).st_dev, os.fstat(memory).st_dev))
    finally:
        os.close(memory)


def unlinked_files(pids: Iterable[int], on: frozenset[int], most_mappings: int = 1 << 20) -> Unlinked:
    """Return what processes hold on these devices. One that ends meanwhile holds nothing.

    Not all is looked at where they have more than `most_mappings`.
    """
    mappings: dict[Path, int] = {}  # of a process: its threads share them
    taken: dict[_Inode, int] = {}
    mapped: dict[_Inode, str] = {}
    channels: set[_Inode] = set()
    under_way = hidden = 0
    for thread in (each for pid in pids for each in threads(pid)):
        try:
            # Mappings first: a file that is open all the time is then seen to be, whenever it was mapped.
            listed = (thread / "maps").read_bytes()
            mappings[thread.parent] = max(mappings.get(thread.parent, 0), listed.count(b"\n"))
            if sum(mappings.values()) > most_mappings:
                break
            mapped |= dict(_mapped(thread, listed, on))
            for path, status in _open(thread):
                inode = status.st_dev, status.st_ino
                if status.st_dev in on and stat.S_ISREG(status.st_mode) and not status.st_nlink:
                    taken[inode] = status.st_blocks * 512
                elif stat.S_ISSOCK(status.st_mode) or stat.S_ISFIFO(status.st_mode):
                    under_way += 0 if inode in channels else _under_way(path)
                    channels.add(inode)
        except PermissionError:
            hidden += _has_memory(thread)
        except OSError:  # it has ended
            continue
    unknown = 0
    for inode in mapped.keys() - taken.keys():
        try:
            taken[inode] = os.stat(mapped[inode]).st_blocks * 512
        except FileNotFoundError:
            continue
        except OSError:
            unknown += 1
    return Unlinked(sum(taken.values()), unknown, under_way, len(channels), hidden, sum(mappings.values()))


def _has_memory(thread: Path) -> bool:
    """Whether a thread still runs: of one that ends, only root may see what it had."""
    with suppress(OSError):
        return not (thread / "statm").read_text().startswith("0 ")
    return False


def _mapped(thread: Path, listed: bytes, on: frozenset[int]) -> Iterator[tuple[_Inode, str]]:
    """Yield each file once: a guest's process has a thousand mappings of one."""
    for file, span in {file: span for span, file in _MAPPED.findall(listed)}.items():
        device, number = file.split()
        major, minor = (int(part, 16) for part in device.split(b":"))
        if os.makedev(major, minor) in on:
            begin, end = (int(part, 16) for part in span.split(b"-"))
            yield (os.makedev(major, minor), int(number)), f"{thread.parent.parent}/map_files/{begin:x}-{end:x}"


def _open(thread: Path) -> Iterator[tuple[str, os.stat_result]]:
    for number in os.listdir(thread / "fd"):
        with suppress(FileNotFoundError):  # closed meanwhile
            yield f"{thread}/fdinfo/{number}", os.stat(f"{thread}/fd/{number}")


def _under_way(path: str) -> int:
    with suppress(FileNotFoundError):
        found = _UNDER_WAY.search(Path(path).read_bytes())
        return int(found[1]) if found else 0
    return 0
