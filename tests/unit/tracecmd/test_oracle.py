"""The reader against libtracecmd: recorded files, and what the writer makes for machines that we have not."""

import struct
from pathlib import Path

import pandas
import pytest
import tracecmd
from support import oracle
from support.smalltraces import OTHER, small_trace
from support.tracewriter import Ring
from tracecmd import options

RECORDED = sorted((Path(__file__).parents[2] / "data").glob("*.dat"))


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    return oracle.build(tmp_path_factory.mktemp("oracle"))


def check(program, path):
    said = oracle.said(program, path)
    assert len(said) > 10
    assert oracle.events(path) == {(buffer, event) for buffer, event, _, _ in said}
    assert oracle.read(path, set(said)) == said


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name)
def test_recorded(program, path):
    check(program, path)


@pytest.mark.parametrize("version", [6, 7])
@pytest.mark.parametrize("long_bytes", [4, 8])
@pytest.mark.parametrize("order", "<>")
def test_other_machines(program, tmp_path, order, long_bytes, version):
    (tmp_path / "t").write_bytes(small_trace(version, ring=Ring(order, long_bytes), options=[]))
    check(program, tmp_path / "t")


@pytest.mark.parametrize("long_bytes", [4, 8])
@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize(
    "kinds",
    [
        lambda ring, event: [ring.padding(5, 12), event, ring.padding(1, 4), event],
        lambda ring, event: [event, ring.extend(3 << 40 | 7), event, ring.extend(1), event],
        lambda ring, event: [event, ring.stamp(1 << 50), event, ring.stamp((1 << 50) + 9), ring.padding(3, 20), event],
        lambda ring, event: [event, ring.data(2, ring.record(OTHER, 1, b"long".ljust(300, b"!"))), event],
        lambda ring, event: [event, event, ring.tail(), b"\xff" * 40],
    ],
    ids=["discarded", "extended", "absolute", "long", "end"],
)
def test_entries_of_all_kinds(program, tmp_path, order, long_bytes, kinds):
    ring = Ring(order, long_bytes, page_bytes=1024)
    event = ring.data(3, ring.record(OTHER, 1, b"text\0"))
    pages = [ring.page(start, kinds(ring, event)) for start in (1000, 5 << 59 | 7)]
    (tmp_path / "t").write_bytes(small_trace(ring=ring, options=[], buffers={"": [pages[:1], pages[1:]]}))
    said = oracle.said(program, tmp_path / "t")
    assert said["", "ftrace:other", "#", "number"] >= 4
    assert oracle.read(tmp_path / "t", set(said)) == said


@pytest.mark.parametrize("version", [6, 7])
@pytest.mark.parametrize(
    "given_options",
    [
        [(options.OFFSET, b"1000\0")],
        [(options.OFFSET, b"-7\0"), (options.DATE, b"0x10\0")],
        [(options.TSC2NSEC, struct.pack("<IIQ", 3, 1, 5))],
        [(options.TSC2NSEC, struct.pack("<IIQ", (1 << 31) - 3, 31, 1 << 40)), (options.OFFSET, b"9\0")],
    ],
    ids=["offset", "offset and date", "ticks", "ticks and offset"],
)
def test_times_that_are_converted(program, tmp_path, version, given_options):
    """With multipliers below 2^31: libtracecmd takes larger ones for negative, the kernel's are unsigned."""
    ring = Ring(page_bytes=1024)
    late = ring.data(7, ring.record(OTHER, 1, b"late\0"))
    content = small_trace(version, options=given_options, buffers={"": [[ring.page(1 << 50, [late, late])]] * 2})
    (tmp_path / "t").write_bytes(content)
    said = oracle.said(program, tmp_path / "t")
    assert said["", "ftrace:other", "#", "number"] == 4
    assert oracle.read(tmp_path / "t", set(said)) == said


def test_what_the_recorded_files_say_of_themselves():
    infos = {path.name: tracecmd.open(path).info for path in RECORDED}
    assert {info.uname for info in infos.values()} == {"Linux (none) 7.3.0-rc7 x86_64"}
    assert {(info.clock, info.clock_is_ns, info.byte_order, info.long_bytes) for info in infos.values()} == {
        ("mono", True, "little", 8)
    }
    assert infos["two-buffers.v6.dat"].buffers == infos["two-buffers.v7.dat"].buffers == ("", "inst")
    assert [infos[f"two-buffers.{version}.dat"].version for version in ("v6", "v7")] == [6, 7]


def test_names_of_flags_in_recorded_events():
    trace = tracecmd.open(RECORDED[0].with_name("two-buffers.v7.dat"))
    assert set(trace.events("sched_switch").decode("prev_state")) >= {"S", "0x0"}
    assert "I_DIRTY_SYNC|I_DIRTY_DATASYNC|I_DIRTY_PAGES" in trace.events("writeback_mark_inode_dirty").decode("flags")


def test_tables():
    trace = tracecmd.open(RECORDED[0].with_name("lost-events.v7.dat"))
    table = trace.events("sched_switch").to_pandas()
    assert list(table)[:4] == ["ts_ns", "cpu", "pid", "comm"]
    assert table["ts_ns"].is_monotonic_increasing
    assert isinstance(table, pandas.DataFrame)
    assert list(trace.events("sched_switch", columns=["next_pid", "ts_ns"]).to_pandas()) == ["next_pid", "ts_ns"]
    with pytest.raises(KeyError, match="no column 'nowhere' in 'sched_switch'"):
        trace.events("sched_switch", columns=["nowhere"])
