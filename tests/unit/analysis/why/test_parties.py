"""Attribution of the I/O ahead and of holders, for traces written by hand."""

import pytest
from support.blametraces import DEVICE, Story
from support.runs import MS

from wblab.analysis.why.parties import JOURNAL as THE_JOURNAL
from wblab.analysis.why.parties import METADATA, each_of, joined, together

from .conftest import MW1
from .test_explain import (
    COMMS,
    FLUSHER,
    IRQ,
    JOURNAL,
    L1,
    NAP,
    NAP_ENDS,
    SHADOW,
    SHADOW_ENDS,
    THROTTLED,
    TIMER,
    blocked,
    one,
    served,
    waits,
)

DD, CHILD = 30, 31
NAMES = {**COMMS, DD: "dd", CHILD: "sync", 40: "iou-wrk-7"}
WAIT4 = ("__schedule", "schedule", "do_wait", "kernel_wait4", "sys_wait4")
CHILD_ENDED = ("try_to_wake_up", "child_wait_callback", "__wake_up_common", "do_notify_parent", "do_exit")
TERMINATED = ("try_to_wake_up", "signal_wake_up_state", "complete_signal", "send_signal_locked", "sys_kill")
PIPE = ("__schedule", "schedule", "anon_pipe_read", "sys_read")
WORKER = ("__schedule", "schedule", "worker_thread")
GIVEN_WORK = ("try_to_wake_up", "kick_pool", "__queue_work", "xfs_fs_sync")
PAGE = ("__schedule", "schedule", "folio_wait_writeback", "sys_fsync")
PAGE_ENDS = ("try_to_wake_up", "folio_wake_bit", "folio_end_writeback", "worker_thread")
LOCKED = ("__schedule", "schedule", "wait_transaction_locked", "sys_openat")
UNLOCKED = ("try_to_wake_up", "__wake_up_common", "jbd2_journal_commit_transaction")
BUFFER = ("__schedule", "schedule", "bit_wait_io", "__wait_on_buffer", "jbd2_journal_commit_transaction")
BUFFER_ENDS = ("try_to_wake_up", "__wake_up_bit", "end_buffer_write_sync", "blk_update_request", *IRQ)


def behind(story_run, submit, names=NAMES):
    """The request that mw1 waited for, with the I/O ahead of it. submit: submits that I/O."""
    story = Story(dict(names))
    story.fork(0, MW1, DD)
    submit(story)
    waits(story)
    story.complete(900 * MS, 1000, 72)
    served(story)
    (cause,) = one(story_run, story).causes
    return cause.request


@pytest.mark.parametrize(
    ("by", "rwbs", "whose"),
    [
        (DD, "WS", "mw1's dd"),
        (L1, "WS", "l1"),
        (40, "WS", "mw1"),
        (FLUSHER, "WM", "the filesystem"),
        (DD, "WM", "the filesystem"),
        (DD, "RS", "read by mw1's dd"),
        (L1, "RA", "read by l1"),
        (FLUSHER, "RAM", "read by the filesystem"),
    ],
)
def test_bytes_are_attributed_to_the_task_that_asked_for_them(story_run, by, rwbs, whose):
    request = behind(story_run, lambda story: story.submit(0, by, 1000, 72, rwbs=rwbs))
    assert request.ahead == {whose: 9 * 4096, "the journal": 4096}


def test_bytes_of_a_stacked_device_count_for_the_disk_below(story_run):
    story = Story(dict(NAMES))
    story.fork(0, MW1, DD)
    story.submit(0, DD, 40, 72, rwbs="WS", device=DEVICE + 16)
    waits(story)
    story.remap(500 * MS, FLUSHER, DEVICE + 16, 40, sectors=72, to=1000)
    story.complete(900 * MS, 1000, 72)
    served(story)
    (cause,) = one(story_run, story).causes
    assert cause.request.ahead == {"mw1's dd": 9 * 4096, "the journal": 4096}


