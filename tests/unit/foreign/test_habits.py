"""What a recording shows of its programs: the blocks of the heaviest writer, and whether the stalled one syncs."""

import pytest
from support.keptrecordings import kept

from wblab.foreign.facts import read_facts
from wblab.foreign.habits import Habits, habits_in

MIB = 1 << 20
COPY = [("sys_enter_write", 7, MIB)] * 5 + [("sys_enter_write", 7, 35), ("sys_enter_write", 42, 4096)]


@pytest.mark.parametrize(
    ("calls", "found"),
    [
        (COPY, Habits(MIB, syncs=False)),
        ([*COPY, ("sys_enter_fsync", 42, 3)], Habits(MIB, syncs=True)),  # task 42 stalled
        ([*COPY, ("sys_enter_fsync", 7, 3)], Habits(MIB, syncs=False)),
        (COPY[:3], Habits(0, syncs=False)),  # no copy that fills memory
        ([("sys_enter_write", 7, 0xFFFFFFFF)], Habits(0, syncs=False)),  # no length of a write
        ([], Habits()),
    ],
)
def test_the_heaviest_writer_s_blocks_and_who_syncs(tmp_path, calls, found):
    assert habits_in(kept(tmp_path / "kept.tar.gz", calls)) == found


def requests(*steps):
    return [(f"block_rq_{step}", 7, 8 << 20 | 16) for step in steps]


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        (("insert", "insert", "issue", "complete", "issue", "complete"), {"8:16"}),
        (("insert", "insert", "issue", "issue", "complete", "complete"), set()),
        (("insert", "issue", "complete", "insert", "issue", "complete"), set()),  # nobody waited
        (("issue", "complete"), set()),
    ],
)
def test_a_disk_that_takes_one_request_while_others_wait(tmp_path, steps, found):
    habits = habits_in(kept(tmp_path / "kept.tar.gz", requests(*steps)))
    assert habits.one_by_one == found
    assert habits.several == ({"8:16"} if steps.count("issue") > 1 and "issue, issue" in ", ".join(steps) else set())


def test_a_probe_syncs(tmp_path):
    recorder = b"stall 910 ms, the probe in /srv\nLinux far 5.10.0\n"
    assert habits_in(kept(tmp_path / "kept.tar.gz", recorder=recorder)).syncs


def test_a_trace_that_is_damaged_says_nothing_and_its_facts_are_read(tmp_path):
    limits = "nr_dirty_threshold 7\nnr_dirty_background_threshold 3\n"
    text = {"facts.txt": f"==> /proc/vmstat <==\n{limits}".encode()}
    path = kept(tmp_path / "kept.tar.gz", COPY, header_page=b"no page", **text)
    assert habits_in(path) == Habits()
    assert read_facts(path).files == {"/proc/vmstat": limits}


def test_facts_from_a_serial_console_are_read(tmp_path):
    path = tmp_path / "facts.txt"
    path.write_bytes(b"==> /proc/vmstat <==\r\nnr_dirty_threshold 7\r\nnr_dirty_background_threshold 3\r\n")
    assert read_facts(path).files == {"/proc/vmstat": "nr_dirty_threshold 7\nnr_dirty_background_threshold 3\n"}
