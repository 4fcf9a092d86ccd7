"""Layers of writes and fsyncs in traces written by hand."""

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.runs import write_run, write_run_of
from support.writetraces import FSYNC, WRITE, WriteStory
from tracecmd import TraceError

from wblab.analysis.layers.bylayer import layers
from wblab.analysis.runs.run import read_run
from wblab.core.errors import InputError
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec

from .conftest import S1

JOURNAL, WORKER, OTHER = 20, 21, 8
COMMS = {7: "s1", 8: "l1", 20: "jbd2/ubda-8", 21: "kworker/u4:0"}
IRQ = ("um_timer", "do_IRQ", "do_idle")
CALL = ("ext4_sync_file", "do_fsync", "sys_fsync")
FOLIO = ("__schedule", "schedule", "folio_wait_writeback", "file_write_and_wait_range", *CALL)
FOLIO_ENDS = ("try_to_wake_up", "folio_end_writeback", "blk_update_request", *IRQ)
BY_WORKER = ("try_to_wake_up", "folio_end_writeback", "ext4_end_io_rsv_work", "worker_thread")
IDLE = ("__schedule", "schedule", "worker_thread", "kthread")
QUEUED = ("try_to_wake_up", "kick_pool", "__queue_work", "ext4_put_io_end_defer", "blk_update_request", *IRQ)
COMMIT = ("__schedule", "schedule", "jbd2_log_wait_commit", *CALL)
COMMIT_ENDS = ("try_to_wake_up", "__wake_up", "jbd2_journal_commit_transaction", "kjournald2")
BUFFER = ("__schedule", "bit_wait_io", "out_of_line_wait_on_bit", "jbd2_journal_commit_transaction", "kjournald2")
BUFFER_ENDS = ("try_to_wake_up", "wake_up_bit", "journal_end_buffer_io_sync", "blk_update_request", *IRQ)
THROTTLED = ("__schedule", "balance_dirty_pages", "generic_perform_write", "ext4_file_write_iter", "sys_pwrite64")
TIMER = ("try_to_wake_up", "run_timer_softirq", *IRQ)


def slept(story, start, end, sleep, wake, *, pid=S1, by=0):
    story.switch(start, pid, 0, stack=sleep)
    story.wake(end, by, pid, wake)
    story.switch(end, 0, pid)


def only(story_run, story, end=1000):
    (call,) = layers(story_run(story, end))
    assert sum(call.states.values()) == sum(call.causes.values()) == call.duration_ns
    return call


def test_a_page_waits_in_the_queue_and_for_the_device(story_run):
    story = WriteStory(COMMS)
    story.enter(100, S1, FSYNC)
    story.sync_file(105, S1)
    story.submit(110, S1, 1000, 8, inode=13)
    story.switch(120, S1, 0, stack=FOLIO)
    story.insert(150, S1, 1000, 8)
    story.issue(200, S1, 1000, 8)
    story.complete(500, 1000, 8)
    story.wake(500, 0, S1, FOLIO_ENDS)
    story.switch(530, 0, S1)
    story.sync_file(540, S1, end=True)
    story.leave(550, S1, FSYNC)
    call = only(story_run, story)
    assert (call.load, call.number, call.call) == ("s1", 0, "fsync")
    assert (call.start_ns, call.duration_ns, call.served) == (100, 450, 1)
    assert call.states == {"device": 300, "queue": 50, "cpu": 40, "held": 30, "runnable": 30}
    assert call.causes == {"folio under writeback": 380, "cpu": 40, "runnable": 30}
    assert (call.entered["ext4_sync_file"], call.functions["ext4_sync_file"]) == (435, 380)


def test_a_commit_is_followed_into_the_journal_by_its_phases(story_run):
    story = WriteStory(COMMS)
    story.enter(0, S1, FSYNC)
    story.switch(10, S1, JOURNAL, stack=COMMIT)
    for ns, name in enumerate(("start_commit", "commit_locking", "commit_flushing", "commit_logging")):
        story.phase(20 + 10 * ns, JOURNAL, name)
    story.submit(60, JOURNAL, 200, 8, rwbs="FWFSM")
    story.switch(60, JOURNAL, 0, stack=BUFFER)
    story.flush(70, 170, WORKER)
    story.issue(180, WORKER, 200, 8)
    story.complete(280, 200, 8)
    story.flush(280, 380, WORKER)
    story.complete(380, 200, 0)
    story.hand_over(380, 0, JOURNAL, BUFFER_ENDS)
    story.phase(390, JOURNAL, "end_commit")
    story.hand_over(400, JOURNAL, S1, COMMIT_ENDS)
    story.leave(410, S1, FSYNC)
    call = only(story_run, story)
    below = "commit", "logging", "buffer"
    assert call.parts == {
        (*below, "flush"): 200,
        (*below, "device"): 100,
        (*below, "held"): 20,
        ("commit", "logging", "journal"): 20,
        ("commit", "journal"): 20,
        ("cpu",): 20,
        ("commit", "starting", "journal"): 10,
        ("commit", "locking", "journal"): 10,
        ("commit", "flushing", "journal"): 10,
    }
    assert call.served == 3