def test_a_write_to_a_mirror_waits_for_its_slow_disk(story_run):
    story, fast, mirror = Story(dict(NAMES)), DEVICE + 32, DEVICE + 16
    story.submit(0, L1, 40, 72, rwbs="WS", device=mirror)
    for disk in (fast, DEVICE):
        story.remap(0, FLUSHER, mirror, 40, sectors=72, to=40, below=disk)
    story.submit(0, JOURNAL, 200, 8, rwbs="WSM", device=mirror)
    for disk in (fast, DEVICE):
        story.remap(0, FLUSHER, mirror, 200, sectors=8, to=200, below=disk)
    story.switch(0, MW1, 0, stack=SHADOW)
    story.complete(10 * MS, 40, 72, device=fast)
    story.complete(20 * MS, 200, 8, device=fast)
    story.complete(900 * MS, 40, 72)
    served(story)
    (cause,) = one(story_run, story).causes
    assert cause.request.device == DEVICE
    assert cause.request.ahead == {"l1": 9 * 4096, "the journal": 4096}


@pytest.mark.parametrize("name", ["xfs_io", "xfs1", "loop1d", "rcu", "dm-test", "md5sum"])
def test_a_program_with_a_similar_name_is_not_a_kernel_thread(story_run, name):
    story = Story({**NAMES, DD: name})
    story.submit(0, DD, 1000, 72, rwbs="WS")
    waits(story)
    story.complete(900 * MS, 1000, 72)
    served(story)
    (cause,) = one(story_run, story).causes
    assert cause.request.ahead == {name: 9 * 4096, "the journal": 4096}


def test_a_disk_that_completes_nothing_is_found_by_its_other_requests(story_run):
    story = Story(dict(NAMES))
    for at, sector in enumerate((1000, 1100, 1200, 1300)):
        story.submit(at * 10 * MS, FLUSHER, sector, 8, inode=13, index=at)
        story.issue(at * 10 * MS, sector, 8)
        story.complete((at + 1) * 10 * MS, sector, 8)
    story.submit(40 * MS, JOURNAL, 200, 8, rwbs="WSM")
    story.issue(40 * MS, 200, 8)
    story.switch(40 * MS, MW1, 0, stack=SHADOW)
    served(story)
    (cause,) = one(story_run, story).causes
    assert cause.request.still_ns == (960 - 10) * MS
    assert cause.request.held_ns == 0


def test_a_request_that_waits_before_the_queue_was_delayed(story_run):
    story = Story(dict(NAMES))
    waits(story)
    story.issue(700 * MS, 200, 8)
    served(story)
    (cause,) = one(story_run, story).causes
    assert cause.request.held_ns == 700 * MS


def test_the_last_request_of_a_chain_shows_the_io_ahead(story_run):
    story = Story(dict(NAMES))
    for page in range(9):
        story.dirty(0, L1, 13, page)
    story.submit(0, FLUSHER, 1000, 72, inode=13, index=0)
    story.submit(0, JOURNAL, 200, 8, rwbs="WSM")
    story.switch(0, MW1, JOURNAL, stack=LOCKED)
    story.switch(0, JOURNAL, 0, stack=BUFFER)
    story.complete(900 * MS, 1000, 72)
    story.complete(1000 * MS, 200, 8)
    story.hand_over(1000 * MS, 0, JOURNAL, BUFFER_ENDS)
    story.hand_over(1000 * MS, JOURNAL, MW1, UNLOCKED)
    found = one(story_run, story)
    assert found.causes[0].request is None
    assert [chain.end for chain in found.chains] == ["request"]
    assert found.requests[0].ahead == {"l1": 9 * 4096, "the journal": 4096}
    assert found.blame == "writeback"


def test_the_sender_of_a_signal_did_not_hold_the_task(story_run):
    story = Story(dict(NAMES))
    blocked(story, 0, 1000, PIPE, TERMINATED, by=CHILD)
    found = one(story_run, story)
    assert [(len(chain.links), chain.end) for chain in found.chains] == [(1, "signal")]
    assert (found.blame, found.unexplained_ns) == ("not known", 1000 * MS)


