"""The time of a wait is charged to what its disk did meanwhile, or to what held its request."""

from dataclasses import replace

from support.blametraces import DEVICE, Story
from support.runs import MS

from wblab.report.whyanswer import sentence
from wblab.report.whycause import groups
from wblab.report.whytext import total

from .conftest import MW1
from .test_explain import FLUSHER, IRQ, JOURNAL, L1, SHADOW, SHADOW_ENDS, one
from .test_parties import DD, NAMES

WORKER, AGENT = 50, 51
MAPPED = DEVICE + 16
RELEASED = ("try_to_wake_up", "kick_pool", "__queue_work", "throtl_pending_timer_fn", "call_timer_fn", *IRQ)
IDLE = ("__schedule", "schedule", "worker_thread", "kthread")
SUSPENDS = ("__schedule", "schedule", "synchronize_srcu", "__dm_suspend", "dm_suspend", "dm_ctl_ioctl", "sys_ioctl")
RESUMES = ("try_to_wake_up", "__queue_work", "dm_queue_flush", "__dm_resume", "dm_resume", "sys_ioctl")
TAG = ("__schedule", "io_schedule", "blk_mq_get_tag", "blk_mq_submit_bio", "wb_workfn")
TAG_ENDS = ("try_to_wake_up", "sbitmap_queue_wake_up", "blk_mq_free_request", "blk_mq_end_request", *IRQ)


