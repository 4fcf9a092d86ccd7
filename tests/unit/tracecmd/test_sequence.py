"""All events of a buffer in one order."""

import pytest
import tracecmd
from support.smalltraces import PROBE_FORMAT, SMALL, small_trace
from tracecmd import TraceError


@pytest.fixture
def sequence(tmp_path):
    (tmp_path / "t").write_bytes(SMALL[7, "none"])
    return tracecmd.open(tmp_path / "t").sequence()


def test_in_the_order_of_time_whatever_the_type_and_the_cpu(sequence):
    assert len(sequence) == 6
    assert sequence.ts_ns.tolist() == sorted(sequence.ts_ns.tolist())
    assert sequence.types.tolist() == [301, 301, 302, 302, 302, 302]


def test_events_of_a_type_have_their_places_in_it(tmp_path):
    (tmp_path / "t").write_bytes(SMALL[7, "none"])
    trace = tracecmd.open(tmp_path / "t")
    sequence = trace.sequence()
    assert sequence.ranks(trace.events("probe")).tolist() == [0, 1]
    assert sequence.ranks(trace.events("other")).tolist() == [2, 3, 4, 5]


def test_what_was_recorded_before_an_event_is_of_the_same_cpu(tmp_path):
    (tmp_path / "t").write_bytes(SMALL[7, "none"])
    trace = tracecmd.open(tmp_path / "t")
    sequence = trace.sequence()
    before = sequence.ranks_before(trace.events("other")).tolist()
    cpu = sequence.walked.cpu[sequence.order]
    assert all(cpu[rank] == cpu[own] and rank < own for rank, own in zip(before, range(2, 6), strict=True) if rank >= 0)
    first = [rank for rank in range(len(cpu)) if cpu[rank] not in cpu[:rank]]
    assert [own for own, rank in zip(range(2, 6), before, strict=True) if rank < 0] == [
        rank for rank in first if rank > 1
    ]


def test_records_are_the_bytes_as_recorded(sequence):
    assert sequence.record(2).startswith(b"\x2e\x01\0\0\x01\0\0\0text\0")


def test_an_event_as_a_line(sequence):
    assert sequence.text(0).startswith("0.000001517 CPU0 task-1 probe: a=1 b=2 c=3 d=4")
    assert sequence.text(3).startswith("0.000001535 CPU1 task-1 other: rest=text")


def test_a_type_without_a_format_is_damage(tmp_path):
    (tmp_path / "t").write_bytes(small_trace(formats={"test": [PROBE_FORMAT]}))
    with pytest.raises(TraceError, match="no format"):
        tracecmd.open(tmp_path / "t").sequence()
