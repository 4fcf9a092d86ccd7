"""A task that looks again and again for something is not acquitted, and who may have kept it is named."""

from itertools import pairwise

import pytest
from support.blametraces import Story
from support.runs import MS

from wblab.analysis.why.heldobjects import lock_of
from wblab.analysis.why.paths import Paths
from wblab.report.dirtylimittext import looked
from wblab.report.whyanswer import sentence
from wblab.report.whycause import groups

from .conftest import MW1
from .test_explain import FLUSHER, JOURNAL, L1, NAP, NAP_ENDS, SHADOW, SHADOW_ENDS, one
from .test_parties import CHILD, CHILD_ENDED, DD, NAMES, WAIT4

KEPT = "it may have waited for dd, which had waited for writeback for 850 ms behind data of l1, and went on before"
TIMEOUT = ("__schedule", "schedule", "do_select", "sys_select")
BACKOFF = (0, 100, 300, 700, 1000)


def polls(story_run, times_ms, kept_until_ms, stack=NAP):
    """A load that looks for something at these times, while dd waits for the journal behind l1's data."""
    story = Story(dict(NAMES))
    for page in range(100):
        story.dirty(0, L1, 13, page)
    story.submit(0, FLUSHER, 1000, 800, inode=13)
    story.submit(0, JOURNAL, 200, 8, rwbs="WSM")
    story.switch(0, DD, 0, stack=SHADOW)
    last_ms = 0
    for at_ms, until_ms in pairwise(times_ms):
        story.switch(at_ms * MS, MW1, 0, stack=stack)
        if last_ms < kept_until_ms <= until_ms:
            story.complete(kept_until_ms * MS, 1000, 800)
            story.complete(kept_until_ms * MS, 200, 8)
            story.hand_over(kept_until_ms * MS, 0, DD, SHADOW_ENDS)
            story.switch(kept_until_ms * MS, DD, 0, stack=NAP)
        story.hand_over(until_ms * MS, 0, MW1, NAP_ENDS)
        last_ms = until_ms
    return one(story_run, story)


@pytest.mark.parametrize("stack", [NAP, TIMEOUT])
def test_growing_intervals_are_polling_too_and_who_went_on_before_the_last_look_is_named(story_run, stack):
    found = polls(story_run, BACKOFF, 850, stack)
    assert found.blame == "not known"
    (kept,) = found.polling.kept
    assert (kept.name, kept.kept_ns, found.polling.may_wait) == ("dd", 850 * MS, True)
    assert KEPT in looked(found.polling)
    (group,) = groups([found])
    assert "slept" in sentence(group)
    assert "not caused by writeback" not in sentence(group)
    assert found.unexplained_ns > found.pause_ns // 2 or stack is TIMEOUT


def test_who_went_on_earlier_is_not_what_was_polled_for(story_run):
    found = polls(story_run, BACKOFF, 650)
    assert (found.polling.kept, found.blame) == ((), "not known")
    assert "no task that had waited for writeback went on before its last look" in looked(found.polling)


def test_one_sleep_acquits_only_if_nobody_was_kept_until_its_end(story_run):
    assert polls(story_run, (0, 1000), 400).blame == "not writeback"
    assert polls(story_run, (0, 1000), 850).blame == "not known"


def test_a_load_that_waits_for_its_child_names_the_call_of_the_child(story_run):
    story = Story(dict(NAMES))
    story.fork(0, MW1, CHILD)
    story.submit(0, JOURNAL, 200, 8, rwbs="WSM")
    story.switch(0, MW1, CHILD, stack=WAIT4)
    story.switch(0, CHILD, 0, stack=SHADOW)
    story.complete(900 * MS, 200, 8)
    story.hand_over(900 * MS, 0, CHILD, SHADOW_ENDS)
    story.hand_over(1000 * MS, CHILD, MW1, CHILD_ENDED)
    found = one(story_run, story)
    (cause,) = found.causes
    assert (cause.kind, cause.task, cause.call) == ("journal writes block", "mw1's sync", "openat")
    (group,) = groups([found])
    assert sentence(group).startswith("mw1 was stalled once in openat() of its sync, for 1 s: ")


def test_the_innermost_function_says_whose_lock_it_is():
    assert lock_of(("__schedule", "rwsem_down_write_slowpath", "ext4_buffered_write_iter", "sys_write")) == "a file"
    assert (
        lock_of(("__schedule", "down_read", "super_lock", "iterate_supers", "ksys_sync")) == "a filesystem (s_umount)"
    )
    assert lock_of(("rwsem_down_write_slowpath", "down_write", "path_openat", "sys_openat")) == "a directory"
    assert not lock_of(("__mutex_lock", "some_driver", "path_openat", "sys_openat"))
    assert not lock_of(("__schedule", "__mutex_lock", "some_driver"))


def test_a_descriptor_is_followed_to_its_file_through_duplicates_and_parents():
    """The shell 5 opens k as 3 and keeps it as 9; its child 6 locks that, after a lock on a file of its own."""
    opens = {5: [(10, 3, "k"), (11, 9, 3), (20, 3, "other")], 6: [(30, 4, "own")]}
    paths = Paths(opens=opens, locks={6: [(31, 4), (40, 9)], 7: [(50, 12)]})
    assert paths.locked(6, 45, {6: 5}) == "k"
    assert paths.locked(6, 35, {6: 5}) == "own"
    assert not paths.locked(7, 60, {7: 5})
