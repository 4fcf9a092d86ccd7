"""Explanations of pauses in traces written by hand."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.blametraces import DEVICE, Story
from support.runs import MS

from wblab.analysis.why.account import account, chains
from wblab.analysis.why.explain import explain
from wblab.core.errors import InputError
from wblab.report.whytext import sentences, total

from .conftest import IDLE_NS, MW1

L1, JOURNAL, FLUSHER = 8, 20, 21
COMMS = {7: "mw1", 8: "l1", 20: "jbd2/ubda-8", 21: "kworker/u4:0"}
IRQ = ("um_timer", "do_IRQ", "do_idle")
NAP = ("__schedule", "schedule", "do_nanosleep", "sys_clock_nanosleep")
SHADOW = ("__schedule", "schedule", "out_of_line_wait_on_bit", "do_get_write_access", "__ext4_new_inode", "sys_openat")
SHADOW_ENDS = ("try_to_wake_up", "journal_end_buffer_io_sync", "blk_update_request", *IRQ)
THROTTLED = ("__schedule", "schedule", "schedule_timeout", "balance_dirty_pages", "ksys_write")
TIMER = ("try_to_wake_up", "run_timer_softirq", *IRQ)
MUTEX = ("__schedule", "schedule", "__mutex_lock", "sys_openat")
MUTEX_ENDS = ("try_to_wake_up", "wake_up_q", "__mutex_unlock_slowpath", "sys_openat")
NAP_ENDS = ("try_to_wake_up", "hrtimer_wakeup", *IRQ)


def blocked(story, start_ms, end_ms, sleep, wake, *, pid=MW1, by=0):
    """Let a task sleep from its own stack until another's."""
    story.switch(start_ms * MS, pid, 0, stack=sleep)
    story.wake(end_ms * MS, by, pid, wake)
    story.switch(end_ms * MS, 0, pid)


def waits(story):
    """Let mw1 sleep from the start for a request of the journal; `served` ends that after 1 s."""
    story.submit(0, JOURNAL, 200, 8, rwbs="WSM")
    story.switch(0, MW1, 0, stack=SHADOW)


def served(story):
    story.complete(1000 * MS, 200, 8)
    story.hand_over(1000 * MS, 0, MW1, SHADOW_ENDS)


