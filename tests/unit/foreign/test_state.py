"""What several stacks tell together: the state of a machine, and the chain of holders as far as the stacks show it."""

from dataclasses import replace

import pytest
from support.stacktexts import machines, text

from wblab.foreign.stackreport import stack_report
from wblab.foreign.stacks import read_stacks
from wblab.report.text import lines


@pytest.mark.parametrize(
    "machine", machines(), ids=lambda machine: f"{machine.state}-{len(machine.chain)}-{machine.end[:20]}"
)
def test_a_state_is_told_by_all_stacks_together(machine):
    report = stack_report("dmesg.txt", read_stacks("\n".join(map(text, machine.cases))))
    assert report.data["state"] == machine.state
    assert tuple(link["comm"] for link in report.data["chain"]) == machine.chain
    if machine.chain:
        assert machine.end in str(report.headline)


@pytest.mark.parametrize(
    "machine", machines(), ids=lambda machine: f"{machine.state}-{len(machine.chain)}-{machine.end[:20]}"
)
def test_the_answer_is_first_in_at_most_five_lines_of_80_columns(machine):
    report = stack_report("dmesg.txt", read_stacks("\n".join(map(text, machine.cases))))
    shown = lines(report, 80)
    answer = shown[2:]
    assert shown[1] == ""
    assert next(at for at, line in enumerate(answer) if not line) <= 5 or answer[4]
    assert len(lines(type(report)("", report.headline, ()), 80)) <= 5
    assert all(len(line) <= 80 for line in shown if not line.startswith("    "))


def test_a_lock_s_owner_that_the_kernel_names_is_the_holder():
    blocked = [
        "INFO: task touch:310 blocked for more than 120 seconds.",
        "task:touch           state:D stack:0     pid:310   tgid:310   ppid:1      flags:0x00004000",
        "Call Trace:",
        " __schedule+0x1/0x2",
        " schedule+0x1/0x2",
        " rwsem_down_write_slowpath+0x1/0x2",
        " down_write+0x1/0x2",
        " open_last_lookups+0x1/0x2",
        "INFO: task touch:310 <writer> blocked on an rw-semaphore likely owned by task tar:300 <writer>",
        "task:tar             state:D stack:0     pid:300   tgid:300   ppid:1      flags:0x00004000",
        "Call Trace:",
        " __schedule+0x1/0x2",
        " schedule+0x1/0x2",
        " jbd2_log_wait_commit+0x1/0x2",
    ]
    report = stack_report("dmesg.txt", read_stacks("\n".join(blocked)))
    assert [link["comm"] for link in report.data["chain"]] == ["touch", "tar"]


def test_a_flusher_s_disk_is_in_its_workqueue():
    lines_ = [
        "task:kworker/u8:4    state:D stack:0     pid:90    ppid:2      flags:0x00004000",
        "Workqueue: writeback wb_workfn (flush-8:32)",
        "Call Trace:",
        " schedule+0x1/0x2",
        " blk_mq_get_tag+0x1/0x2",
        " wb_workfn+0x1/0x2",
    ]
    (link,) = stack_report("x", read_stacks("\n".join(lines_))).data["chain"]
    assert (link["role"], link["disk"], link["kind"]) == ("flusher", "8:32", "request")


def test_who_waits_for_something_else_is_not_said_to_wait_for_the_same():
    stacks = {
        "a": ("__schedule", "io_schedule", "folio_wait_bit_common", "of_a_driver"),
        "b": ("__schedule", "schedule", "of_another_driver"),
        "": ("__schedule", "io_schedule", "folio_wait_bit_common", "of_a_driver"),
    }
    said = "\n".join(
        "\n".join([f"{comm} D 0 {pid} 1 0x00000000" if comm else "", "Call Trace:", *(f" {f}+0x1/0x2" for f in frames)])
        for pid, (comm, frames) in enumerate(stacks.items(), 100)
    )
    shown = str(stack_report("x", read_stacks(said)).headline)
    assert shown.startswith("a and a task without a name wait for a page, locked or under writeback. 1 other task ")


def test_a_disk_that_tasks_wait_for_is_not_said_to_be_slow_itself():
    task = next(case for each in machines() for case in each.cases if case.comm.startswith("jbd2/"))
    buffer = text(replace(task, frames=tuple((name, True, "") for name in _BUFFER)), "hung")
    shown = str(stack_report("x", read_stacks(buffer)).headline)
    assert "for a block that was being read or written" in shown
    assert "whose I/O comes first, stacks do not say" in shown


_BUFFER = ("__schedule", "io_schedule", "__wait_on_buffer", "jbd2_journal_commit_transaction", "kjournald2", "kthread")