def test_a_wait_for_a_child_that_a_signal_cuts_off_was_for_that_child(story_run):
    story = Story(dict(NAMES))
    story.fork(0, MW1, CHILD)
    story.submit(0, JOURNAL, 200, 8, rwbs="WSM")
    story.switch(0, MW1, CHILD, stack=WAIT4)
    story.switch(0, CHILD, 0, stack=SHADOW)
    story.hand_over(1000 * MS, 0, MW1, TERMINATED)
    found = one(story_run, story)
    (chain,) = found.chains
    assert chain.links == (("mw1", "task"), ("mw1's sync", "unknown"))
    assert (chain.end, found.blame) == ("unknown", "not known")


def slept(story_run, *goes):
    """A load that slept between each of these times in ms, one second in all."""
    story = Story(dict(NAMES))
    for start, end in goes:
        blocked(story, start, end, NAP, NAP_ENDS)
    blocked(story, 1000, 1050, PIPE, CHILD_ENDED, by=CHILD)  # the last sleep is not intended idle time
    return one(story_run, story, 1200)


def test_one_long_sleep_is_a_load_s_own_timer(story_run):
    assert slept(story_run, (0, 1000)).blame == "not writeback"


def test_many_short_sleeps_may_be_polling_for_something_untraced(story_run):
    found = slept(story_run, *((at, at + 45) for at in range(0, 1000, 50)))
    assert found.blame == "not known"


def test_a_worker_that_got_its_work_late_was_idle(story_run):
    """XFS: a worker that writes the log was idle until another task that waited for the disk gave it this to do."""
    story = Story(dict(NAMES))
    story.submit(0, JOURNAL, 200, 8, rwbs="WSM")
    story.switch(0, FLUSHER, 0, stack=WORKER)
    story.switch(0, L1, 0, stack=SHADOW)
    story.switch(0, MW1, 0, stack=PAGE)
    story.complete(900 * MS, 200, 8)
    story.hand_over(900 * MS, 0, L1, SHADOW_ENDS)
    story.hand_over(900 * MS, L1, FLUSHER, GIVEN_WORK)
    story.hand_over(1000 * MS, FLUSHER, MW1, PAGE_ENDS)
    found = one(story_run, story)
    chain = found.chains[0]
    assert chain.links == (
        ("mw1", "folio under writeback"),
        ("kworker/u4:0", "idle"),
        ("l1", "journal writes block"),
    )
    assert (chain.end, chain.time_ns, found.blame) == ("request", 900 * MS, "writeback")


def late_request(story):
    """A worker that sleeps idle twice; l1 submitted only at 600 ms the request that ends the second and frees mw1."""
    story.switch(0, FLUSHER, 0, stack=WORKER)
    story.switch(0, MW1, 0, stack=PAGE)
    story.hand_over(300 * MS, 0, FLUSHER, GIVEN_WORK)
    story.switch(300 * MS, FLUSHER, 0, stack=WORKER)


def worker_lets_go(story):
    story.submit(600 * MS, L1, 300, 8, rwbs="WS")
    story.hand_over(700 * MS, 0, FLUSHER, GIVEN_WORK)
    story.switch(700 * MS, FLUSHER, 0, stack=WORKER)
    story.complete(1000 * MS, 300, 8)
    story.hand_over(1000 * MS, 0, FLUSHER, ("try_to_wake_up", "kick_pool", "__queue_work", "blk_update_request", *IRQ))
    story.hand_over(1000 * MS, FLUSHER, MW1, PAGE_ENDS)


