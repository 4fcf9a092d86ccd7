"""Read numbers and strings from a file, never past its end."""

import os
from collections.abc import Callable

from tracecmd.errors import TraceError

_LONGEST_STRING_BYTES = 4096
_CHUNK_BYTES = 256
_WINDOW_BYTES = 1 << 16
_PIECE_BYTES = 1 << 20  # fits in the processor's cache


class RandomAccess:
    """Bytes read by offset: a file, or unpacked data.

    `order` is "<" or ">", the byte order of its numbers. Raises TraceError for reads past its end.
    """

    def __init__(self, read: Callable[[int, int], bytes], size_bytes: int, order: str, what: str) -> None:
        self._read, self.size_bytes, self.order, self.what = read, size_bytes, order, what

    @classmethod
    def of_file(cls, descriptor: int, order: str, what: str) -> "RandomAccess":
        """Return the bytes of an open file, which may be long: it is not read as a whole."""
        return cls(_Ahead(descriptor).read, os.fstat(descriptor).st_size, order, what)

    @classmethod
    def of_bytes(cls, data: bytes, order: str, what: str) -> "RandomAccess":
        """Return bytes that are in memory."""
        return cls(lambda size, at: data[at : at + size], len(data), order, what)

    def read(self, at: int, size_bytes: int) -> bytes:
        """Return `size_bytes` bytes from an offset."""
        if at < 0 or size_bytes < 0 or at + size_bytes > self.size_bytes:
            raise TraceError(
                f"{self.what} is truncated or damaged: it has {self.size_bytes} bytes, {size_bytes} at {at} are missing"
            )
        data = self._read(size_bytes, at)
        if len(data) != size_bytes:
            raise TraceError(f"{self.what} became shorter while it was read")
        return data

    def read_into(self, at: int, target: memoryview) -> None:
        """Fill existing memory from an offset."""
        for start in range(0, len(target), _PIECE_BYTES):
            piece = target[start : start + _PIECE_BYTES]
            piece[:] = self.read(at + start, len(piece))


class _Ahead:
    """Reads a file a window at a time, because most reads are a few bytes after the last."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._window, self._at = b"", 0

    def read(self, size_bytes: int, at: int) -> bytes:
        start = at - self._at
        if not 0 <= start <= start + size_bytes <= len(self._window):
            if size_bytes >= _WINDOW_BYTES:
                return os.pread(self._descriptor, size_bytes, at)
            self._window, self._at, start = os.pread(self._descriptor, _WINDOW_BYTES, at), at, 0
        return self._window[start : start + size_bytes]


class Cursor:
    """Reads a source sequentially from an offset."""

    def __init__(self, source: RandomAccess, at: int = 0) -> None:
        self.source, self.at = source, at

    def take(self, size_bytes: int) -> bytes:
        """Return the next bytes."""
        data = self.source.read(self.at, size_bytes)
        self.at += size_bytes
        return data

    def number(self, size_bytes: int) -> int:
        """Return the next unsigned number."""
        return int.from_bytes(self.take(size_bytes), "little" if self.source.order == "<" else "big")

    def u16(self) -> int:
        """Return the next 16-bit number."""
        return self.number(2)

    def u32(self) -> int:
        """Return the next 32-bit number."""
        return self.number(4)

    def u64(self) -> int:
        """Return the next 64-bit number."""
        return self.number(8)

    def string(self) -> str:
        """Return the next NUL-terminated string."""
        found = b""
        while len(found) < _LONGEST_STRING_BYTES:
            left = self.source.size_bytes - self.at - len(found)
            chunk = self.source.read(self.at + len(found), max(1, min(_CHUNK_BYTES, left)))
            before, nul, _ = chunk.partition(b"\0")
            found += before
            if nul:
                self.at += len(found) + 1
                return text(found)
        raise TraceError(f"{self.source.what} is damaged: at {self.at} there is no name")

    def sized(self, count_bytes: int) -> bytes:
        """Return bytes preceded by their length, a number of `count_bytes`."""
        return self.take(self.number(count_bytes))

    def expect(self, tag: bytes) -> None:
        """Skip a fixed tag; raise TraceError if it is missing."""
        at = self.at
        if self.take(len(tag)) != tag:
            raise TraceError(f"{self.source.what} is damaged: no {text(tag.strip(bytes(1)))!r} at {at}")


def text(data: bytes) -> str:
    r"""Return bytes as text, up to the first NUL; what is not UTF-8 becomes \xNN."""
    return data.partition(b"\0")[0].decode("utf-8", "backslashreplace")
