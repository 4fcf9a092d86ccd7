"""Files of /proc from a guest with 7.3, and those of this machine."""

import os
import subprocess
from pathlib import Path

from wblab.live.monitor import proc
from wblab.live.monitor.proc import (
    IoPressure,
    ProcessTable,
    Writers,
    cache_state,
    grown,
    parent_pid,
    stalls_ns,
    vmstat,
    written_bytes,
)
from wblab.live.monitor.samples import CacheState

VMSTAT = b"""\
nr_free_pages 9
nr_dirty 3780
nr_writeback 3082
nr_writeback_temp 1
nr_dirtied 7389
nr_written 527
nr_dirty_threshold 5201
nr_dirty_background_threshold 2597
"""
PRESSURE = b"""\
some avg10=14.31 avg60=2.58 avg300=0.54 total=2030000
full avg10=13.94 avg60=2.51 avg300=0.52 total=1980000
"""
IO = b"rchar: 7084\nwchar: 108\nsyscr: 14\nsyscw: 1\nread_bytes: 0\nwrite_bytes: 8192\ncancelled_write_bytes: 4096\n"


def test_the_state_of_the_cache_has_no_limit():
    assert cache_state(VMSTAT, 10, 7) == CacheState(7, 37800, 30820, 25970, 52010, None)


def test_stalls_are_in_ns():
    assert stalls_ns(PRESSURE) == (2_030_000_000, 1_980_000_000)


def test_cancelled_writes_do_not_count():
    assert written_bytes(IO) == 4096


def test_this_machine_has_these_files():
    state = cache_state(vmstat().read(), os.sysconf("SC_PAGESIZE"), 0)
    assert 0 < state.background < state.threshold
    assert parent_pid(Path("/proc/self/stat").read_bytes()) == os.getppid()
    assert proc.task_name(os.getpid()) == Path("/proc/self/comm").read_text().strip()
    for sample in IoPressure(0).since_last(5):
        assert (sample.at_ns, sample.span_ns) == (5, 5)
        assert 0 <= sample.full_ns <= sample.some_ns


def test_missing_pressure_information_is_left_out(tmp_path):
    assert IoPressure(0, tmp_path / "none").since_last(5) == ()


def test_growth_is_the_difference_of_counters():
    assert grown({1: 10, 2: 5}, {1: 30, 2: 5, 3: 7}, {}) == {1: 20, 3: 7}


def test_an_ended_child_is_not_counted_again_for_its_parent():
    before, now = {1: 100, 2: 5000}, {1: 100 + 5000 + 64}
    assert grown(before, now, {2: 1}) == {1: 64}  # its writes since the last sample
    assert grown(before, {1: 100}, {2: 1}) == {}  # a parent that does not wait for its children
    assert grown(before, {3: 0}, {2: 1}) == {}  # and one that is gone too
    assert grown({1: 0, 2: 0, 3: 500}, {1: 500 + 7}, {3: 2, 2: 1, 1: 0}) == {1: 7}  # and its child's child


def test_disks_of_writers_are_reported_if_known():
    totals = {10: 0, 11: 0, 12: 0}
    names, of = {10: "cp", 11: "sh", 12: "sh"}, {10: 10, 100: 10, 11: 11, 12: 12}
    writers = Writers(most=9, now_ns=0, processes=ProcessTable(totals.items, lambda written: {}, names.get, of.get))

    def disks_with(dirtied):
        for pid in totals:
            totals[pid] += 4096
        return {row.task: row.disk for row in writers.since_last(1, dirtied)}

    assert disks_with({}) == {"cp": "", "sh": ""}
    assert disks_with({100: {"stick"}, 11: {"own"}}) == {"cp": "stick", "sh": ""}  # the other sh may write elsewhere
    assert disks_with({12: {"own"}}) == {"cp": "stick", "sh": "own"}  # a disk seen once is kept
    assert disks_with({999: {"own"}}) == {"cp": "", "sh": "own"}  # one that is gone may have been a child of cp
    assert disks_with({10: {"own"}}) == {"cp": "own, stick", "sh": "own"}


def test_a_living_thread_belongs_to_its_process():
    assert proc.process_of(os.getpid()) == os.getpid()
    assert proc.process_of(1 << 22) is None


def test_writers_are_named_and_short_lived_children_count_for_parents(disk_path):
    writers = Writers(most=1000, now_ns=0)
    script = "dd if=/dev/zero bs=1M count=8 of=$0 2>/dev/null; echo; read line"
    writer = subprocess.Popen(["sh", "-c", script, str(disk_path / "f")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert writer.stdout is not None
    writer.stdout.readline()  # dd has ended, and its shell has seen that
    found = {sample.task: sample.written for sample in writers.since_last(10**9)}
    writer.communicate(b"\n")
    assert found["sh"] >= 8 << 20