def test_time_before_a_request_s_submission_does_not_count_as_that_request(story_run):
    """XFS, syncwrite: the worker that ends a log write was idle several times before that write was submitted."""
    story = Story(dict(NAMES))
    story.submit(0, JOURNAL, 200, 8, rwbs="WSM")
    story.switch(0, L1, 0, stack=SHADOW)
    late_request(story)
    story.complete(600 * MS, 200, 8)
    story.hand_over(600 * MS, 0, L1, SHADOW_ENDS)
    story.switch(600 * MS, L1, 0)
    worker_lets_go(story)
    idle = (("mw1", "folio under writeback"), ("kworker/u4:0", "idle"))
    assert {(chain.links, chain.end): chain.time_ns for chain in one(story_run, story).chains} == {
        (idle, "request"): 400 * MS,
        ((*idle, ("l1", "journal writes block")), "request"): 600 * MS,
    }


def test_a_worker_may_have_held_the_task_that_gave_it_its_request(story_run):
    """l1 waited until 600 ms for the same worker, which was then idle until an earlier request completed."""
    story = Story(dict(NAMES))
    story.submit(0, JOURNAL, 200, 8, rwbs="WSM")
    story.switch(0, L1, 0, stack=LOCKED)
    late_request(story)
    story.complete(600 * MS, 200, 8)
    story.hand_over(600 * MS, 0, FLUSHER, ("try_to_wake_up", "kick_pool", "__queue_work", "blk_update_request", *IRQ))
    story.hand_over(600 * MS, FLUSHER, L1, UNLOCKED, sleep=WORKER)
    story.switch(600 * MS, L1, 0)
    worker_lets_go(story)
    found = one(story_run, story)
    assert {chain.end for chain in found.chains} == {"request"}
    assert found.unexplained_ns == 0
    assert sum(chain.time_ns for chain in found.chains if chain.links[-2][0] == "l1") == 600 * MS


def test_a_worker_woken_by_its_own_timer_waited_for_no_task(story_run):
    """btrfs: its thread commits every 30 s; it slept because of that timer, not because of the waiting task."""
    story = Story(dict(NAMES))
    story.switch(0, FLUSHER, 0, stack=("__schedule", "schedule", "schedule_timeout", "transaction_kthread"))
    story.switch(0, MW1, 0, stack=PAGE)
    story.hand_over(1000 * MS, 0, FLUSHER, ("try_to_wake_up", "process_timeout", *TIMER[1:]))
    story.hand_over(1000 * MS, FLUSHER, MW1, PAGE_ENDS)
    found = one(story_run, story)
    assert (found.chains[0].links[1], found.chains[0].end) == (("kworker/u4:0", "idle"), "unknown")
    assert (found.blame, found.unexplained_ns) == ("not known", 1000 * MS)


def test_a_stopped_task_was_held_by_no_task(story_run):
    story = Story(dict(NAMES))
    stop = ("__schedule", "schedule", "do_signal_stop", "get_signal")
    blocked(story, 0, 1000, stop, ("try_to_wake_up", "prepare_signal", "sys_kill"), by=CHILD)
    found = one(story_run, story)
    assert found.parts == {"stopped": 1000 * MS}
    assert [(chain.links, chain.end) for chain in found.chains] == [((("mw1", "stopped"),), "stopped")]
    assert found.blame == "not writeback"


def test_a_throttling_timer_is_writeback_and_a_polling_timer_is_unknown(story_run):
    poll = ("__schedule", "schedule", "poll_schedule_timeout", "do_sys_poll", "sys_poll")
    story = Story(dict(NAMES))
    blocked(story, 0, 1000, poll, ("try_to_wake_up", "hrtimer_wakeup", *TIMER))
    assert one(story_run, story).blame == "not known"


def test_a_page_that_a_loop_worker_dirtied_belongs_to_the_writer_of_the_loop_device(story_run):
    """l1 writes pages 5 to 13 of the device 7:0 directly; its worker, the same pages of a file."""
    story, loop = Story(dict(NAMES)), 7 << 20
    story.submit(0, L1, 5 * 8, 72, rwbs="WS", device=loop)
    for page in range(5, 14):
        story.dirty(0, FLUSHER, 99, page)
    story.complete(0, 5 * 8, 72, device=loop)
    story.dirty(0, FLUSHER, 98, 77)  # a page that was not written to the device
    story.submit(0, FLUSHER, 1000, 72, inode=99, index=5)
    story.submit(0, FLUSHER, 1072, 8, inode=98, index=77)
    waits(story)
    story.complete(800 * MS, 1000, 72)
    story.complete(900 * MS, 1072, 8)
    served(story)
    (cause,) = one(story_run, story).causes
    assert cause.request.ahead == {"l1": 9 * 4096, "kworker/u4:0": 4096, "the journal": 4096}


