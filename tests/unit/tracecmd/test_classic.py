"""Code written for trace-cmd's own bindings."""

import pytest
import tracecmd
from support.smalltraces import FORMATS, OTHER, SMALL
from support.tracewriter import Ring, TraceWriter


@pytest.fixture
def trace(tmp_path):
    (tmp_path / "trace.dat").write_bytes(SMALL[7, "zstd"])
    return tracecmd.Trace(str(tmp_path / "trace.dat"))


def test_events_come_in_the_order_of_time(trace):
    events = []
    while event := trace.read_next_event():
        events.append(event)
    assert [event.name for event in events] == ["probe", "probe", "other", "other", "other", "other"]
    assert [event.ts for event in events] == sorted(event.ts for event in events)
    assert [event.cpu for event in events] == [0, 1, 0, 1, 0, 1]
    assert trace.read_next_event() is None


def test_fields(trace):
    event = trace.read_next_event()
    assert (event.pid, event.comm, event["common_pid"]) == (1, "task", 1)
    assert event["d"] == 4
    assert int(event["d"]) + 1 == 5
    assert event["d"].data == b"\x04\0\0\0"
    assert event["name"] == "name"
    assert event["text"].data == b"text"
    assert event.num_field("e") == 5
    assert event.str_field("more") == "more"
    assert event.num_field("name") is None
    assert event.num_field("nowhere") is None
    assert {"a", "numbers", "common_type"} <= set(event.keys())
    with pytest.raises(KeyError, match="nowhere"):
        event["nowhere"]
    assert str(event).startswith("0.000001517 CPU0 probe: pid=1 comm=task")


def test_one_cpu(trace):
    assert trace.cpus == 2
    first = trace.peek_event(1)
    assert trace.peek_event(1) is first
    assert trace.read_event(1) is first
    assert [trace.read_event(1).name for _ in range(2)] == ["other", "other"]
    assert trace.read_event(1) is None
    assert trace.read_next_event() is not None


def test_events_of_one_moment_keep_their_order(tmp_path):
    ring = Ring()
    entries = [ring.data(0, ring.record(OTHER + i % 2 - 1, i, b"x\0".ljust(80, b"\0"))) for i in range(6)]
    pages = {"": [[ring.page(7, entries)]]}
    (tmp_path / "t").write_bytes(TraceWriter(formats=FORMATS, buffers=pages).encode())
    trace = tracecmd.Trace(tmp_path / "t")
    assert [trace.read_next_event().pid for _ in range(6)] == list(range(6))
