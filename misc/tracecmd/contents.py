"""The content of a trace.dat, whichever version its format has."""

from collections.abc import Callable
from dataclasses import dataclass, field

from tracecmd.binary import Cursor, RandomAccess
from tracecmd.compression import Codec
from tracecmd.errors import TraceError
from tracecmd.options import Options

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

    source: RandomAccess
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


def checked_page_bytes(page_bytes: int, what: str) -> int:
    """Return the size of a page. Raises TraceError for a size that no kernel uses."""
    if not 32 <= page_bytes <= _LARGEST_PAGE_BYTES or page_bytes % 8:
        raise TraceError(f"{what} is damaged: its pages would have {page_bytes} bytes")
    return page_bytes