def test_a_loop_s_page_in_a_folio_that_was_dirty_before_the_trace_belongs_to_the_writer_of_the_loop_device(story_run):
    """Page 5 of the file became dirty in the trace; pages 6 to 13 are of a folio that was dirty, and have no event."""
    story, loop = Story(dict(NAMES)), 7 << 20
    story.submit(0, L1, 5 * 8, 72, rwbs="WS", device=loop)
    story.dirty(0, FLUSHER, 99, 5)
    story.complete(0, 5 * 8, 72, device=loop)
    story.submit(0, FLUSHER, 1000, 72, inode=99, index=5)
    story.submit(0, FLUSHER, 1072, 8, inode=99, index=77)  # a page that was not written to the device
    waits(story)
    story.complete(800 * MS, 1000, 72)
    story.complete(900 * MS, 1072, 8)
    served(story)
    (cause,) = one(story_run, story).causes
    assert cause.request.ahead == {"l1": 9 * 4096, METADATA: 4096, "the journal": 4096}


def test_what_a_loop_with_direct_io_writes_belongs_to_the_writer_of_the_filesystem_in_it(story_run):
    """The pages of l1's file 99 are written to 7:0, and by its worker to the disk while that request is under way."""
    story, loop = Story(dict(NAMES)), 7 << 20
    story.dirty(0, L1, 99, 5, bdi="7:0")
    story.submit(0, FLUSHER, 5 * 8, 8, inode=99, index=5, device=loop)
    story.submit(0, FLUSHER, 1000, 8, rwbs="WS", inode=99, index=5)
    story.submit(0, FLUSHER, 1072, 8, rwbs="W", inode=99, index=5)  # a page of the disk's own file 99, by its flusher
    waits(story)
    story.complete(800 * MS, 1000, 8)
    story.complete(800 * MS, 5 * 8, 8, device=loop)
    story.complete(900 * MS, 1072, 8)
    served(story)
    (cause,) = one(story_run, story).causes
    assert cause.request.ahead == {"l1": 4096, METADATA: 4096, "the journal": 4096}


def test_what_a_loop_worker_dirtied_counts_for_the_writer_of_the_loop_device_while_it_waits_too(story_run):
    story, loop = Story(dict(NAMES)), 7 << 20
    story.submit(0, L1, 5 * 8, 72, rwbs="WS", device=loop)
    for page in (*range(5, 14), 77):  # the last one was not written to the device
        story.dirty(0, FLUSHER, 99, page)
    story.complete(0, 5 * 8, 72, device=loop)
    story.submit(0, FLUSHER, 1000, 72, inode=99, index=5)
    blocked(story, 0, 900, THROTTLED, TIMER)
    (cause,) = one(story_run, story).causes
    assert cause.dirty == {"l1": 9 * 4096, "kworker/u4:0": 4096}


def test_pages_of_btrfs_belong_to_who_dirtied_them_whatever_its_bdi_is_called(story_run):
    """btrfs-2 names no device; its pages 5 to 13 are written to 98:0, and its trees, inode 1, belong to nobody."""
    story = Story(dict(NAMES))
    for page in range(5, 14):
        story.dirty(0, L1, 257, page, bdi="btrfs-2")
    story.dirty(0, MW1, 1, 40, bdi="btrfs-2")
    story.submit(0, FLUSHER, 1000, 72, inode=257, index=5)
    story.submit(0, FLUSHER, 1072, 8, inode=1, index=40, rwbs="WM")
    blocked(story, 0, 800, THROTTLED, TIMER)
    story.complete(800 * MS, 1000, 72)
    story.complete(850 * MS, 1072, 8)
    blocked(story, 850, 900, THROTTLED, TIMER)
    (cause,) = one(story_run, story).causes
    assert (cause.dirty, cause.places) == ({"l1": 9 * 4096}, {"the device 98:0": 9 * 4096})


