"""A trace.dat is made of what tracefs shows, and read back: by the reader, and by trace-cmd."""

import subprocess

import pytest
import tracecmd
from support.tracewriter import Ring, event_format
from tracecmd.pieces import Pieces

FORMATS = {
    "writeback": [event_format("dirty", 301, "u32 pages 8 4 0")],
    "ftrace": [event_format("print", 5, "unsigned long ip 8 8 0\nchar buf[] 16 0 0")],
}


def pieces(ring, **changes):
    """Return pieces of two CPUs with three events."""

    def event(pages):
        return ring.data(10, ring.record(301, 42, ring.word(pages)))

    pages = [ring.page(1000, [event(7), event(8)]), ring.page(1005, [event(9)], lost=3)]
    whole = {"header_page": ring.header_page(), "formats": FORMATS, "pages": pages, "cmdlines": "42 dd\n"}
    return Pieces(**(whole | {"uname": "Linux small 4.4.0"} | changes))


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("long_bytes", [8, 4])
def test_what_was_copied_is_read_back_whatever_the_machine(tmp_path, order, long_bytes):
    pieces(Ring(order, long_bytes)).write(tmp_path / "trace.dat")
    with tracecmd.open(tmp_path / "trace.dat") as trace:
        events = trace.events("dirty")
        assert (list(events["pages"]), list(events.ts_ns), list(events.cpu)) == (
            [7, 9, 8],
            [1010, 1015, 1020],
            [0, 1, 0],
        )
        assert trace.info.clock == "mono"
        assert (trace.info.byte_order, trace.info.long_bytes) == ({"<": "little", ">": "big"}[order], long_bytes)
        assert trace.info.uname == "Linux small 4.4.0"
        assert trace.comms[42] == "dd"
        assert [lost.cpu for lost in trace.lost] == [1]


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_sign_of_a_full_buffer_s_mark_does_not_turn_the_order_of_bytes(tmp_path, order):
    ring = Ring(order, 8)
    page = bytearray(ring.page(1000, [ring.data(10, ring.record(301, 42, ring.word(7)))], lost=-1))
    page[12 if order == "<" else 8 : 16 if order == "<" else 12] = b"\xff" * 4
    pieces(ring, pages=[bytes(page)]).write(tmp_path / "trace.dat")
    with tracecmd.open(tmp_path / "trace.dat") as trace:
        assert list(trace.events("dirty")["pages"]) == [7]
        assert len(trace.lost) == 1


def test_trace_cmd_reads_it_too(tmp_path):
    pieces(Ring(), kallsyms="ffffffff81000000 T _text\n").write(tmp_path / "trace.dat")
    shown = subprocess.run(
        ["trace-cmd", "report", "-t", "-R", tmp_path / "trace.dat"], capture_output=True, text=True, check=True
    )
    lines = [line.split() for line in shown.stdout.splitlines() if " dirty: " in line]
    assert [line[-1] for line in lines] == ["pages=7", "pages=9", "pages=8"]
    assert all(line[0] == "dd-42" for line in lines)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"pages": [b"\0" * 100]}, "whole pages of 4096 bytes"),
        ({"header_page": "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"}, "no fields 'commit' and 'data'"),
    ],
)
def test_what_is_no_ring_buffer_is_refused(changes, said):
    with pytest.raises(tracecmd.TraceError, match=said):
        pieces(Ring(), **changes).encode()


def test_a_machine_that_traced_nothing_gives_a_trace_without_events(tmp_path):
    pieces(Ring(), pages=[b"", b""]).write(tmp_path / "trace.dat")
    with tracecmd.open(tmp_path / "trace.dat") as trace:
        assert trace.counts() == {}
        assert trace.info.cpus == 2
