"""Traces as text with switches of tasks: who slept uninterruptibly, for how long and for what."""

import struct
import textwrap

import pytest
from support.sleeptexts import FORMS, STACK, text

from wblab.core.errors import InputError
from wblab.foreign.door import explained
from wblab.foreign.sleepreport import sleep_report, slept_of
from wblab.foreign.sleeptext import INTERRUPT, read_sleeps
from wblab.report.text import lines

DB, OTHER, IDLE, WORKER = ("postgres", 813), ("cron job", 7), ("swapper/1", 0), ("kworker/u8:1", 44)
STORY = (
    (10.0, DB, "D", IDLE, STACK),
    (11.5, IDLE, "R", OTHER),
    (12.0, OTHER, "S", DB),  # the database goes on after 2 s
    (12.25, DB, "S", IDLE),  # by its own will
    (13.0, IDLE, "R", DB),
    (13.5, DB, "D", WORKER, STACK),
    (14.0, WORKER, "D", DB),
    (20.0, DB, "R+", IDLE),
)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_says_who_slept_for_what(form):
    found = read_sleeps(text(form, *STORY))
    assert (found.switches, found.lasted_s) == (8, 10.0)
    first, worker = slept_of(found)
    assert (first.first.task.comm, first.first.task.pid, first.times) == ("postgres", 813, 2)
    assert (first.slept_s, first.longest_s) == pytest.approx((2.5, 2.0))
    assert (first.first.wait.kind, first.first.call) == ("folio under writeback", "fsync")
    assert (worker.first.task.comm, worker.is_over, worker.slept_s) == ("kworker/u8:1", False, 6.0)
    said = str(sleep_report("x", found).headline)
    assert (
        said
        == "postgres slept uninterruptibly for 2.50 s in all, 2 s the longest: in fsync() for a page under writeback."
    )
    assert len(textwrap.wrap(said, 80)) <= 5


def test_stacks_of_two_processors_between_each_other_are_each_task_s_own():
    (db, *db_stack), (job, *job_stack) = (
        text("ftrace", (10.0 + at, who, "D", IDLE, stack)).splitlines()
        for at, (who, stack) in enumerate(((DB, STACK), (OTHER, ("schedule", "balance_dirty_pages", "ksys_write"))))
    )
    ends = text("ftrace", (12.0, IDLE, "R", DB), (12.0, IDLE, "R", OTHER)).splitlines()
    found = slept_of(read_sleeps("\n".join([db, job, *db_stack, *job_stack, *ends])))
    assert {each.first.task.comm: each.first.wait.kind for each in found} == {
        "postgres": "folio under writeback",
        "cron job": "throttled",
    }


def test_a_stack_of_another_event_is_nobody_s():
    waking = "             dd-9   [001] d..2. 10.5: sched_waking: comm=postgres pid=813 prio=120 target_cpu=001"
    noise = [waking, "             dd-9   [001] d..2. 10.5: <stack trace>", " => balance_dirty_pages"]
    rows = [
        *text("ftrace", (10.0, DB, "D", IDLE)).splitlines(),
        *noise,
        *text("ftrace", (12.0, IDLE, "R", DB)).splitlines(),
    ]
    (slept,) = read_sleeps("\n".join(rows)).sleeps
    assert slept.task.frames == ()


def test_without_stacks_it_says_for_how_long_and_how_to_learn_for_what(tmp_path):
    file = tmp_path / "t.txt"
    file.write_text(text("report", (1.0, DB, "D", IDLE), (5.0, IDLE, "R", DB)))
    shown = "\n".join(lines(explained(str(file)), 80))
    assert "postgres slept uninterruptibly for 4 s in all, 4 s the longest: for what, its" in shown
    assert "perf record -a -g -e sched:sched_switch" in shown


def test_nobody_who_slept_by_his_own_will_is_named(tmp_path):
    file = tmp_path / "t.txt"
    file.write_text(text("perf", (1.0, DB, "S", IDLE), (5.0, IDLE, "R", DB), (6.0, DB, "I", IDLE)))
    with pytest.raises(InputError, match="a trace as text"):
        explained(str(file))


def test_dirty_limits_in_the_same_trace_are_said_below(tmp_path):
    limit = (
        "postgres 813 [001] 10.5: writeback:balance_dirty_pages: bdi 8:16: limit=1000 setpoint=800 dirty=950 "
        "bdi_setpoint=780 bdi_dirty=900 dirty_ratelimit=100 task_ratelimit=50 dirtied=32 dirtied_pause=32 paused=0 "
        "pause=200 period=10 think=0 cgroup_ino=1"
    )
    file = tmp_path / "t.txt"
    file.write_text(limit + "\n" + text("perf", *STORY))
    found = explained(str(file))
    assert (found.data["kind"], found.data["throttling"]["decisions"]) == ("sleeps", 1)


def test_traces_of_perfetto_and_perf_are_named_with_what_to_do(tmp_path):
    file = tmp_path / "trace"
    file.write_bytes(b"".join(b"\x0a" + struct.pack("BB", 0x80 | 5, 1) + b"\0" * 133 for _ in range(6)))
    with pytest.raises(
        InputError, match=r"a trace of Perfetto: .* traceconv systrace \S*trace t\.txt; then: wblab why"
    ):
        explained(str(file))
    file.write_bytes(b"PERFILE2" + b"\0" * 100)
    with pytest.raises(InputError, match=r"perf script -i \S*trace > t\.txt; wblab why t\.txt"):
        explained(str(file))
    file.write_bytes(b"\n\n\n\n\n\0")
    with pytest.raises(InputError, match="of no kind that is known here"):
        explained(str(file))


@pytest.mark.parametrize(
    ("waking", "waker"),
    [
        (
            "   kworker/1:0-9   [001] d..2. 11.500000: sched_waking: comm=postgres pid=813 prio=120 target_cpu=001",
            "kworker/1:0",
        ),
        (
            "   kworker/1:0-9   [001] 11.500000: sched_waking: comm=postgres pid=813 prio=120 target_cpu=001",
            "",
        ),  # no flags
        (
            "   cron job-7   [001] d.h2. 11.500000: sched_waking: comm=postgres pid=813 prio=120 target_cpu=001",
            INTERRUPT,
        ),
        (
            "   cron job-7   [001] d.s2 11.500000: sched_waking: comm=postgres pid=813 prio=120 target_cpu=001",
            INTERRUPT,
        ),
        ("   <...>-9   [001] d..2. 11.500000: sched_waking: comm=postgres pid=813 prio=120 target_cpu=001", ""),
        ("swapper/1 0 [001] 11.500000: sched:sched_waking: comm=postgres pid=813 prio=120 target_cpu=001", INTERRUPT),
        ("   kworker/1:0-9   [001] d..2. 11.500000: sched_waking: comm=cron job pid=7 prio=120 target_cpu=001", ""),
    ],
)
def test_who_woke_a_task_is_known_unless_the_line_may_have_who_was_interrupted(waking, waker):
    begin, end = (text("ftrace", switch) for switch in ((10.0, DB, "D", IDLE, STACK), (12.0, IDLE, "R", DB)))
    (slept,) = slept_of(read_sleeps(f"{begin}{waking}\n{end}"))
    assert list(slept.wakers) == [waker][: bool(waker)]
    shown = "\n".join(lines(sleep_report("x", read_sleeps(f"{begin}{waking}\n{end}")), 80))
    assert ("woken by" in shown) == bool(waker)
    assert ("who woke them" in shown) != bool(waker)