def test_a_worker_is_followed_to_the_request_that_gave_it_its_work(story_run):
    story = WriteStory(COMMS)
    story.switch(0, WORKER, S1, stack=IDLE)
    story.enter(0, S1, FSYNC)
    story.submit(10, S1, 1000, 8, inode=13)
    story.issue(20, S1, 1000, 8)
    story.switch(20, S1, 0, stack=FOLIO)
    story.complete(300, 1000, 8)
    story.wake(300, 0, WORKER, QUEUED)
    story.switch(310, 0, WORKER)
    story.wake(350, WORKER, S1, BY_WORKER)
    story.switch(360, WORKER, S1, stack=IDLE)
    story.leave(400, S1, FSYNC)
    call = only(story_run, story)
    assert call.parts == {
        ("folio under writeback", "device"): 280,
        ("cpu",): 60,
        ("folio under writeback", "worker"): 50,
        ("runnable",): 10,
    }


def test_the_submitter_of_a_request_may_have_waited_for_the_same_worker(story_run):
    """XFS: the worker that ends log writes waits for work from a task that it has just woken."""
    story = WriteStory(COMMS)
    story.switch(0, WORKER, S1, stack=IDLE)
    story.enter(0, S1, FSYNC)
    story.submit(0, S1, 2000, 8, inode=13)
    story.issue(0, S1, 2000, 8)
    story.switch(0, S1, 0, stack=FOLIO)
    story.switch(0, OTHER, 0, stack=FOLIO)
    story.complete(300, 2000, 8)
    story.hand_over(300, 0, WORKER, QUEUED)
    story.hand_over(300, WORKER, OTHER, BY_WORKER, sleep=IDLE)
    story.submit(400, OTHER, 1000, 8, inode=14)
    story.issue(400, OTHER, 1000, 8)
    story.switch(400, OTHER, 0)
    story.complete(900, 1000, 8)
    story.hand_over(900, 0, WORKER, QUEUED)
    story.hand_over(900, WORKER, S1, BY_WORKER, sleep=IDLE)
    story.leave(900, S1, FSYNC)
    assert only(story_run, story).states == {"device": 800, "task": 100}


def test_time_before_submission_is_charged_to_the_submitter(story_run):
    story = WriteStory(COMMS)
    story.enter(0, S1, FSYNC)
    story.switch(0, S1, WORKER, stack=FOLIO)
    story.submit(100, WORKER, 1000, 8, inode=13)
    story.issue(100, WORKER, 1000, 8)
    story.switch(110, WORKER, 0, stack=IDLE)
    story.complete(300, 1000, 8)
    story.hand_over(300, 0, S1, FOLIO_ENDS)
    story.leave(300, S1, FSYNC)
    call = only(story_run, story)
    assert call.states == {"device": 200, "worker": 100}


def test_a_throttled_write_counts_once_by_state_and_in_each_prefix(story_run):
    story = WriteStory(COMMS)
    story.enter(0, S1, WRITE)
    slept(story, 0, 500, THROTTLED, TIMER)
    story.leave(510, S1, WRITE)
    call = only(story_run, story)
    assert (call.call, call.states, call.served) == ("write", {"throttled": 500, "cpu": 10}, 0)
    assert call.prefixes == {"FS": 500, "MM": 500, "block": 0}
    assert call.once == {"FS": 500, "MM": 500, "block": 0}


def test_nested_functions_are_both_counted(story_run):
    story = WriteStory(COMMS)
    story.enter(0, S1, FSYNC)
    slept(story, 0, 100, ("__schedule", "folio_wait_writeback", "ext4_inner", "blk_x", "ext4_outer"), FOLIO_ENDS)
    story.leave(100, S1, FSYNC)
    call = only(story_run, story)
    assert call.prefixes == {"FS": 200, "MM": 0, "block": 100}
    assert call.once == {"FS": 100, "MM": 0, "block": 100}


@pytest.mark.parametrize("wake", [(), TIMER], ids=["none", "another"])
def test_a_single_stack_is_not_enough(story_run, wake):
    story = WriteStory(COMMS)
    story.enter(0, S1, FSYNC)
    slept(story, 0, 100, FOLIO, wake)
    story.leave(100, S1, FSYNC)
    assert only(story_run, story).states == {"unknown": 100}


def test_an_unfinished_call_is_left_out(story_run):
    story = WriteStory(COMMS)
    story.enter(0, S1, WRITE)
    story.leave(10, S1, WRITE)
    story.enter(20, S1, FSYNC)
    slept(story, 20, 100, FOLIO, FOLIO_ENDS)
    assert [call.call for call in layers(story_run(story, 1000))] == ["write"]


def test_only_loads_that_write_and_wait_have_layers(tmp_path):
    run = read_run(write_run(tmp_path / "run", {"mw1": [0, 1000]}))
    with pytest.raises(InputError, match="'mw1' is a load of kind multiwrite"):
        layers(run, "mw1")
    with pytest.raises(InputError, match="wblab run layers"):
        layers(run)