def one(story_run, story, end_ms=1100):
    """Return the explanation of the only pause of a cycle that ends with the intended sleep."""
    blocked(story, end_ms - IDLE_NS // MS, end_ms, NAP, NAP_ENDS)
    run, recorded = story_run(story, [0, end_ms * MS])
    (found,) = explain(run, recorded)
    return found


def test_a_journal_block_queued_behind_the_offender(story_run):
    story = Story(COMMS)
    for page in range(9):
        story.dirty(0, L1, 13, page)
    story.submit(0, FLUSHER, 1000, 72, inode=13, index=0)
    story.submit(0, JOURNAL, 200, 8)
    story.wait_for_block(0, MW1, 276)
    story.switch(0, MW1, 0, stack=SHADOW)
    story.complete(900 * MS, 1000, 72)
    served(story)
    found = one(story_run, story)
    assert found.parts == {"journal writes block": 1000 * MS}
    (cause,) = found.causes
    assert (cause.call, cause.block, cause.waits) == ("openat", 276, 1)
    assert cause.is_of == "inode bitmap or group descriptor"
    assert cause.functions == ("sys_openat", "__ext4_new_inode", "do_get_write_access", "out_of_line_wait_on_bit")
    assert (cause.request.device, cause.request.sector, cause.request.size) == (DEVICE, 200, 4096)
    assert cause.request.ahead == {"l1": 9 * 4096, "the journal": 4096}
    assert found.blame != "not writeback"


def test_a_writer_at_the_dirty_limit(story_run):
    story = Story(COMMS)
    for page in range(4):
        story.dirty(0, L1, 13, page)
    story.dirty(0, MW1, 14, 0)
    story.submit(0, FLUSHER, 1000, 8, inode=13, index=0)
    story.switch(0, MW1, 0, stack=THROTTLED)
    story.hand_over(400 * MS, 0, MW1, TIMER)
    story.complete(500 * MS, 1000, 8)
    blocked(story, 500, 1000, THROTTLED, TIMER)
    found = one(story_run, story)
    (cause,) = found.causes
    assert (found.parts["throttled"], cause.waits, cause.longest_ns) == (900 * MS, 2, 500 * MS)
    assert cause.dirty == {"l1": 4 * 4096, "mw1": 4096}
    assert found.chains[0].end == "timer"


def test_a_lock_whose_holder_waits_for_the_disk(story_run):
    story = Story(COMMS)
    story.switch(0, MW1, L1, stack=MUTEX)
    story.switch(10 * MS, L1, 0, stack=SHADOW)
    story.complete(800 * MS, 200, 8)
    story.hand_over(800 * MS, 0, L1, SHADOW_ENDS)
    story.hand_over(1000 * MS, L1, MW1, MUTEX_ENDS)
    found = one(story_run, story)
    assert found.parts == {"lock": 1000 * MS}
    told_chains = {(chain.links[-1], chain.end): chain.time_ns for chain in found.chains}
    assert told_chains == {
        (("l1", "journal writes block"), "request"): 790 * MS,
        (("l1", "running"), "running"): 210 * MS,
    }
    assert all(chain.links[0] == ("mw1", "lock") for chain in found.chains)
    assert found.causes[0].waker == "l1"
    assert found.blame != "not writeback"


def test_a_lock_whose_holder_only_runs_is_not_caused_by_the_disk(story_run):
    story = Story(COMMS)
    story.switch(0, MW1, L1, stack=MUTEX)
    story.hand_over(1000 * MS, L1, MW1, MUTEX_ENDS)
    found = one(story_run, story)
    assert (found.parts, found.blame == "not writeback") == ({"lock": 1000 * MS}, True)


def test_a_worker_that_was_idle_until_the_disk_completed_is_not_the_cause(story_run):
    """ext4 and XFS finish a write in a worker, which wakes the waiting task, perhaps after other work."""
    story, idle = Story(COMMS), ("__schedule", "schedule", "worker_thread")
    story.switch(0, FLUSHER, 0, stack=idle)
    story.switch(0, MW1, 0, stack=("__schedule", "schedule", "folio_wait_writeback", "sys_fsync"))
    story.hand_over(300 * MS, 0, FLUSHER, ("try_to_wake_up", "kick_pool", "delayed_work_timer_fn", *TIMER))
    story.switch(300 * MS, FLUSHER, 0, stack=idle)
    story.hand_over(900 * MS, 0, FLUSHER, ("try_to_wake_up", "kick_pool", "bio_endio", "blk_update_request", *IRQ))
    story.hand_over(
        1000 * MS, FLUSHER, MW1, ("try_to_wake_up", "folio_wake_bit", "folio_end_writeback", "worker_thread")
    )
    found = one(story_run, story)
    (waits, busy) = found.chains
    assert (waits.links[-1], waits.end, waits.time_ns) == (("kworker/u4:0", "idle"), "request", 900 * MS)
    assert (busy.links[-1], busy.end) == (("kworker/u4:0", "running"), "running")
    assert found.blame != "not writeback"


@pytest.mark.parametrize("wake", [(), TIMER, ("try_to_wake_up", *IRQ)], ids=["none", "another", "unknown"])
def test_one_stack_is_not_enough(story_run, wake):
    story = Story(COMMS)
    blocked(story, 0, 1000, SHADOW, wake)
    found = one(story_run, story)
    assert found.parts == {"unknown": 1000 * MS} == {"unknown": found.unknown_ns}
    assert found.chains[0].end == "unknown"
    assert "1 s is unknown" in "\n".join(sentences(found))


def test_functions_of_an_interrupted_task_are_no_evidence(story_run):
    story = Story(COMMS)
    blocked(story, 0, 1000, MUTEX, ("try_to_wake_up", "process_timeout", "do_IRQ", "__mutex_unlock_slowpath"))
    assert one(story_run, story).parts == {"unknown": 1000 * MS}


def test_a_spurious_wake_up_does_not_end_a_wait(story_run):
    story = Story(COMMS)
    blocked(story, 0, 400, SHADOW, TIMER)
    blocked(story, 400, 1000, SHADOW, SHADOW_ENDS)
    assert one(story_run, story).parts == {"journal writes block": 1000 * MS}


def test_a_switch_from_the_idle_task_that_was_not_traced_is_inferred(story_run):
    """Linux 6.18 on some hosts traces neither that switch nor the stack of an interrupt of an idle processor."""
    story = Story(COMMS)
    story.switch(0, MW1, 0, stack=NAP)
    story.wake(300 * MS, 0, MW1)
    story.switch(301 * MS, MW1, 0, stack=THROTTLED)
    story.wake(1000 * MS, 0, MW1)
    found = one(story_run, story)
    assert found.parts == {"asleep": 300 * MS, "running": 1 * MS, "throttled": 699 * MS}
    assert [chain.end for chain in found.chains] == ["timer", "asleep", "running"]


def test_a_load_without_a_processor_is_not_stalled_by_the_disk(story_run):
    story = Story(COMMS)
    story.switch(0, MW1, L1, preempted=True)
    story.switch(1000 * MS, L1, MW1)
    found = one(story_run, story)
    assert found.parts == {"runnable": 1000 * MS}
    assert found.blame == "not writeback"
    assert "not caused by writeback" in "\n".join(sentences(found))


def test_a_load_that_always_runs_is_not_stalled_by_the_disk(story_run):
    found = one(story_run, Story(COMMS))
    assert found.parts == {"running": 1000 * MS}
    assert found.blame == "not writeback"


def test_pauses_are_numbered_in_the_order_of_time_and_chosen_by_load_and_bound(story_run):
    story = Story(COMMS)
    for start in (0, 700):
        blocked(story, start, start + 600, SHADOW, SHADOW_ENDS)
        blocked(story, start + 600, start + 700, NAP, NAP_ENDS)
    run, recorded = story_run(story, [0, 700 * MS, 1400 * MS])
    assert [(item.number, item.start_ns) for item in explain(run, recorded)] == [(1, 0), (2, 700 * MS)]
    assert explain(run, recorded, bound_ns=600 * MS) == []
    with pytest.raises(InputError, match="no load 'mw2'"):
        explain(run, recorded, "mw2")
    assert total(explain(run, recorded)) == "2 pauses, 1.20 s in all, 100 % explained: journal writes block 100 %"


def test_a_run_without_recorded_events_is_refused_with_the_next_step(story_run):
    story = Story(COMMS)
    story.dirty(0, L1, 13, 0)
    with pytest.raises(InputError, match=r"trace\.blame=always"):
        story_run(story, [0, 1100 * MS])


STACKS = st.sampled_from([NAP, SHADOW, THROTTLED, MUTEX])
WAKES = st.sampled_from([(), SHADOW_ENDS, TIMER, MUTEX_ENDS, NAP_ENDS])
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["out", "preempt", "in", "wake"]),
        st.integers(0, 3),
        st.integers(0, 3),
        st.integers(0, 9),
        STACKS,
        WAKES,
    ),
    max_size=40,
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(STEPS, st.integers(0, 400 * MS), st.integers(1, 400 * MS))
def test_parts_and_chains_add_up_to_the_nanosecond_for_any_trace(story_run, steps, start, length):
    story = Story({pid: f"task{pid}" for pid in range(1, 5)} | COMMS)
    story.switch(0, 0, MW1)
    tasks, now = [MW1, 1, 2, 3], 0
    for what, pid, other, later, sleep, wake in steps:
        now += later * 7 * MS + later
        if what == "out":
            story.switch(now, tasks[pid], tasks[other], stack=sleep)
        elif what == "preempt":
            story.switch(now, tasks[pid], tasks[other], preempted=True)
        elif what == "in":
            story.switch(now, 0, tasks[pid])
        else:
            story.wake(now, tasks[other], tasks[pid], wake)
    run, recorded = story_run(story, [start, start + length])
    span = (story.start_ns + start, story.start_ns + start + length)
    parts = account(recorded, MW1, *span).parts
    assert sum(parts.values()) == length
    assert all(time_ns > 0 for time_ns in parts.values())
    assert sum(chain.time_ns for chain in chains(recorded, MW1, *span)) == length
    for found in explain(run, recorded, bound_ns=0):
        assert found.pause_ns == length - IDLE_NS
        assert sum(found.parts.values()) == found.pause_ns
        assert sum(chain.time_ns for chain in found.chains) == found.pause_ns


def test_overlapping_time_counts_once(story_run):
    story = Story(COMMS)
    story.switch(0, MW1, 0, stack=NAP)
    story.switch(0, MW1, 0, stack=SHADOW)  # the events of its return were lost
    story.switch(500 * MS, 0, MW1)
    _, recorded = story_run(story, [0, 1000 * MS])
    span = (story.start_ns, story.start_ns + 1000 * MS)
    parts = account(recorded, MW1, *span).parts
    assert parts == {"unknown": 500 * MS, "running": 500 * MS}
    assert sum(chain.time_ns for chain in chains(recorded, MW1, *span)) == 1000 * MS


def test_a_damaged_trace_is_refused_with_a_reason(story_run):
    story = Story(COMMS)
    story.switch(0, MW1, 0, stack=NAP)
    for sector in range(40):
        story.submit(0, L1, sector, 1 << 31)
    story.complete(MS, 0, 8)
    _, recorded = story_run(story, [0, 1100 * MS])
    with pytest.raises(InputError, match="damaged or too long"):
        assert recorded.done
