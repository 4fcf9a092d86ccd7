"""An archive of files as the kernel unpacks it at boot (Documentation/driver-api/early-userspace/buffer-format.rst)."""

import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

_END = "TRAILER!!!"


@dataclass(frozen=True)
class Entry:
    """A file of the archive. path: absolute. mode: with the type. device: major and minor of a device node."""

    path: str
    mode: int
    data: bytes = b""
    device: tuple[int, int] = (0, 0)


def regular(path: str, data: bytes, *, executable: bool = False) -> Entry:
    """Return a regular file."""
    return Entry(path, stat.S_IFREG | (0o755 if executable else 0o644), data)


def link(path: str, target: str) -> Entry:
    """Return a symbolic link."""
    return Entry(path, stat.S_IFLNK | 0o777, target.encode())


def archive(entries: Iterable[Entry]) -> bytes:
    """Return the archive, with all directories on the way: the same bytes for the same entries."""
    parts: list[bytes] = []
    for number, entry in enumerate((*_with_directories(entries), Entry(_END, 0)), 1):
        parts += _record(entry, number if entry.path != _END else 0)
    return b"".join(parts)


def _with_directories(entries: Iterable[Entry]) -> Iterator[Entry]:
    made: set[str] = {"/"}
    for entry in entries:
        for parent in reversed(PurePosixPath(entry.path).parents):
            if str(parent) not in made:
                made.add(str(parent))
                yield Entry(str(parent), stat.S_IFDIR | 0o755)
        if entry.path not in made:
            made.add(entry.path)
            yield entry


def _record(entry: Entry, inode: int) -> Iterator[bytes]:
    name = entry.path.lstrip("/").encode() + b"\0"
    links = 2 if stat.S_ISDIR(entry.mode) else 1
    major, minor = entry.device
    fields = (inode, entry.mode, 0, 0, links, 0, len(entry.data), 0, 0, major, minor, len(name), 0)
    head = b"070701" + b"".join(f"{field:08x}".encode() for field in fields) + name
    yield head + bytes(-len(head) % 4)
    yield entry.data + bytes(-len(entry.data) % 4)
