import os
import struct
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wblab.core.units import Bytes, Nanoseconds
from wblab.lab.captures import CapturedPause, Lost, read_captures
from wblab.live.runs.captures import (
    BLOCKING,
    STACKS,
    TOO_MANY,
    CaptureBuffer,
    between,
    capture_events,
    has_lost,
    late,
    lost_between,
    page_time_ns,
    with_lost,
)
from wblab.live.runs.livetraces import Traces, kernel_functions
from wblab.live.runs.request import Captures, LiveRequest
from wblab.live.runs.tracefile import Room, chosen
from wblab.machine.undo import Undo


def page(time_ns, commit=100):
    return struct.pack("=QQ", time_ns, commit) + bytes(4080)


@given(st.lists(st.integers(0, 1000), max_size=30), st.integers(0, 1000), st.integers(0, 1000))
def test_every_event_of_a_span_is_in_the_pages_chosen(times_ns, start_ns, length_ns):
    pages = [page(time_ns) for time_ns in sorted(times_ns)]
    end_ns = start_ns + length_ns
    chosen = between(pages, start_ns, end_ns)
    for at, then in pairwise([*sorted(times_ns), 10**9]):
        if start_ns <= at <= end_ns or at < start_ns < then:  # its first event, or one after that, may be in the span
            assert page(at) in chosen
    assert all(page_time_ns(item) <= end_ns for item in chosen)


def test_pages_long_before_the_span_are_left_out():
    assert between([page(1), page(2), page(50)], 40, 60) == [page(2), page(50)]


def test_a_page_is_marked_if_events_before_it_were_lost():
    assert not has_lost(page(1))
    assert has_lost(page(1, 100 | 1 << 31))


def test_stacks_are_recorded_for_sleeps_and_wake_ups():
    events = set(capture_events("ext4"))
    assert set(STACKS) == {"sched:sched_switch", "sched:sched_waking"} <= events
    assert {event.partition(":")[0] for event in TOO_MANY} <= events
    assert not events & set(TOO_MANY)


def test_events_of_the_filesystem_and_its_journal_are_recorded():
    assert {"ext4", "jbd2"} <= set(capture_events("ext4"))
    assert "xfs" in capture_events("xfs")
    assert "ext4" not in capture_events("xfs")
    assert "read" not in BLOCKING


def test_folios_of_several_pages_are_recorded_as_they_come_and_leave(tracing, tmp_path):
    """By them `why` and the timeline count bytes. A kernel without their order has none of them."""
    with Undo() as undo:
        request = LiveRequest(directory=tmp_path, captures=Captures(bound=Nanoseconds(10**9), buffer=Bytes(64 << 10)))
        traces = Traces(request, "ext4", undo)
        assert not [note for note in traces.notes if note.startswith("no ")]
        for name in ("mm_filemap_add_to_page_cache", "mm_filemap_delete_from_page_cache"):
            place = tracing / f"instances/wblab-captures-{os.getpid()}/events/filemap/{name}"
            has_order = " order;" in (place / "format").read_text()
            state = (place / "filter").read_text().strip(), (place / "enable").read_text().strip()
            assert state == (("order > 0", "1") if has_order else ("none", "0"))


LOST = 1 << 31


class Source:
    """A processor's ring buffer; each read returns the new pages."""

    def __init__(self, *reads):
        self.reads = list(reads)

    def read(self):
        return self.reads.pop(0)


@pytest.fixture
def buffer(tmp_path):
    """Return a recorder of captures, and the times of the pages in each capture, processor by processor."""
    saved = []

    def put_together(files, output, symbols):
        content = [file.read_bytes() for file in files]
        saved.append([[page_time_ns(data[at:]) for at in range(0, len(data), 4096)] for data in content])
        for file in files:
            file.unlink()

    return CaptureBuffer(None, tmp_path, put_together, 40 * 4096), saved


def wanted(number, start_ns, end_ns):
    return CapturedPause(number, "w1", start_ns + 2, end_ns - 2, start_ns, end_ns)


def test_a_capture_includes_events_that_an_earlier_one_consumed(buffer, tmp_path):
    """The second pause began long before the first was saved late."""
    buffer, saved = buffer
    source = Source(
        [page(time_ns) for time_ns in range(0, 100, 10)], [page(time_ns) for time_ns in range(100, 150, 10)]
    )
    kept = buffer._save(wanted(1, 0, 30), 15, [source], [[]])
    buffer._save(wanted(2, 15, 120), 118, [source], kept)
    assert saved == [[[0, 10, 20, 30]], [[*range(10, 130, 10)]]]
    assert [(capture.start_ns, capture.lost) for capture in read_captures(tmp_path)] == [(0, ()), (15, ())]


