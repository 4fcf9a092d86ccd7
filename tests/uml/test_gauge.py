"""The gauge fed with recorded guests: its alerts fire where programs stalled, and its sums are the time they slept."""

import numpy as np
import pytest
from support.gauged import RECORDED, fired, replayed
from support.lottery import some

from wblab.analysis.why.recorded import read_recorded

S = 10**9
SHORT = ("nr_requests=4", "max_sectors_kb=128")
# Presets with and without stalls, and what is set in them. The figures in docs/how-to/live.md are of these, on three
# kernels and with four seeds.
CELLS = {
    "base-device": (),
    "base-device short": tuple(f"disk.queue.{text}" for text in SHORT),
    "base-device small": ("load.l1.size=4MiB", "load.l2.size=2MiB"),
    "base-device none": ("load.l1.size=64KiB", "load.l2.size=64KiB"),
    "base": (),
    "base memory": ("memory=400MiB",),
    "base-ext2": (),
    "commit": (),
    "commit short": tuple(f"disk.queue.{text}" for text in SHORT),
    "commit small": ("load.l1.size=2MiB", "load.l2.size=2MiB"),
    "two-disks": (),
    "two-disks short": tuple(f"disk.slow.queue.{text}" for text in SHORT),
    "two-disks small": ("load.l1.size=3MiB",),
    "two-disks-commit": (),
    "stick": (),
    "jbod": (),
    "laptop": (),
}


def last(run, name):
    """Return the last values of a metric in a run, by the values of its labels."""
    *_, scrape = replayed(run)
    return {tuple(value for _, value in labels): value for (key, labels), value in scrape.values.items() if key == name}


@pytest.fixture(scope="module")
def two_disks(shared_lab):
    return shared_lab.once("two-disks", RECORDED)


def stalled(run):
    return max(int(item.pauses_ns.max()) for item in run.loads if item.load.role == "innocent")


def test_alerts_fire_where_innocent_loads_stall(two_disks):
    assert stalled(two_disks) > S
    writers = {f"WblabWritersStopped {disk}" for disk in ("slow", "fast")}
    assert fired(two_disks) == {*writers, "WblabProgramsBlocked", "WblabFlusherIdle fast"}


def test_no_alert_fires_where_nobody_stalls(shared_lab):
    run = shared_lab.once("base-device", RECORDED, "load.l1.size=4MiB", "load.l2.size=2MiB")
    assert stalled(run) < S // 2
    assert fired(run) == set()


def test_the_time_at_a_dirty_limit_is_the_time_that_tasks_slept_there(two_disks):
    counted = last(two_disks, "wblab_dirty_throttled_seconds_total")
    assert set(counted) == {("slow",), ("fast",)}
    recorded = read_recorded(two_disks)
    at_limit = [number for number, stack in enumerate(recorded.stacks.known) if "balance_dirty_pages" in stack]
    spans = recorded.offcpu.where(np.isin(recorded.offcpu.stack, at_limit))
    slept_ns = int((spans.on_ns - spans.ts_ns).sum())
    assert sum(counted.values()) == pytest.approx(slept_ns / S, rel=0.05)


def test_the_flusher_of_the_fast_disk_is_seen_to_write_nothing(two_disks):
    """docs/findings/flusher-at-the-limit.md."""
    assert last(two_disks, "wblab_flusher_idle_wakeups_total")["fast",] > 100
    blocked = last(two_disks, "wblab_tasks_blocked_seconds_total")
    assert blocked["program", "journal writes block"] > 10
    assert all(value == 0 for (_, kind), value in blocked.items() if kind == "unknown")


@pytest.mark.parametrize("cell", some(CELLS, 1))
def test_an_alert_of_stalls_fires_where_a_program_stalls_for_over_a_second(shared_lab, cell):
    """Also a program that copies: that no innocent load stalls with it, the gauge does not know."""
    run = shared_lab.once(cell.split()[0], RECORDED, *CELLS[cell])
    longest_ns = max(int(item.pauses_ns.max()) for item in run.loads if item.load.role != "control")
    names = {name.split()[0] for name in fired(run)}
    assert bool(names & {"WblabWritersStopped", "WblabProgramsBlocked"}) == (longest_ns > S)
