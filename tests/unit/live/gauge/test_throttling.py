"""Sleeps near a dirty limit, and flushers that write nothing, from the kernel's text."""

from wblab.live.gauge.catalogue import FLUSHER_IDLE, GROUP_THROTTLED, LONG_CALLS, LOST, THROTTLED
from wblab.live.gauge.counts import Counts
from wblab.live.gauge.throttling import Throttling
from wblab.live.monitor.tracetext import TraceText

DISKS = {"8:0": "sda", "8:16": "sdb"}


def counted(*lines, is_idle=True):
    """Return what is counted of these lines, by metric and labels. is_idle: all disks are, meanwhile."""
    counts = Counts()
    throttling = Throttling(counts, lambda bdi: DISKS.get(bdi, bdi), lambda group: f"/group-{group}")
    for disk in DISKS.values():
        throttling.begin(disk)
    for item in TraceText().feed("".join(f"{line}\n" for line in lines).encode()):
        throttling.count(item)
    throttling.settle(lambda disk: is_idle)
    throttling.settle(lambda disk: True)
    return counts.all()


def slept(at_s, pid, paused, pause, *, bdi="8:0", group=1):
    said = f"bdi {bdi}: limit=3 dirty=2 paused={paused} pause={pause} period=10 think=10 cgroup_ino={group}"
    return f"  a b-{pid} [000] ..... {at_s:.6f}: balance_dirty_pages: {said}"


def event(at_s, name, said):
    return f"  kworker/u4:1-9 [001] ..... {at_s:.6f}: {name}: {said}"


WAKE = "bdi 8:16: cgroup_ino=1"


def test_zeros_are_there_from_the_start():
    found = counted()
    for metric in (THROTTLED, LONG_CALLS, FLUSHER_IDLE):
        assert found[metric] == {("sda",): 0, ("sdb",): 0}
    assert found[GROUP_THROTTLED] == {("/",): 0}
    assert found[LOST] == {(): 0}


def test_sleeps_count_by_disk_and_control_group_and_those_of_a_call_as_long_as_they_were():
    found = counted(
        slept(1.00, 7, 0, 10),
        slept(1.02, 7, 20, 10),  # 10 ms were meant, 20 it was
        slept(1.04, 8, 0, 50, bdi="8:16", group=42),
        slept(1.50, 7, 0, 30),  # another call
    )
    assert found[THROTTLED] == {("sda",): 0.060, ("sdb",): 0.050}
    assert found[GROUP_THROTTLED] == {("/",): 0.060, ("/group-42",): 0.050}


def test_a_call_counts_as_long_once_it_reaches_a_second():
    call = [slept(1 + 0.02 * turn, 7, 20 * turn, 10) for turn in range(80)]
    assert counted(*call[:50])[LONG_CALLS][("sda",)] == 0
    assert counted(*call[:51])[LONG_CALLS][("sda",)] == 1
    assert counted(*call)[LONG_CALLS][("sda",)] == 1
    assert counted(*call, *call)[LONG_CALLS][("sda",)] == 2


def test_a_task_that_was_slowed_ahead_of_its_rate_does_not_sleep():
    assert counted(slept(1, 7, 0, -20))[THROTTLED][("sda",)] == 0


def test_a_flusher_that_writes_nothing_counts_while_a_task_sleeps_for_its_disk():
    asleep = [slept(1.0, 7, 0, 10, bdi="8:16"), event(1.01, "writeback_wake_background", WAKE)]
    zero = event(1.02, "writeback_pages_written", "0")
    assert counted(*asleep, zero)[FLUSHER_IDLE] == {("sda",): 0, ("sdb",): 1}
    assert counted(*asleep, zero, zero)[FLUSHER_IDLE][("sdb",)] == 1  # another one's: woken once
    assert counted(*asleep, zero, is_idle=False)[FLUSHER_IDLE][("sdb",)] == 0  # its pages are being written
    # It began to write, it wrote, it was not woken, or nobody sleeps.
    begun = event(1.015, "writeback_start", "bdi 8:16: sb_dev 8:17 nr_pages=8 background=1 cgroup_ino=1")
    assert counted(*asleep, begun, zero)[FLUSHER_IDLE][("sdb",)] == 0
    assert counted(*asleep, event(1.02, "writeback_pages_written", "8"))[FLUSHER_IDLE][("sdb",)] == 0
    assert counted(asleep[0], zero)[FLUSHER_IDLE][("sdb",)] == 0
    assert counted(asleep[1], zero)[FLUSHER_IDLE][("sdb",)] == 0
    late = event(3.0, "writeback_pages_written", "0")
    assert counted(*asleep, late)[FLUSHER_IDLE][("sdb",)] == 0


def test_lost_events_are_counted():
    assert counted("CPU:1 [LOST 37 EVENTS]", "CPU:0 [LOST 5 EVENTS]")[LOST] == {(): 42}


def test_a_machine_that_starts_groups_without_end_gets_no_series_without_end():
    found = counted(*(slept(1, 7, 0, 10, group=number) for number in range(2, 400)))
    assert len(found[GROUP_THROTTLED]) == 201
    assert round(found[GROUP_THROTTLED][("others",)], 3) == 1.99