def test_a_flush_has_a_submission_and_io_ahead(story_run):
    """Block 0 was written long before; the flush, which has no block, does not belong to it."""
    story = Story(dict(NAMES))
    story.submit(0, JOURNAL, 0, 8, rwbs="WM")
    story.submit(0, L1, 1000, 72, rwbs="WS")
    story.complete(100 * MS, 0, 8)
    flush = ("__schedule", "schedule", "submit_bio_wait", "blkdev_issue_flush", "sys_fdatasync")
    story.submit(200 * MS, MW1, 0, 0, rwbs="FWS")
    story.switch(200 * MS, MW1, 0, stack=flush)
    story.complete(700 * MS, 1000, 72)
    story.complete(1000 * MS, 0, 0)
    story.hand_over(1000 * MS, 0, MW1, ("try_to_wake_up", "complete_with_flags", "blk_update_request", *IRQ))
    found = one(story_run, story)
    (request,) = [cause.request for cause in found.causes if cause.request]
    assert (request.what, request.handed_ns - story.start_ns) == ("a cache flush", 200 * MS)
    assert request.ahead == {"l1": 9 * 4096}


@pytest.mark.parametrize(
    ("shares", "named"),
    [
        ({"l1": 9, "dd": 4}, ("l1",)),  # the first is most of it
        ({"dd": 3, "l1": 5, "w1": 2}, ("l1", "dd")),
        ({"l1": 5, "w1": 2, "w2": 2, "w3": 2}, ("l1",)),  # none of the others is comparable
        ({"l1": 3, "l2": 3, "l3": 3, "l4": 3, "l5": 3}, ("l1", "l2", "l3", "l4", "l5")),  # a group
        ({"l1": 4, THE_JOURNAL: 4, "dd": 2}, ("l1", "dd")),  # others had it write
        ({METADATA: 4, "l1": 3}, (METADATA,)),
        ({}, ()),
    ],
)
def test_several_are_named_together_if_the_first_is_not_most_of_it(shares, named):
    assert together(shares) == named


def test_several_as_one_and_back():
    assert joined(("l1", "dd", "l1's cat")) == "dd and l1 and l1's cat"
    assert each_of("dd and l1 and l1's cat") == ["dd", "l1", "l1's cat"]
    assert each_of("") == []


def test_all_pages_of_a_folio_belong_to_who_dirtied_it(story_run):
    """l1 dirties a folio of 16 pages, of which the disk is handed 12: the limits count all until these are written."""
    story = Story(dict(NAMES))
    story.folio(0, L1, 13, 16, order=4)
    story.dirty(0, L1, 13, 16)
    story.dirty(0, MW1, 14, 0)
    story.submit(1 * MS, FLUSHER, 1000, 12 * 8, inode=13, index=16)
    story.submit(1 * MS, FLUSHER, 2000, 8, inode=14)
    blocked(story, 10, 400, THROTTLED, TIMER)
    story.complete(500 * MS, 1000, 12 * 8)
    blocked(story, 600, 900, THROTTLED, TIMER)
    story.complete(950 * MS, 2000, 8)
    _, recorded = story_run(story, [0, 1000 * MS])
    first, second = (recorded.dirtied.at(recorded.rank_at(story.start_ns + ms * MS))[0] for ms in (10, 600))
    assert (first, second) == ({L1: 16 * 4096, MW1: 4096}, {MW1: 4096})
    (party,) = {owner for owner, inode in zip(recorded.moved.owner, recorded.moved.inode, strict=True) if inode == 13}
    assert party == L1
