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


def test_records_are_the_bytes_as_recorded(sequence):
    assert sequence.record(2).startswith(b"\x2e\x01\0\0\x01\0\0\0text\0")


def test_an_event_as_a_line(sequence):
    assert sequence.text(0).startswith("0.000001517 CPU0 task-1 probe: a=1 b=2 c=3 d=4")
    assert sequence.text(3).startswith("0.000001535 CPU1 task-1 other: rest=text")


def test_a_type_without_a_format_is_damage(tmp_path):
    (tmp_path / "t").write_bytes(small_trace(formats={"test": [PROBE_FORMAT]}))
    with pytest.raises(TraceError, match="no format"):
        tracecmd.open(tmp_path / "t").sequence()
