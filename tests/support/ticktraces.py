"""Traces of a few events at whole milliseconds."""

import struct

from .runs import MS, S
from .tracewriter import Ring, TraceWriter, event_format

FORMATS = {
    "test": [
        event_format("tick", 300, "u32 value 8 4 0"),
        event_format("tock", 301, "u32 value 8 4 0"),
        event_format("named", 302, "__data_loc char[] name 8 4 1\nu16 ino 12 2 0\nu8 kind 16 1 0\nchar rwbs[4] 20 4 1"),
    ]
}


def trace(*events, pages=1):
    """Return a trace of events (type, ms since the start, value), spread evenly over the pages."""
    ring = Ring()
    count = -(-len(events) // pages) or 1
    laid = []
    for start in range(0, max(1, len(events)), count):
        part = events[start : start + count]
        before, entries = S, []
        for number, ms, value in part:
            time = S + ms * MS
            entries.append(ring.extend(time - before) + ring.data(0, ring.record(number, 9, struct.pack("<I", value))))
            before = time
        laid.append(ring.page(S, entries))
    return TraceWriter(ring, formats=FORMATS, cmdlines="9 task\n", buffers={"": [laid]}).encode()


def named(text, *, ino=0, kind=1, rwbs=b"W", junk=b""):
    """Return a trace of one event with a string, and with junk in its unused bytes."""
    ring, data = Ring(), text.encode() + b"\0"
    junk += bytes(4)
    word = (rwbs + b"\0" + junk)[:4]
    fields = struct.pack("<IH2sB3s4s", len(data) << 16 | 24, ino, junk[:2], kind, junk[:3], word) + data + junk
    page = ring.page(S, [ring.extend(0) + ring.data(0, ring.record(302, 9, fields))])
    return TraceWriter(ring, formats=FORMATS, cmdlines="9 task\n", buffers={"": [[page]]}).encode()
