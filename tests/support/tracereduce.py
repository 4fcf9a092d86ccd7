"""Make a small trace.dat from a recorded one: some pages, their events' formats, no kernel symbols.

PYTHONPATH=misc:tests python -m support.tracereduce FROM TO [PAGES]
"""

import sys
from pathlib import Path

import numpy as np
import tracecmd
from tracecmd import options

from .tracewriter import Ring, TraceWriter

KEPT = (options.UNAME, options.VERSION, options.TRACEID, options.CPUCOUNT)


def reduced(trace: tracecmd.TraceFile, pages: int | None = None) -> TraceWriter:
    """Return a trace of the first pages (or all) of each buffer, from a machine with one CPU."""
    info, contents = trace.info, trace._contents
    assert info.cpus == 1
    ring = Ring({"little": "<", "big": ">"}[info.byte_order], info.long_bytes, info.page_bytes)
    walks = {name: trace._walk(name) for name in info.buffers}
    buffers = {
        name: [[page.tobytes() for page in walked.data.reshape(-1, ring.page_bytes)[:pages]]]
        for name, walked in walks.items()
    }
    limit = np.iinfo(np.int64).max if pages is None else pages * ring.page_bytes // 4
    occur = {
        number
        for walked in walks.values()
        for number, which in walked.by_type.items()
        if walked.entries.places[which].min() < limit
    }
    formats: dict[str, list[str]] = {}
    for (system, text), parsed in zip(contents.event_formats, trace.formats.values(), strict=True):
        if parsed.id in occur:
            formats.setdefault(system, []).append(text)
    kept = [(number, data) for number, data in contents.options.items if number in KEPT]
    return TraceWriter(ring, info.version, info.compression, formats, contents.cmdlines, info.clock, kept, buffers)


if __name__ == "__main__":
    with tracecmd.open(sys.argv[1]) as recorded:
        made = reduced(recorded, int(sys.argv[3]) if len(sys.argv) > 3 else None)
    Path(sys.argv[2]).write_bytes(made.encode())
