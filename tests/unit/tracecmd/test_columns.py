"""Columns: texts, stacks, names that collide, one at a time or all in one pass."""

import numpy as np
import pytest
import tracecmd
from hypothesis import given
from hypothesis import strategies as st
from support.smalltraces import PROBE, small_trace
from support.tracewriter import Ring, TraceWriter, event_format
from tracecmd.columns import grouped, texts


def trace_of(tmp_path, format_, bodies, ring=Ring()):  # noqa: B008
    """Return a trace with one event for each body, on as many pages as they need."""
    pages = [ring.page(i * 10, [ring.data(i, ring.record(PROBE, i, body))]) for i, body in enumerate(bodies)]
    content = TraceWriter(ring, formats={"ftrace": [format_]}, buffers={"": [pages]}).encode()
    (tmp_path / "t").write_bytes(content)
    return tracecmd.open(tmp_path / "t")


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("long_bytes", [4, 8])
def test_a_stack_is_as_long_as_it_says(tmp_path, order, long_bytes):
    ring = Ring(order, long_bytes)
    stack = event_format("kernel_stack", PROBE, f"int size 8 4 1\nunsigned long caller[8] 16 {8 * long_bytes} 0")
    wanted = [[], [7], list(range(12)), [1, 2, 3]]
    long = np.dtype(f"{order}u{long_bytes}")
    bodies = [
        len(each).to_bytes(4, "little" if order == "<" else "big")
        + bytes(4)
        + np.array([*each, 99, 99], long).tobytes()  # what the ring buffer held before
        for each in wanted
    ]
    found = trace_of(tmp_path, stack, bodies, ring).events("kernel_stack")["caller"]
    assert [row.tolist() for row in found] == wanted
    assert {row.dtype for row in found} == {np.dtype(f"u{long_bytes}")}


def test_stacks_of_one_length_are_one_array_an_event_too(tmp_path):
    stack = event_format("kernel_stack", PROBE, "int size 8 4 1\nunsigned long caller[8] 16 64 0")
    bodies = [(2).to_bytes(8, "little") + np.arange(2, dtype="<u8").tobytes()] * 3
    found = trace_of(tmp_path, stack, bodies).events("kernel_stack")["caller"]
    assert found.shape == (3,)
    assert [row.tolist() for row in found] == [[0, 1]] * 3


def test_the_four_columns_of_all_events_come_before_fields_of_their_names(tmp_path):
    fields = "int pid 8 4 1\nu32 cpu 12 4 0\nchar comm[8] 16 8 0\nu64 ts_ns 24 8 0"
    body = (
        (-5).to_bytes(4, "little", signed=True)
        + (9).to_bytes(4, "little")
        + b"other\0\0\0"
        + (77).to_bytes(8, "little")
    )
    events = trace_of(tmp_path, event_format("clash", PROBE, fields), [body, body]).events("clash")
    assert events.columns == (
        "ts_ns", "cpu", "pid", "comm", "field_pid", "field_cpu", "field_comm", "field_ts_ns",
    )  # fmt: skip
    assert [events[name].tolist() for name in ("ts_ns", "cpu", "pid", "comm")] == [
        [0, 11], [0, 0], [0, 1], ["<idle>", "<...>"],
    ]  # fmt: skip
    assert [events.field(name).tolist() for name in ("ts_ns", "cpu", "pid", "comm")] == [
        [77, 77], [9, 9], [-5, -5], ["other", "other"],
    ]  # fmt: skip
    assert {"comm", "field_comm", "common_flags"} <= {name for name in [*events, "common_flags"] if name in events}


def test_one_pass_gives_the_same_as_one_after_the_other(tmp_path):
    (tmp_path / "t").write_bytes(small_trace())
    trace = tracecmd.open(tmp_path / "t")
    at_once, single = trace.events("probe").read(), trace.events("probe")
    for name in single:
        assert at_once[name].dtype == single[name].dtype
        assert [repr(item) for item in at_once[name]] == [repr(item) for item in single[name]]


def test_a_number_that_is_no_power_of_two_is_its_bytes(tmp_path):
    odd = event_format("odd", PROBE, "struct three x 8 3 0\nu8 y 11 1 0")
    events = trace_of(tmp_path, odd, [b"abc\x05"]).events("odd").read()
    assert events["x"].tolist() == [b"abc"]
    assert events["y"].tolist() == [5]


def test_an_array_at_the_end_may_be_cut_short(tmp_path):
    cut = event_format("cut", PROBE, "u32 n 8 4 0\nchar text[16] 12 16 0")
    events = trace_of(tmp_path, cut, [bytes(4) + b"abcd", bytes(4) + b"0123456789abcdef"]).events("cut")
    assert events["text"].tolist() == ["abcd", "0123456789abcdef"]


@given(st.lists(st.binary(max_size=11), max_size=40), st.integers(min_value=0, max_value=3))
def test_rows_of_bytes_are_texts(values, again):
    width = 11
    rows = [value.ljust(width, b"\0") for value in values for _ in range(again + 1)]
    found = texts(np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), width))
    assert found.tolist() == [row.partition(b"\0")[0].decode("utf-8", "backslashreplace") for row in rows]
    assert len({id(text) for text in found}) <= len(set(rows))


@given(st.lists(st.integers(min_value=0, max_value=9), max_size=50))
def test_groups(keys):
    found = grouped(np.array(keys, np.int64))
    assert {key: which.tolist() for key, which in found} == {
        key: [i for i, each in enumerate(keys) if each == key] for key in set(keys)
    }


def test_names_of_events_that_two_systems_have(tmp_path):
    content = small_trace(formats={"a": [event_format("same", PROBE, "")], "b": [event_format("same", 302, "")]})
    (tmp_path / "t").write_bytes(content)
    trace = tracecmd.open(tmp_path / "t")
    assert trace.counts() == {"a:same": 2, "b:same": 4}
    assert len(trace.events("b:same")) == 4
    with pytest.raises(KeyError, match="use a:same or b:same"):
        trace.events("same")
