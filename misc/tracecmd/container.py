"""The file format of trace.dat, versions 6 and 7, parsed into what both contain (trace-cmd.dat.v6(5), v7(5))."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from tracecmd.binary import Cursor, Source
from tracecmd.compression import Budget, Codec
from tracecmd.errors import TraceError
from tracecmd.options import Options

_MAGIC = b"\x17\x08\x44tracing"
# Pages of the ring buffer are up to 128 system pages (kernel/trace/trace.c: buffer_subbuf_size_write()), of 64 KiB.
_LARGEST_PAGE_BYTES = 128 << 16


@dataclass(frozen=True)
class CpuData:
    """Location of one CPU's pages."""

    cpu: int
    at: int
    size_bytes: int
    packed: bool = False


@dataclass(frozen=True)
class BufferData:
    """One buffer: the top one, with an empty name, or an instance. It is marked if it holds text instead of events."""

    name: str
    clock: str
    page_bytes: int
    cpus: tuple[CpuData, ...]
    is_text: bool = False


@dataclass
class Contents:
    """The content of a file of either version."""

    source: Source
    version: int
    order: str
    long_bytes: int  # of the traced machine's user space
    page_bytes: int
    codec: Codec
    header_page: str = ""
    event_formats: list[tuple[str, str]] = field(default_factory=list)  # system and format
    cmdlines: str = ""
    options: Options = field(default_factory=Options)
    buffers: list[BufferData] = field(default_factory=list)
    texts: dict[str, Callable[[], str]] = field(default_factory=dict)  # kallsyms and printk, read on demand

    def unpacked(self, data: CpuData) -> bytes | None:
        """Return the pages of one CPU if they are compressed; None if they lie uncompressed in the file."""
        return b"".join(self.codec.chunks(Cursor(self.source, data.at))) if data.packed else None


def read_contents(descriptor: int, what: str, limit_bytes: int) -> Contents:
    """Parse an open file; unpack at most `limit_bytes`. Raises TraceError."""
    start = Cursor(Source.of_file(descriptor, "<", what))
    size_bytes = os.fstat(descriptor).st_size
    if size_bytes < len(_MAGIC) or start.take(len(_MAGIC)) != _MAGIC:
        raise TraceError(f"{what} is not a trace.dat: it does not begin like a file of trace-cmd")
    version, order = start.string(), start.number(1)
    if version not in ("6", "7"):
        raise TraceError(f"{what} is a trace.dat of version {version!r}; supported are 6 and 7")
    if order not in (0, 1):
        raise TraceError(f"{what} is damaged: its byte order is {order}, not 0 or 1")
    cursor = Cursor(Source.of_file(descriptor, "<>"[order], what), start.at)
    long_bytes, page_bytes = cursor.number(1), cursor.u32()
    if long_bytes not in (4, 8):
        raise TraceError(f"{what} is damaged: it states that a long has {long_bytes} bytes")
    algorithm = "none"
    if version == "7":
        algorithm, _ = cursor.string(), cursor.string()
    contents = Contents(
        cursor.source,
        int(version),
        "<>"[order],
        long_bytes,
        checked_page_bytes(page_bytes, what),
        Codec(algorithm, Budget(limit_bytes)),
    )
    if version == "6":
        from tracecmd.v6 import read_v6

        read_v6(contents, cursor)
    else:
        from tracecmd.v7 import read_v7

        read_v7(contents, cursor)
    return contents


def checked_page_bytes(page_bytes: int, what: str) -> int:
    """Return the size of a page. Raises TraceError for a size that no kernel uses."""
    if not 32 <= page_bytes <= _LARGEST_PAGE_BYTES or page_bytes % 8:
        raise TraceError(f"{what} is damaged: its pages would have {page_bytes} bytes")
    return page_bytes
