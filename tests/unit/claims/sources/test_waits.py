"""Verdicts from the causes of pauses, on synthetic traces."""

import pytest
from support.blametraces import Story
from support.runs import MS, write_run

from wblab.analysis.runs.run import read_run
from wblab.analysis.statistics.decision import NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED
from wblab.claims.sources.figures import waits_of
from wblab.claims.sources.registry import CLAIMS
from wblab.claims.sources.sample import Sample

MW1, FLUSHER = 7, 21
ROUND_NS = 3100 * MS
IRQ = ("um_timer", "do_IRQ", "do_idle")
NAP = ("__schedule", "schedule", "do_nanosleep", "sys_clock_nanosleep")
NAP_ENDS = ("try_to_wake_up", "hrtimer_wakeup", *IRQ)
ISYNC = ("__schedule", "schedule", "inode_wait_for_writeback", "evict", "iput", "do_unlinkat", "sys_unlink")
ISYNC_ENDS = ("try_to_wake_up", "inode_sync_complete", "writeback_sb_inodes", "wb_workfn", "kthread")
SHADOW = ("__schedule", "schedule", "out_of_line_wait_on_bit", "do_get_write_access", "__ext4_new_inode", "sys_openat")
SHADOW_ENDS = ("try_to_wake_up", "journal_end_buffer_io_sync", "blk_update_request", *IRQ)
MUTEX = ("__schedule", "schedule", "__mutex_lock", "path_openat", "sys_openat")
MUTEX_ENDS = ("try_to_wake_up", "wake_up_q", "__mutex_unlock_slowpath", "worker_thread")
THROTTLED = ("__schedule", "schedule", "schedule_timeout", "balance_dirty_pages", "ksys_write", "sys_write")
TIMER = ("try_to_wake_up", "process_timeout", *IRQ)


def blocked(story, start_ms, end_ms, sleep, wake, *, pid=MW1, by=0):
    story.switch(start_ms * MS, pid, 0, stack=sleep)
    story.wake(end_ms * MS, by, pid, wake)
    story.switch(end_ms * MS, 0, pid)


@pytest.fixture
def traced(tmp_path):
    """Return a function that makes a sample from a story: one cycle of mw1, 3 s of events, then its usual sleep."""

    def trace(story):
        blocked(story, 3000, 3100, NAP, NAP_ENDS)
        ends = [story.start_ns, story.start_ns + ROUND_NS]
        path = write_run(tmp_path / "run", {"mw1": ends, "w1": [story.start_ns, story.start_ns + 50 * MS]})
        (path / "trace.dat").write_bytes(story.encode())
        return Sample(read_run(path))

    return trace


def verdict(name, sample):
    (claim,) = (claim for claim in CLAIMS if claim.name == name)
    return claim.check({case: [sample] * 3 for case in claim.cases})


def one_then_other(first_ms, first, other):
    """Return a story with two waits, one after the other."""
    story = Story()
    blocked(story, 0, first_ms, *first)
    blocked(story, first_ms, 3000, *other)
    return story


@pytest.mark.parametrize(("first_ms", "expected"), [(2000, REPRODUCED), (1000, NOT_REPRODUCED)])
def test_the_main_cause_is_that_of_most_pause_time(traced, first_ms, expected):
    found = verdict("live-cause", traced(one_then_other(first_ms, (ISYNC, ISYNC_ENDS), (SHADOW, SHADOW_ENDS))))
    assert found.outcome == expected
    assert found.effect.middle == pytest.approx(first_ms / 30)
    assert "journal writes block" in found.why


def test_a_wait_for_a_lock_has_the_cause_of_its_holder_s_wait(traced):
    story = Story()
    story.switch(0, MW1, FLUSHER, stack=MUTEX)
    story.switch(0, FLUSHER, 0, stack=ISYNC)
    story.hand_over(2400 * MS, 0, FLUSHER, ISYNC_ENDS)
    story.hand_over(2400 * MS, FLUSHER, MW1, MUTEX_ENDS)
    blocked(story, 2400, 3000, SHADOW, SHADOW_ENDS)
    found = verdict("live-cause", traced(story))
    assert (found.outcome, round(found.effect.middle)) == (REPRODUCED, 80)


def test_no_verdict_without_both_stacks(traced):
    sample = traced(one_then_other(2900, (ISYNC, ()), (NAP, NAP_ENDS)))
    assert waits_of(sample.run, ("mw1",), 500 * MS) is None
    assert verdict("live-cause", sample).outcome == NOT_TESTABLE


@pytest.mark.parametrize("name", ["openat-ext2", "openat-ext4", "live-openat"])
@pytest.mark.parametrize(
    ("first", "expected", "share"),
    [((SHADOW, SHADOW_ENDS), REPRODUCED, 70), ((THROTTLED, TIMER), NOT_REPRODUCED, 30)],
)
def test_the_sleeping_function_shows_whether_openat_is_blocked(traced, name, first, expected, share):
    other = (THROTTLED, TIMER) if first[0] is SHADOW else (SHADOW, SHADOW_ENDS)
    found = verdict(name, traced(one_then_other(2100, first, other)))
    assert (found.outcome, round(found.effect.middle)) == (expected, share)
    assert "throttled" in found.why
