"""Read all of a trace that may be damaged, within limits."""

import contextlib
import tracemalloc

import tracecmd
from tracecmd import TraceError


def read_all(path):
    """Read everything that a trace offers."""
    with tracecmd.open(path) as trace:
        assert trace.info
        for part in ("kallsyms", "printk"):
            trace.text(part)
        for buffer in trace.info.buffers:
            try:
                names = list(trace.counts(buffer))
            except TraceError:
                continue
            for name in names:
                events = trace.events(name, buffer=buffer).read()
                for column in events:
                    try:
                        events.decode(column)
                    except KeyError:
                        continue
        assert trace.lost is not None


def survives(path, content):
    path.write_bytes(content)
    with contextlib.suppress(TraceError, KeyError):
        read_all(path)


@contextlib.contextmanager
def at_most(size_bytes):
    """Check that the block uses no more memory than this."""
    tracemalloc.start()
    try:
        yield
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < size_bytes
