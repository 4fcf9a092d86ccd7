from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wblab.agents.mitigate.disk import Counters, Disk, Disks, follow, read_counters
from wblab.core.errors import WblabError

MB = 1_000_000
PERIOD_S = 2.0


def after(disk, *, written=0, read=0, busy_s=0.0, depth=10.0):
    """Return the disk after a period of this."""
    before = disk.counters
    counters = Counters(
        before.read_bytes + read,
        before.written_bytes + written,
        before.busy_ms + int(busy_s * 1000),
        before.writes_ms + int(busy_s * depth * 1000),
    )
    return follow(disk, counters, PERIOD_S)


FRESH = Disk(Counters(5, 7, 11, 13))


def test_unknown_until_it_was_saturated():
    disk = after(FRESH, written=MB, busy_s=0.5)
    assert disk.bandwidth == 0
    assert after(disk, written=100 * MB, busy_s=2.0).bandwidth == 50 * MB


def test_what_was_written_in_the_time_it_was_busy():
    assert after(FRESH, written=90 * MB, busy_s=1.8).bandwidth == 50 * MB


def test_reading_says_nothing_of_writing():
    assert after(FRESH, written=MB, read=100 * MB, busy_s=2.0).bandwidth == 0


def test_a_program_that_waits_for_each_small_write_does_not_saturate():
    assert after(FRESH, written=MB, busy_s=2.0, depth=1.0).bandwidth == 0


def test_rises_at_once_and_falls_slowly():
    burst = after(FRESH, written=1000 * MB, busy_s=2.0)
    later = after(burst, written=100 * MB, busy_s=2.0)
    assert 400 * MB < later.bandwidth < 500 * MB
    for _ in range(60):
        later = after(later, written=100 * MB, busy_s=2.0)
    assert 50 * MB < later.bandwidth < 60 * MB
    assert after(later, written=1000 * MB, busy_s=2.0).bandwidth == 500 * MB


def test_idle_time_leaves_it_and_a_faster_period_raises_it():
    disk = replace(FRESH, bandwidth=10 * MB)
    assert after(disk).bandwidth == 10 * MB
    assert after(disk, written=40 * MB, busy_s=0.5).bandwidth == 20 * MB


@given(st.lists(st.tuples(st.integers(0, 10**10), st.integers(0, 10**10), st.floats(0, 2), st.floats(0, 100))))
def test_never_more_than_was_seen(periods):
    disk, most = FRESH, 0.0
    for written, read, busy_s, depth in periods:
        disk = after(disk, written=written, read=read, busy_s=busy_s, depth=depth)
        counted_s = int(busy_s * 1000) / 1000
        most = max(most, written / counted_s if counted_s > 1.6 else 0, written / PERIOD_S)
        assert 0 <= disk.bandwidth <= most * (1 + 1e-9)
        assert 0 <= disk.busy <= 1


def test_the_disks_of_this_machine():
    try:
        names = list(Disks().known)
    except WblabError as error:
        pytest.skip(str(error))
    assert names
    assert not [name for name in names if name.startswith(("loop", "ram", "zram", "dm-", "md"))]
    assert read_counters(names).keys() == set(names)
    assert Disks(names[0]).name == names[0]
