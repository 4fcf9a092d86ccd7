"""Stacks in texts of Linux 3.0 to 7.2, in every form: what each task waits for, or that its stack does not say it."""

import pytest
from support.stacktexts import FORMS, cases, frames_in_proc, text

from wblab.foreign.judge import judged
from wblab.foreign.stacks import read_stacks

CASES = cases()


def kind_in(case, form):
    """The kind that a form of a text shows: /proc leaves out the scheduler, and a wait for a block with it."""
    is_unseen = form.startswith("proc") and frames_in_proc(case)[0][0] == "jbd2_journal_commit_transaction"
    return "unknown" if is_unseen else case.kind


def test_there_are_enough():
    assert len(CASES) >= 60
    assert {case.version[0] for case in CASES} >= {3, 4, 5, 6, 7}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.linux}-{case.comm}-{case.pid}")
def test_a_stack_says_what_a_task_waits_for_or_is_unknown(case):
    (task,) = read_stacks(text(case)).tasks
    found = judged(task)
    assert (task.comm, task.pid) == (case.comm, case.pid)
    assert (found.wait.kind, found.call, found.filesystem) == (case.kind, case.call, case.filesystem)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_text_says_the_same(form):
    for case in CASES:
        found = read_stacks(text(case, form)).tasks
        assert len(found) == 1, text(case, form)
        said = judged(found[0])
        assert (found[0].comm, found[0].pid) == (case.comm, case.pid), text(case, form)
        assert (said.wait.kind, said.call) == (kind_in(case, form), case.call), text(case, form)


def test_many_tasks_in_one_text_of_one_form():
    for form in ("hung", "sysrq", "journalctl", "netconsole", "crash", "proc", "proc_loop", "proc_grep", "arm64"):
        found = read_stacks("\n".join(text(case, form) for case in CASES)).tasks
        assert [(task.comm, task.pid) for task in found] == [(case.comm, case.pid) for case in CASES]
        assert [judged(task).wait.kind for task in found] == [kind_in(case, form) for case in CASES]


def test_stacks_of_what_once_happened_are_of_no_task_that_waits():
    for heading in ("-> #1 (jbd2_handle){++++}-{0:0}:", "Allocated by task 901:", "  backtrace (crc 0):"):
        past = f"{heading}\n down_write+0x4c/0x60\n jbd2_log_wait_commit+0x13c/0x3f0\n"
        assert not read_stacks(past).tasks
        (task,) = read_stacks(past + text(CASES[0])).tasks
        assert task.comm == CASES[0].comm


def test_a_stack_without_a_heading_and_without_the_scheduler_is_of_no_known_wait():
    frames = "\n".join(f" {name}+0x4c/0x60" for name in ("jbd2_log_wait_commit", "ext4_sync_file", "do_fsync"))
    (ran,) = read_stacks(f"Call Trace:\n{frames}").tasks
    (slept,) = read_stacks(f"Call Trace:\n schedule+0x1/0x2\n{frames}").tasks
    assert (judged(ran).wait.kind, judged(slept).wait.kind) == ("unknown", "commit")


def test_a_program_s_own_stacks_say_nothing_of_the_kernel():
    own = "Thread 1 (Thread 0x7f1b4a (LWP 301)):\n#0  0x00007f1b mutex_lock () at my.c:9\n#1  down_write () at my.c:3\n"
    assert not read_stacks(own).tasks