def test_a_trace_without_system_calls_is_refused_with_the_next_step(story_run):
    story = WriteStory(COMMS)
    slept(story, 0, 100, FOLIO, FOLIO_ENDS)
    with pytest.raises(InputError, match=r"trace\.blame=always"):
        layers(story_run(story, 1000))
    run = story_run(story, 1000)
    left_out = {"left_out": ["raw_syscalls:sys_enter"], "kernel": {"release": "6.1.192"}}
    with pytest.raises(InputError, match=r"Linux 6\.1\.192 does not trace system calls here: repeat the run on 7\.2"):
        layers(replace(run, record=run.record | left_out))


def test_a_damaged_trace_is_refused_in_a_line(story_run, monkeypatch):
    def damaged(*arguments):
        raise TraceError("the trace is cut short")

    story = WriteStory(COMMS)
    slept(story, 0, 100, FOLIO, FOLIO_ENDS)
    monkeypatch.setattr("wblab.analysis.layers.bylayer.read_phases", damaged)
    with pytest.raises(InputError, match="cut short"):
        layers(story_run(story, 1000))


STACKS = st.sampled_from([FOLIO, COMMIT, BUFFER, THROTTLED, IDLE])
WAKES = st.sampled_from([(), FOLIO_ENDS, BY_WORKER, COMMIT_ENDS, BUFFER_ENDS, TIMER, QUEUED])
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["out", "preempt", "in", "wake", "submit", "insert", "issue", "done", "flush", "phase"]),
        st.integers(0, 3),
        st.integers(0, 3),
        st.integers(0, 9),
        STACKS,
        WAKES,
    ),
    max_size=60,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(STEPS)
def test_states_add_up_to_each_call_for_any_trace(story_run, steps):
    story = WriteStory({pid: f"task{pid}" for pid in range(1, 5)} | COMMS)
    story.switch(0, 0, S1)
    story.enter(0, S1, FSYNC)
    tasks, now = [S1, JOURNAL, WORKER, OTHER], 0
    for what, pid, other, later, sleep, wake in steps:
        now += later * 7
        one, two = tasks[pid], tasks[other]
        match what:
            case "out":
                story.switch(now, one, two, stack=sleep)
            case "preempt":
                story.switch(now, one, two, preempted=True)
            case "in":
                story.switch(now, 0, one)
            case "wake":
                story.wake(now, two, one, wake)
            case "submit":
                story.submit(now, one, 8 * other, 8, rwbs="FWFS" if other % 2 else "W")
            case "insert":
                story.insert(now, one, 8 * other, 8)
            case "issue":
                story.issue(now, one, 8 * other, 8)
            case "done":
                story.complete(now, 8 * other, 8 if later % 2 else 0)
            case "flush":
                story.flush(now, now + 3, one)
                now += 3
            case "phase":
                story.phase(now, JOURNAL, ("start_commit", "commit_logging", "end_commit", "commit_locking")[other])
    story.leave(now + 1, S1, FSYNC)
    (call,) = layers(story_run(story, now + 1))
    assert sum(call.states.values()) == sum(call.causes.values()) == call.duration_ns == now + 1
    assert all(time_ns > 0 for time_ns in call.parts.values())


def two_before() -> WriteStory:
    """An fsync issued at 100 behind two requests that complete at 300 and 400; its own request completes at 500."""
    story = WriteStory(COMMS)
    for at, sector in ((10, 1000), (20, 1100)):
        story.submit(at, OTHER, sector, 8, rwbs="WS")
        story.issue(at, OTHER, sector, 8)
    story.enter(100, S1, FSYNC)
    story.submit(100, S1, 1200, 8, inode=13)
    story.issue(100, S1, 1200, 8)
    story.switch(100, S1, 0, stack=FOLIO)
    story.complete(300, 1000, 8)
    story.complete(400, 1100, 8)
    story.complete(500, 1200, 8)
    story.hand_over(500, 0, S1, FOLIO_ENDS)
    story.leave(500, S1, FSYNC)
    return story


@pytest.mark.parametrize(
    ("depth", "states"),
    [
        (1, {"behind": 300, "device": 100}),
        (2, {"behind": 200, "device": 200}),
        (3, {"device": 400}),
        (32, {"device": 400}),
    ],
)
def test_a_wait_in_the_device_ends_when_a_slot_is_free(tmp_path, depth, states):
    story, spec = two_before(), read_spec(SPECS.find("layers"))
    disks = {name: replace(disk, depth=depth) for name, disk in spec.disk.items()}
    spec = replace(spec, load={"s1": spec.load["s1"]}, disk=disks)
    path = write_run_of(spec, tmp_path / "run", {"s1": [story.start_ns, story.start_ns + 600]})
    (path / "trace.dat").write_bytes(story.encode())
    (path / "disks.json").write_text(json.dumps({name: {"device": "98:0", "written_ns": 0} for name in disks}))
    (call,) = layers(read_run(path))
    assert call.states == states
