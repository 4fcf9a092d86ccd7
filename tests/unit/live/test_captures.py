import struct
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from wblab.live.captures import BLOCKING, STACKS, TOO_MANY, between, capture_events
from wblab.live.pages import has_lost, page_time_ns


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


def test_a_page_says_that_events_before_it_were_lost():
    assert not has_lost(page(1))
    assert has_lost(page(1, 100 | 1 << 31))


def test_what_is_recorded_has_stacks_where_tasks_sleep_and_are_woken():
    events = set(capture_events("ext4"))
    assert set(STACKS) == {"sched:sched_switch", "sched:sched_waking"} <= events
    assert {event.partition(":")[0] for event in TOO_MANY} <= events
    assert not events & set(TOO_MANY)


def test_the_filesystem_has_its_own_events_and_its_journal_s():
    assert {"ext4", "jbd2"} <= set(capture_events("ext4"))
    assert "xfs" in capture_events("xfs")
    assert "ext4" not in capture_events("xfs")
    assert "read" not in BLOCKING
