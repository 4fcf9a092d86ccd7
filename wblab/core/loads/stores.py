"""Stores of a server's objects: numbered, and all of one size.

To get or put an object is a generator, which yields each system call and is sent its result.
"""

import os
from collections.abc import Generator
from pathlib import Path
from typing import Literal, Protocol

from wblab.core.loads.base import Progress
from wblab.core.loads.engines import Call
from wblab.core.loads.files import lay_out
from wblab.core.syscalls import syncfs

Kind = Literal["files", "packed", "cyclic"]
Work = Generator[Call, int, None]
SEGMENT_BYTES = 1 << 20


class Store(Protocol):
    """A store at `path` of `count` objects of `block` bytes. cold: an object leaves the page cache once it is read."""

    def get(self, number: int) -> Work:
        """Return the calls that read an object."""

    def put(self, number: int) -> Work:
        """Return the calls that replace an object by a new one."""

    def close(self) -> None:
        """Close what is open. Raises OSError."""


class Files:
    """One file per object, in two levels of directories."""

    def __init__(self, path: Path, count: int, block: int, cold: bool) -> None:
        self._path, self._block, self._cold = path, block, cold
        self._put: set[int] = set()

    def get(self, number: int) -> Work:
        fd = yield Call("open", path=_object(self._path, number))
        yield Call("read", fd, bytearray(self._block))
        if self._cold and number not in self._put:
            _drop(fd, 0, self._block)
        yield Call("close", fd)

    def put(self, number: int) -> Work:
        self._put.add(number)
        path = _object(self._path, number)
        yield Call("unlink", path=path)
        fd = yield Call("open", path=path, flags=os.O_RDWR | os.O_CREAT | os.O_EXCL)
        yield Call("write", fd, bytes(self._block))
        yield Call("close", fd)

    def close(self) -> None:
        pass


class Packed:
    """All objects in one file, each at a fixed offset."""

    def __init__(self, path: Path, count: int, block: int, cold: bool) -> None:
        self._block, self._cold, self._fd = block, cold, os.open(path, os.O_RDWR)
        self._put: set[int] = set()

    def get(self, number: int) -> Work:
        at = number * self._block
        yield Call("read", self._fd, bytearray(self._block), at)
        if self._cold and number not in self._put:
            _drop(self._fd, at, self._block)

    def put(self, number: int) -> Work:
        self._put.add(number)
        yield Call("write", self._fd, bytes(self._block), number * self._block)

    def close(self) -> None:
        os.close(self._fd)


class Cyclic:
    """One file that is overwritten from start to end, a segment at a time, again and again.

    A new segment overwrites old objects; each is stored again when it is next requested. The objects of the segment
    that is being filled are in memory.
    """

    def __init__(self, path: Path, count: int, block: int, cold: bool) -> None:
        self._block, self._cold, self._fd = block, cold, os.open(path, os.O_RDWR)
        self._room = segment_objects(block)  # objects in a segment
        self._places = places(count, block)
        self._place_of = {number: number for number in range(count)}
        self._object_at = dict(self._place_of)
        self._in_memory: set[int] = set()
        self._put: set[int] = set()  # places written since the start
        self._head = 0

    def get(self, number: int) -> Work:
        if number not in self._place_of:
            yield from self.put(number)
        elif number not in self._in_memory:
            place = self._place_of[number]
            yield Call("read", self._fd, bytearray(self._block), place * self._block)
            if self._cold and place not in self._put:
                _drop(self._fd, place * self._block, self._block)

    def put(self, number: int) -> Work:
        if self._head % self._room == 0:
            self._lose(range(self._head, self._head + self._room))
        self._forget(number)
        place = self._head
        self._head = (place + 1) % self._places
        self._place_of[number], self._object_at[place] = place, number
        self._in_memory.add(number)
        self._put.add(place)
        if self._head % self._room == 0:
            first = place + 1 - self._room
            written = [self._object_at[at] for at in range(first, place + 1) if at in self._object_at]
            yield Call("write", self._fd, bytes(self._room * self._block), first * self._block)
            self._in_memory.difference_update(written)

    def close(self) -> None:
        os.close(self._fd)

    def _lose(self, places: range) -> None:
        for place in places:
            if place in self._object_at:
                self._forget(self._object_at[place])

    def _forget(self, number: int) -> None:
        if number in self._place_of:
            del self._object_at[self._place_of.pop(number)]


STORES: dict[Kind, type[Files] | type[Packed] | type[Cyclic]] = {"files": Files, "packed": Packed, "cyclic": Cyclic}


def segment_objects(block: int) -> int:
    """Return the number of objects in a segment."""
    return max(1, SEGMENT_BYTES // block)


def places(count: int, block: int) -> int:
    """Return the number of places in a cyclic store of `count` objects: whole segments."""
    return -(-count // segment_objects(block)) * segment_objects(block)


def lay_out_objects(kind: Kind, path: Path, count: int, block: int, progress: Progress) -> None:
    """Make the missing parts of a store, on the disk but not in the page cache. Raises OSError."""
    if kind != "files":
        lay_out(path, (places(count, block) if kind == "cyclic" else count) * block, progress)
        return
    made = [Path(_object(path, number)) for number in range(count)]
    missing = [one for one in made if not one.is_file() or one.stat().st_size != block]
    for one in missing:
        one.parent.mkdir(parents=True, exist_ok=True)
        one.write_bytes(bytes(block))
        progress()
    if missing:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        syncfs(fd)
        os.close(fd)
    for one in missing:
        fd = os.open(one, os.O_RDONLY)
        _drop(fd, 0, block)
        os.close(fd)


def _object(path: Path, number: int) -> str:
    return f"{path}/{number % 16:02x}/{number // 16 % 16:02x}/{number:08x}"


def _drop(fd: int, at: int, length: int) -> None:
    os.posix_fadvise(fd, at, length, os.POSIX_FADV_DONTNEED)
