"""Tasks in state D, in a /proc of the test and in this machine's."""

import os

import pytest

from wblab.machine.tasks import Asleep, asleep, asleep_of, no_stacks, stack_of

FREE = "(b) D 1) {state} 1 1 1 0 -1 {flags} 0 0 0 0 0 0 0 0 20 0 {threads} 0 1 2 3 4\n"  # a name may look like a state
KERNEL = 0x00200040


def make(place, pid, state, *, sleep=7, flags=0x400000, threads=1):
    place.mkdir(parents=True)
    (place / "stat").write_text(f"{pid} {FREE.format(state=state, flags=flags, threads=threads)}")
    (place / "status").write_text(f"Name:\tx\nvoluntary_ctxt_switches:\t{sleep}\nnonvoluntary_ctxt_switches:\t3\n")


def test_tasks_and_threads_that_sleep_uninterruptibly_are_found(tmp_path):
    make(tmp_path / "10", 10, "S")
    make(tmp_path / "11", 11, "D", sleep=5)
    make(tmp_path / "12", 12, "D", flags=KERNEL)
    make(tmp_path / "13", 13, "I", flags=KERNEL)
    make(tmp_path / "14", 14, "S", threads=3)
    for thread, state in ((14, "S"), (15, "D"), (16, "R")):
        make(tmp_path / "14" / "task" / str(thread), thread, state, sleep=9)
    (tmp_path / "17").mkdir()  # it has just ended
    (tmp_path / "uptime").write_text("1 2\n")
    found = sorted(asleep(tmp_path), key=lambda task: task.tid)
    assert found == [Asleep(11, 5, False), Asleep(12, 7, True), Asleep(15, 9, False)]
    assert list(asleep_of(14, tmp_path)) == [Asleep(15, 9, False)]
    assert list(asleep_of(17, tmp_path)) == list(asleep_of(18, tmp_path)) == []


def test_a_stack_is_a_list_of_functions_innermost_first(tmp_path):
    (tmp_path / "9").mkdir()
    (tmp_path / "9" / "stack").write_text(
        "[<0>] folio_wait_bit+0x1/0x2\n[<ffffffff81234567>] ext4_sync_file.constprop.0+0x1/0x2 [ext4]\n[<0>] 0xffff\n"
    )
    assert stack_of(9, tmp_path) == ["folio_wait_bit", "ext4_sync_file.constprop.0"]
    assert stack_of(10, tmp_path) == []


def test_this_machine_can_be_asked():
    assert all(task.tid for task in asleep())
    if os.geteuid():
        assert no_stacks().endswith("only root may read them")
        return
    if reason := no_stacks():
        pytest.skip(f"this kernel shows no stacks: {reason}")
    assert stack_of(os.getpid())