def charged(found):
    return [(charge.layer, charge.party, charge.time_ns // MS) for charge in found.charges]


def answer(found):
    (group,) = groups([found])
    return sentence(group)


def ended(story, ns, stack=SHADOW_ENDS):
    story.hand_over(ns, 0, MW1, stack)


def test_the_time_of_the_disk_counts_and_not_the_bytes(story_run):
    story = Story(dict(NAMES))
    for page in range(108):
        story.dirty(0, L1 if page < 8 else DD, 13, page)
    for page in range(8):
        story.submit(0, FLUSHER, 9000 + 1000 * page, 8, inode=13, index=page)
    story.submit(0, FLUSHER, 1000, 800, inode=13, index=8)
    story.submit(0, JOURNAL, 200, 8)
    story.switch(0, MW1, 0, stack=SHADOW)
    for page in range(8):
        story.complete((page + 1) * 100 * MS, 9000 + 1000 * page, 8)
    story.complete(900 * MS, 1000, 800)
    story.complete(1000 * MS, 200, 8)
    ended(story, 1000 * MS)
    found = one(story_run, story)
    assert charged(found)[0] == ("device", "l1", 800)
    assert set(charged(found)[1:]) == {("device", "dd", 100), ("device", "the journal", 100)}
    assert "l1 had 32 KiB in the queue of the device 98:0, and" in answer(found)
    assert "; this explains 800 ms of the 1 s." in answer(found)


def test_less_than_half_says_what_else_there_was(story_run):
    story = Story(dict(NAMES))
    parties = ((L1, 13), (DD, 14), (MW1, 15))
    for pid, inode in parties:
        story.dirty(0, pid, inode, 0)
        story.submit(0, FLUSHER, 1000 * inode, 8, inode=inode)
    story.submit(0, JOURNAL, 200, 8)
    story.switch(0, MW1, 0, stack=SHADOW)
    for ms, sector, sectors in ((450, 13000, 8), (650, 14000, 8), (999, 15000, 8), (1000, 200, 8)):
        story.complete(ms * MS, sector, sectors)
    ended(story, 1000 * MS)
    said = answer(one(story_run, story))
    rest = "349 ms for 4 KiB from mw1 and 200 ms for 4 KiB from dd"
    assert ": l1 had 4 KiB in the queue of the device 98:0, and a request" in said
    assert f"; this explains 450 ms of the 1 s, and the rest has other causes: {rest}." in said


def test_those_who_had_comparable_time_are_named_together(story_run):
    story = Story(dict(NAMES))
    for pid, inode in ((L1, 13), (DD, 14)):
        story.dirty(0, pid, inode, 0)
        story.submit(0, FLUSHER, 1000 * inode, 8, inode=inode)
    story.submit(0, JOURNAL, 200, 8)
    story.switch(0, MW1, 0, stack=SHADOW)
    for ms, sector, sectors in ((500, 13000, 8), (800, 14000, 8), (1000, 200, 8)):
        story.complete(ms * MS, sector, sectors)
    ended(story, 1000 * MS)
    found = one(story_run, story)
    assert groups([found])[0].party == "dd and l1"
    assert ": dd and l1 had 8 KiB in the queue of the device 98:0, and a request of 4 KiB that it" in answer(found)
    assert answer(found).endswith("; this explains 800 ms of the 1 s.")


def test_the_queue_is_full_only_if_a_task_waited_for_a_request(story_run):
    story = Story(dict(NAMES))
    for page in range(9):
        story.dirty(0, L1, 13, page)
    story.submit(0, FLUSHER, 1000, 72, inode=13)
    story.submit(0, JOURNAL, 200, 8)
    story.switch(0, MW1, FLUSHER, stack=SHADOW)
    story.switch(0, FLUSHER, 0, stack=TAG)
    story.complete(990 * MS, 1000, 72)
    story.hand_over(990 * MS, 0, FLUSHER, TAG_ENDS)
    story.switch(990 * MS, FLUSHER, 0)
    story.complete(1000 * MS, 200, 8)
    ended(story, 1000 * MS)
    assert "l1 had filled the queue of the device 98:0 with 36 KiB, and" in answer(one(story_run, story))


def test_a_disk_whose_driver_hands_a_request_back_is_busy_and_not_idle(story_run):
    """Beyond its rate null_blk takes no request, and one that it hands back is the next that it takes."""
    story = Story(dict(NAMES))
    for page in range(100):
        story.dirty(0, DD, 13, page)
    story.submit(0, FLUSHER, 1000, 800, inode=13)
    story.submit(0, JOURNAL, 200, 8)
    story.switch(0, MW1, 0, stack=SHADOW)
    story.hand_back(1 * MS, 1000, 800)
    story.issue(950 * MS, 1000, 800)
    story.complete(951 * MS, 1000, 800)
    story.hand_back(951 * MS, 200, 8)
    story.issue(999 * MS, 200, 8)
    story.complete(1000 * MS, 200, 8)
    ended(story, 1000 * MS)
    found = one(story_run, story)
    assert charged(found)[:2] == [("device", "dd", 950), ("device", "the journal", 49)]
    assert "dd had 400 KiB in the queue of the device 98:0, which took 950 ms, and" in answer(found)


def test_a_limit_is_known_by_the_timer_that_released_the_request(story_run):
    story = Story({**NAMES, WORKER: "kworker/0:1"})
    story.fork(0, 2, WORKER)
    story.switch(0, WORKER, MW1, stack=IDLE)
    story.submit(0, MW1, 200, 8, rwbs="WS")
    story.switch(0, MW1, 0, stack=SHADOW)
    story.hand_over(900 * MS, 0, WORKER, RELEASED)
    story.issue(900 * MS, 200, 8, by=WORKER)
    story.switch(900 * MS, WORKER, 0, stack=IDLE)
    story.complete(1000 * MS, 200, 8)
    ended(story, 1000 * MS)
    found = one(story_run, story)
    assert charged(found) == [("limit", "mw1", 900), ("device", "mw1", 100)]
    assert answer(found).endswith(
        "4 KiB of its own was delayed for 900 ms by a limit of its control group (io.max), "
        "which a program set during the run."
    )
    assert not groups([found])[0].party  # its data are not the cause


def suspended(resumes):
    story = Story({**NAMES, AGENT: "dmsetup"})
    story.switch(0, AGENT, MW1, stack=SUSPENDS)
    story.submit(0, MW1, 40, 8, rwbs="WS", device=MAPPED)
    story.switch(0, MW1, 0, stack=SHADOW)
    story.hand_over(900 * MS, 0, AGENT, ("hrtimer_wakeup", *IRQ))
    story.hand_over(990 * MS, AGENT, FLUSHER, resumes)
    story.remap(990 * MS, FLUSHER, MAPPED, 40, sectors=8, to=200)
    story.issue(990 * MS, 200, 8, by=FLUSHER)
    story.switch(990 * MS, FLUSHER, 0)
    story.complete(1000 * MS, 200, 8)
    ended(story, 1000 * MS)
    return story


def test_a_suspended_device_mapper_is_named_with_who_suspended_it(story_run):
    found = one(story_run, suspended(RESUMES))
    assert charged(found) == [("mapper", "dmsetup", 990), ("device", "mw1", 10)]
    assert "was delayed for 990 ms because dmsetup had suspended the device 98:16 (device mapper)" in answer(found)
    assert "by the device 98:16 (device mapper)" in answer(one(story_run, suspended(IRQ)))


def test_what_dm_crypt_s_thread_hands_on_was_behind_what_the_disk_completed_meanwhile(story_run):
    story = Story({**NAMES, WORKER: "dmcrypt_write/2"})
    story.dirty(0, DD, 13, 0)
    story.submit(0, WORKER, 1000, 8, inode=13)
    story.issue(0, 1000, 8, by=WORKER)
    story.submit(0, MW1, 40, 8, rwbs="WS", device=MAPPED)
    story.switch(0, MW1, 0, stack=SHADOW)
    story.complete(990 * MS, 1000, 8)
    story.remap(990 * MS, WORKER, MAPPED, 40, sectors=8, to=200)
    story.issue(990 * MS, 200, 8, by=WORKER)
    story.complete(1000 * MS, 200, 8)
    ended(story, 1000 * MS)
    found = one(story_run, story)
    assert charged(found) == [("device", "dd", 990), ("device", "mw1", 10)]
    assert "dd had 4 KiB in the queues of dm-crypt and the device 98:0, which took 990 ms" in answer(found)
    (request,) = (each for each in found.requests if each)
    assert request.is_by_crypt
    assert "by dm-crypt on the device 98:16, whose work queue and thread hold writes" in request.held_by


def test_a_flush_is_charged_to_the_data_since_the_one_before(story_run):
    story = Story({**NAMES, WORKER: "kworker/0:1H"})
    story.fork(0, MW1, DD)
    for at, (by, sector) in enumerate(((DD, 1000), (L1, 5000))):
        story.submit(at * MS, by, sector, 792 if by == DD else 8, rwbs="WS")
        story.issue(at * MS, sector, 792 if by == DD else 8, by=by)
        story.complete((at + 1) * MS, sector, 792 if by == DD else 8)
    story.submit(2 * MS, JOURNAL, 200, 8, rwbs="FWFSM")
    story.switch(2 * MS, MW1, 0, stack=SHADOW)
    story.flush(2 * MS, 1002 * MS, by=WORKER)
    story.issue(1002 * MS, 200, 8, by=WORKER)
    story.complete(1003 * MS, 200, 8)
    ended(story, 1003 * MS)
    found = one(story_run, story, end_ms=1103)
    assert charged(found)[0] == ("cache", "mw1's dd", 990)
    assert "the cache of the device 98:0 held 396 KiB from mw1's dd, and a request of 4 KiB" in answer(found)


def test_a_request_that_nothing_is_seen_to_hold_is_not_explained(story_run):
    story = Story(dict(NAMES))
    story.submit(0, JOURNAL, 200, 8)
    story.switch(0, MW1, 0, stack=SHADOW)
    story.issue(900 * MS, 200, 8)
    story.complete(1000 * MS, 200, 8)
    ended(story, 1000 * MS)
    found = one(story_run, story)
    assert charged(found) == [("unknown", "", 900), ("device", "the journal", 100)]
    assert found.unexplained_ns == 900 * MS
    assert "was held back for 900 ms, and the trace does not show by what" in answer(found)
    assert " 10 % explained:" in total([found])
    nearly = tuple(replace(charge, time_ns=1000) for charge in found.charges)
    assert ", more than 99.9 % explained:" in total([replace(found, charges=nearly)])


def test_a_flush_is_not_charged_with_the_time_since_an_earlier_one_was_issued(story_run):
    story = Story({**NAMES, WORKER: "kworker/0:1H"})
    story.submit(0, DD, 0, 0, rwbs="FF")
    story.flush(1 * MS, 2 * MS, by=WORKER)
    story.submit(3 * MS, L1, 1000, 792, rwbs="WS")
    story.issue(3 * MS, 1000, 792, by=L1)
    story.submit(3 * MS, JOURNAL, 200, 8, rwbs="FWFSM")
    story.switch(3 * MS, MW1, 0, stack=SHADOW)
    story.complete(903 * MS, 1000, 792)
    story.flush(903 * MS, 913 * MS, by=WORKER)  # the journal's: the flush that dd had asked for was done before
    story.issue(913 * MS, 200, 8, by=WORKER)
    story.complete(1003 * MS, 200, 8)
    ended(story, 1003 * MS)
    assert charged(one(story_run, story, end_ms=1103))[0] == ("device", "l1", 900)


def test_a_device_mapper_that_sends_a_flush_first_holds_nothing(story_run):
    story = Story({**NAMES, WORKER: "kworker/0:1H"})
    story.submit(0, JOURNAL, 40, 8, rwbs="FWFSM", device=MAPPED)
    story.switch(0, MW1, 0, stack=SHADOW)
    story.flush(0, 900 * MS, by=WORKER)
    story.remap(900 * MS, WORKER, MAPPED, 40, sectors=8, to=200)
    story.issue(900 * MS, 200, 8, by=WORKER)
    story.complete(1000 * MS, 200, 8)
    ended(story, 1000 * MS)
    found = one(story_run, story)
    assert charged(found) == [("flush", "", 900), ("device", "the journal", 100)]
    assert "took 900 ms to flush its cache" in answer(found)
    assert "device mapper" not in answer(found)
