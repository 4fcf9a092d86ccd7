"""The file format of trace.dat, versions 6 and 7, parsed into what both contain (trace-cmd.dat.v6(5), v7(5))."""

import os

from tracecmd.binary import Cursor, RandomAccess
from tracecmd.compression import Budget, Codec
from tracecmd.contents import Contents, checked_page_bytes
from tracecmd.errors import TraceError
from tracecmd.v6 import read_v6
from tracecmd.v7 import read_v7

_MAGIC = b"\x17\x08\x44tracing"


def read_contents(descriptor: int, what: str, limit_bytes: int) -> Contents:
    """Parse an open file; unpack at most `limit_bytes`. Raises TraceError."""
    start = Cursor(RandomAccess.of_file(descriptor, "<", what))
    size_bytes = os.fstat(descriptor).st_size
    if size_bytes < len(_MAGIC) or start.take(len(_MAGIC)) != _MAGIC:
        raise TraceError(f"{what} is not a trace.dat: it does not begin like a file of trace-cmd")
    version, order = start.string(), start.number(1)
    if version not in ("6", "7"):
        raise TraceError(f"{what} is a trace.dat of version {version!r}; supported are 6 and 7")
    if order not in (0, 1):
        raise TraceError(f"{what} is damaged: its byte order is {order}, not 0 or 1")
    cursor = Cursor(RandomAccess.of_file(descriptor, "<>"[order], what), start.at)
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
    read = read_v6 if version == "6" else read_v7
    read(contents, cursor)
    return contents
