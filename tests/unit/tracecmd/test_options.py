"""What a trace says of itself, and how recorded times become ns."""

import struct

import numpy as np
import pytest
import tracecmd
from hypothesis import given
from hypothesis import strategies as st
from support.smalltraces import small_trace
from support.tracewriter import Ring, TraceWriter
from tracecmd import TraceError, options
from tracecmd.buffers import converted
from tracecmd.options import Options, bracketed

TIMES = np.array([0, 1, 1000, (1 << 32) - 1, 1 << 32, 123456789 << 20, (1 << 63) - 1, (1 << 64) - 1], np.uint64)
MASK = (1 << 64) - 1


def signed(value):
    value &= MASK
    return value - (1 << 64) if value >> 63 else value


def times(*items, order="<"):
    return converted(TIMES.copy(), Options(order, list(items))).tolist()


def tsc(mult, shift, offset=0, order="<"):
    return options.TSC2NSEC, struct.pack(f"{order}IIQ", mult, shift, offset)


def test_without_options_times_are_as_recorded():
    assert times() == [signed(time) for time in TIMES.tolist()]
    assert times((options.TRACECLOCK, b"[mono]\0"), (99, b"x")) == times()


@pytest.mark.parametrize(
    ("items", "offset_ns"),
    [
        ([(options.OFFSET, b"1000\0")], 1000),
        ([(options.OFFSET, b"-1000\0")], -1000),
        ([(options.OFFSET, b" 0x10")], 16),
        ([(options.DATE, b"0x10\0")], 16_000),
        ([(options.DATE, b"5\0"), (options.OFFSET, b"-7\0")], 4993),
        ([(options.OFFSET, b"1\0"), (options.OFFSET, b"2\0")], 3),
        ([(options.OFFSET, str(1 << 64).encode())], 0),
    ],
)
def test_offsets_are_added(items, offset_ns):
    assert times(*items) == [signed(time + offset_ns) for time in TIMES.tolist()]


@given(
    st.integers(min_value=1, max_value=(1 << 32) - 1),
    st.integers(min_value=0, max_value=32),
    st.integers(min_value=-(1 << 62), max_value=1 << 62),
    st.sampled_from("<>"),
)
def test_ticks_become_ns_as_in_the_kernel(mult, shift, offset_ns, order):
    """math64.h: mul_u64_u32_shr(), in halves of 32 bits; what trace-cmd does."""
    found = times(tsc(mult, shift, 7, order), (options.OFFSET, f"{offset_ns}\0".encode()), order=order)
    halves = [(time & 0xFFFFFFFF, time >> 32) for time in TIMES.tolist()]
    assert found == [signed((low * mult >> shift) + (high * mult << 32 - shift) + offset_ns) for low, high in halves]


def test_no_multiplier_means_no_conversion():
    assert times(tsc(0, 99)) == times()


def test_a_shift_that_is_too_far():
    with pytest.raises(TraceError, match="shift is 33 bits"):
        times(tsc(1, 33))


@pytest.mark.parametrize("written", [b"", b"soon", b"1 2", b"1" * 5000])
def test_what_is_no_time(written):
    with pytest.raises(TraceError, match="is not a time"):
        times((options.OFFSET, written))


@pytest.mark.parametrize(
    ("listed", "one"),
    [("local [mono] boot\n", "mono"), ("[x86-tsc]", "x86-tsc"), ("mono\n", "mono"), ("", ""), ("a [b", "b")],
)
def test_the_one_in_brackets(listed, one):
    assert bracketed(listed) == one


@pytest.mark.parametrize("version", [6, 7])
@pytest.mark.parametrize("order", "<>")
def test_options_by_name(tmp_path, version, order):
    ring = Ring(order, page_bytes=1024)
    given_options = [
        (options.CPUCOUNT, struct.pack(f"{order}I", 2)),
        (options.UNAME, b"Linux box\0"),
        (options.VERSION, b"3.2\0"),
        (options.TRACEID, struct.pack(f"{order}Q", 5)),
        (options.CPUSTAT, b"CPU: 0\0"),
        (options.CPUSTAT, b"CPU: 1\0"),
        (options.SAVED_TGIDS, b"\1\0"),
        (99, b"\1\0"),
        (98, b""),
    ]
    (tmp_path / "t").write_bytes(small_trace(version, ring=ring, options=given_options, clock="x86-tsc"))
    info = tracecmd.open(tmp_path / "t").info
    assert (info.version, info.page_bytes, info.cpus, info.buffers) == (version, 1024, 2, ("", "i"))
    assert (info.uname, info.trace_cmd, info.clock, info.clock_is_ns) == ("Linux box", "3.2", "x86-tsc", False)
    assert info.options == {
        "cpu_count": 2,
        "uname": "Linux box",
        "version": "3.2",
        "trace_id": 5,
        "cpustat": ["CPU: 0", "CPU: 1"],
        "saved_tgids": b"\1\0",
        "option_99": b"\1\0",
        "option_98": b"",
        "trace_clock": "[x86-tsc]",
    }


def test_a_clock_of_ticks_that_are_converted_counts_ns(tmp_path):
    (tmp_path / "t").write_bytes(small_trace(clock="x86-tsc", options=[tsc(3, 1)]))
    trace = tracecmd.open(tmp_path / "t")
    assert trace.info.clock_is_ns
    assert trace.events("probe").ts_ns.tolist() == [1005 * 3 // 2] * 2


def test_spans_of_lost_events_are_converted_too(tmp_path):
    (tmp_path / "t").write_bytes(small_trace(options=[tsc(4, 1), (options.OFFSET, b"1\0")]))
    lost = tracecmd.open(tmp_path / "t").lost
    assert {(item.start_ns, item.end_ns, item.count) for item in lost} == {(2 * (1005 + 9 + 3) + 1, 2 * 2000 + 1, 3)}


@pytest.mark.parametrize("version", [6, 7])
def test_what_a_smallest_file_holds(tmp_path, version):
    (tmp_path / "t").write_bytes(TraceWriter(version=version).encode())
    trace = tracecmd.open(tmp_path / "t")
    assert trace.counts() == {}
    assert trace.formats == {}
    assert trace.comms == {0: "<idle>"}
    assert trace.lost == ()
    with pytest.raises(KeyError, match="no event 'probe'"):
        trace.events("probe")
    with pytest.raises(KeyError, match="no buffer 'x'"):
        trace.counts("x")
