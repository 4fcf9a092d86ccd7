"""A reader of trace.dat, the file of trace-cmd, in NumPy: columns.

    trace = tracecmd.open("trace.dat")
    events = trace.events("global_dirty_state")
    events["nr_dirty"], events.ts_ns, events.to_pandas()

It needs NumPy, zstandard where a trace is packed with it, and pandas for tables; nothing of the lab around it.
"""

import os

from tracecmd.buffers import LostEvents
from tracecmd.errors import TraceError
from tracecmd.events import Events
from tracecmd.formats import EventFormat, Field
from tracecmd.symbols import Symbols
from tracecmd.trace import Info, TraceFile

__all__ = [
    "EventFormat",
    "Events",
    "Field",
    "Info",
    "LostEvents",
    "Symbols",
    "TraceError",
    "TraceFile",
    "open",
]


def open(path: str | os.PathLike[str], limit_bytes: int | None = None) -> TraceFile:  # noqa: A001 - as in gzip.open
    """Open a trace.dat. Raises OSError; TraceError if it is not a trace.dat, or damaged.

    A compressed file is unpacked up to `limit_bytes`. The default is a multiple of the file's size, far above what
    traces need.
    """
    return TraceFile(path, limit_bytes)