def test_losses_between_two_captures_are_reported_by_the_second(buffer, tmp_path):
    """Saving the first took so long that the buffer was overwritten, not before the first page but later."""
    buffer, _ = buffer
    source, other = Source([page(0), page(10)], [page(90, 100 | LOST), page(100)]), Source([page(5)], [page(50)])
    kept = buffer._save(wanted(1, 0, 10), 5, [source, other], [[], []])
    buffer._save(wanted(2, 5, 100), 100, [source, other], kept)
    found = {capture.number: capture for capture in read_captures(tmp_path)}
    assert found[1].whole
    assert (found[2].start_ns, found[2].lost, found[2].whole) == (5, (Lost(10, 90),), False)


def test_no_more_than_one_buffer_is_kept_and_losses_are_reported(buffer, tmp_path):
    buffer, saved = buffer
    source = Source([page(time_ns) for time_ns in range(100)], [page(100)])
    kept = buffer._save(wanted(1, 50, 60), 10, [source], [[]])
    assert len(kept[0]) == 40
    buffer._save(wanted(2, 10, 100), 100, [source], kept)
    assert saved[1] == [[*range(60, 101)]]
    assert {capture.number: capture.start_ns for capture in read_captures(tmp_path)} == {1: 50, 2: 60}


def test_a_page_is_marked_as_the_kernel_marks_it():
    marked = with_lost(page(7, 100))
    assert has_lost(marked)
    assert marked == page(7, 100 | LOST)
    assert lost_between([page(1), marked, page(9)]) == [Lost(1, 7)]
    assert late([], 0, 4096) == []


S, MIB = 10**9, 1 << 20
NOW_NS = 100 * S


@pytest.fixture
def buffers(tmp_path):
    """A function that makes the files of an instance with one processor, and returns the size kept, in MiB."""

    def kept(used_bytes, oldest_s, needed_s, *, most=256 * MIB, size_kb="32768"):
        place = tmp_path / "per_cpu/cpu0"
        place.mkdir(parents=True)
        place.joinpath("buffer_size_kb").write_text(f"{size_kb}\n")
        place.joinpath("stats").write_text(
            f"entries: 9\noverrun: 0\nbytes: {used_bytes}\noldest event ts: {oldest_s:5d}.000000\nnow ts:  1.0\n"
        )
        Room(SimpleNamespace(path=tmp_path), most).keep(NOW_NS - needed_s * S, NOW_NS)
        return int(place.joinpath("buffer_size_kb").read_text()) / 1024

    return kept


@pytest.mark.parametrize(
    ("used_mib", "oldest_s", "needed_s", "size_mib"),
    [
        (10, 90, 10, 32),  # all of it is needed, but there is room
        (31, 90, 10, 64),  # all of it is needed
        (31, 90, 60, 64),  # more was needed than is left
        (31, 90, 3, 32),  # the last 3 of 10 s are needed
        (31, 90, 6, 64),
    ],
)
def test_a_buffer_doubles_where_what_must_be_kept_fills_half_of_it(buffers, used_mib, oldest_s, needed_s, size_mib):
    assert buffers(used_mib * MIB, oldest_s, needed_s) == size_mib


def test_a_buffer_grows_to_its_limit_only(buffers):
    assert buffers(31 * MIB, 90, 10, most=40 * MIB) == 40


def test_what_a_kernel_tells_otherwise_changes_nothing(buffers, tmp_path):
    (tmp_path / "per_cpu/cpu1").mkdir(parents=True)  # without files
    assert buffers(31 * MIB, 90, 10) == 64


@pytest.mark.parametrize(
    ("free", "processors", "first", "most"), [(64 << 30, 4, 32, 1024), (2 << 30, 8, 16, 16), (80 * MIB, 1, 5, 5)]
)
def test_the_sizes_follow_memory_and_processors(free, processors, first, most):
    assert chosen(processors, free) == (first * MIB, most * MIB)


def test_only_functions_are_kept(tmp_path):
    lines = [
        "ffffffff81000010 t schedule\n",
        "ffffffffc0000020 T queue_rq\t[virtio_blk]\n",
        "ffffffff82000000 D jiffies\n",
    ]
    (tmp_path / "kallsyms").write_text("".join(lines))
    assert kernel_functions(tmp_path / "kallsyms") == "".join(lines[:2])


def test_hidden_addresses_give_no_functions(tmp_path):
    (tmp_path / "kallsyms").write_text("0000000000000000 t schedule\n0000000000000000 T io_schedule\n")
    assert kernel_functions(tmp_path / "kallsyms") == ""
