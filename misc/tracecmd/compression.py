"""Compressed parts of a trace (trace-cmd.dat.v7(5)): sections in one piece, trace data in chunks."""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tracecmd.binary import Cursor
from tracecmd.errors import TraceError


@dataclass
class Budget:
    """How many bytes may still be unpacked, so a hostile file cannot fill the memory."""

    left_bytes: int

    def take(self, size_bytes: int, what: str) -> None:
        """Count bytes. Raises TraceError if there are too many."""
        self.left_bytes -= size_bytes
        if self.left_bytes < 0:
            raise TraceError(
                f"{what} unpacks to far more than its size, which a trace does not do; if it is genuine, raise "
                "limit_bytes"
            )


class Codec:
    """Unpacks data of one algorithm. Raises TraceError for an unknown algorithm."""

    def __init__(self, algorithm: str, budget: Budget) -> None:
        unpackers: dict[str, Callable[[bytes, int], bytes]] = {"zstd": _unzstd, "zlib": _unzlib}
        if algorithm not in (*unpackers, "none"):
            raise TraceError(f"this trace is compressed with {algorithm!r}; supported are zstd, zlib and none")
        self.algorithm, self.budget = algorithm, budget
        self._unpack = unpackers.get(algorithm)

    def section(self, cursor: Cursor) -> bytes:
        """Return a section that is compressed in one piece."""
        packed_bytes, size_bytes = cursor.u32(), cursor.u32()
        return self._piece(cursor, packed_bytes, size_bytes)

    def chunks(self, cursor: Cursor) -> Iterator[bytes]:
        """Yield the chunks of trace data."""
        for _ in range(cursor.u32()):
            packed_bytes, size_bytes = cursor.u32(), cursor.u32()
            yield self._piece(cursor, packed_bytes, size_bytes)

    def _piece(self, cursor: Cursor, packed_bytes: int, size_bytes: int) -> bytes:
        what = cursor.source.what
        if self._unpack is None:
            raise TraceError(f"{what} has a compressed section but names no algorithm")
        at = cursor.at
        packed = cursor.take(packed_bytes)
        self.budget.take(size_bytes, what)
        try:
            data = self._unpack(packed, size_bytes)
        except TraceError:
            raise
        except ValueError as error:
            raise TraceError(f"{what} is damaged: cannot unpack {packed_bytes} bytes at {at}: {error}") from None
        if len(data) != size_bytes:
            raise TraceError(f"{what} is damaged: {packed_bytes} bytes at {at} unpack to another size than stated")
        return data


def _unzlib(packed: bytes, size_bytes: int) -> bytes:
    try:
        # one byte more, to notice data longer than stated
        return zlib.decompressobj().decompress(packed, size_bytes + 1)
    except zlib.error as error:
        raise ValueError(error) from None


def _unzstd(packed: bytes, size_bytes: int) -> bytes:
    try:
        import zstandard
    except ImportError:
        raise TraceError("this trace is compressed with zstd: install the Python package zstandard") from None
    try:
        # The allocation follows the size in the frame, not the one requested.
        if (said := zstandard.frame_content_size(packed)) not in (-1, size_bytes):
            raise ValueError(f"its frame states {said} bytes, not {size_bytes}")
        return zstandard.ZstdDecompressor().decompress(packed, max_output_size=size_bytes + 1)
    except zstandard.ZstdError as error:
        raise ValueError(error) from None
