"""The answer in one sentence: who stalled whom, for how long and how, and what shortens such pauses."""

from dataclasses import replace

import pytest
from support.blametraces import Story
from support.runs import MS

from wblab.analysis.why.charges import Charge
from wblab.analysis.why.shortage import Shortage
from wblab.analysis.why.spent import Spent
from wblab.core.units import Bytes
from wblab.report import whybehind
from wblab.report.whyanswer import containers, sentence
from wblab.report.whycause import accused, groups
from wblab.report.whyremedy import remedy
from wblab.report.whytext import of_rest

from .conftest import MW1
from .test_explain import (
    FLUSHER,
    IRQ,
    L1,
    MUTEX,
    MUTEX_ENDS,
    SHADOW,
    SHADOW_ENDS,
    THROTTLED,
    TIMER,
    blocked,
    one,
    served,
    waits,
)  # fmt: skip
from .test_parties import DD, JOURNAL, NAMES, NAP, NAP_ENDS, TERMINATED

FILE_LOCK = ("__schedule", "schedule", "do_lock_file_wait", "fcntl_setlk", "sys_fcntl")
HELD = "a lock of the kernel"
COMMIT = ("__schedule", "schedule", "jbd2_log_wait_commit", "ext4_sync_file", "sys_fsync")


def answer(story_run, story):
    (group,) = groups([one(story_run, story)])
    return sentence(group), remedy(group)


def flushed(story):
    """l1 has 400 KiB in the queue, which the flusher wrote."""
    for page in range(100):
        story.dirty(0, L1, 13, page)
    story.submit(0, FLUSHER, 1000, 800, inode=13)


def behind(submit):
    story = Story(dict(NAMES))
    story.fork(0, MW1, DD)
    submit(story)
    waits(story)
    story.complete(900 * MS, 1000, 800)
    served(story)
    return story


def test_the_writer_that_filled_the_queue_is_named(story_run):
    said, _ = answer(story_run, behind(flushed))
    assert said == (
        "mw1 was stalled once in openat(), for 1 s: l1 had 400 KiB in the queue of the device 98:0, "
        "and a request of 4 KiB that it waited for was queued behind it; this explains 900 ms of the 1 s."
    )


def test_the_reader_that_filled_the_queue_is_named(story_run):
    said, known = answer(story_run, behind(lambda story: story.submit(0, DD, 1000, 800, rwbs="RS")))
    assert "mw1's dd had asked the device 98:0 to read 400 KiB, and a request of 4 KiB" in said
    assert known is None


def charged(story_run, load, *times_ms):
    """Return the only group of a pause of a load in which the disk worked so long for each of these, in ms, by name."""
    item = one(story_run, behind(flushed))
    charges = [replace(item.charges[0], party=name, time_ns=ms * MS, size=ms << 12) for name, ms in times_ms]
    (group,) = groups([replace(item, load=load, charges=tuple(charges))])
    return group


def test_readers_that_did_as_much_are_one_group_with_the_stalled_one(story_run):
    """Seen: of six equal readers, one was the cause, and the same one was among 'other causes'."""
    readers = [(f"read by r{number}", ms) for number, ms in enumerate((160, 100, 300, 150, 140, 150), start=1)]
    group = charged(story_run, "r3", *readers)
    assert ": six readers (r1 to r6) had asked the device 98:0 to read 3.91 MiB, which took 1 s, and" in sentence(group)
    assert accused(group) == ["r1", "r2", "r3", "r4", "r5", "r6"]
    others = replace(group.longest, charges=group.longest.charges[::-1])
    assert [len(each.items) for each in groups([group.longest, others])] == [2]  # whoever is the first of them


def test_own_reads_of_less_than_those_of_two_others_are_told_with_these(story_run):
    said = sentence(charged(story_run, "r1", ("read by r1", 350), ("read by r2", 330), ("read by r3", 320)))
    assert ": r1, r2 and r3 had asked the device 98:0 to read 3.91 MiB, which took 1 s, and" in said
    said = sentence(charged(story_run, "r1", ("read by r1", 480), ("read by r2", 300), ("l2", 220)))
    assert ": the device 98:0 took 480 ms for 1.88 MiB of its own; this explains 480 ms of the 1 s, and" in said


def test_nobody_is_cause_and_rest(story_run):
    said = sentence(charged(story_run, "mw1", ("l1", 300), ("read by l1", 190), ("dd", 100), ("the filesystem", 200)))
    assert "; this explains 490 ms of the 1 s, and the rest has other causes: 200 ms for 800 KiB from the files" in said
    assert "read by l1" not in said


def limited(story_run, *charges, held_ms=320):
    """Return the sentence on a pause in which a limit held requests of these, each a name and ms, and its detail."""
    item = one(story_run, behind(flushed))
    by = replace(item.charges[0], layer="limit", words="by io.max", size=4096)
    held = tuple(replace(by, party=name, time_ns=ms * MS) for name, ms in charges)
    requests = tuple(each and replace(each, held_ns=held_ms * MS) for each in item.requests)
    (group,) = groups([replace(item, charges=held, requests=requests)])
    return sentence(group), whybehind.served(group.longest)


def test_the_time_of_a_limit_is_the_same_in_the_sentence_and_in_the_detail(story_run):
    """Seen: 47.3 s of all whom a limit held in the sentence, 32.0 s of one of them in the detail."""
    said, (detail,) = limited(story_run, ("l1", 640), ("g2", 310))
    assert said.endswith(": a request of 4 KiB that it waited for was delayed for 950 ms in all by io.max.")
    assert detail == "What disks did in these waits: 950 ms for a request that was delayed by io.max."
    assert " was delayed for 950 ms by io.max" in limited(story_run, ("l1", 640), ("g2", 310), held_ms=940)[0]


@pytest.mark.parametrize(
    ("whose", "said"), [("l1", "with data from l1"), ("mw1", "with its own data"), ("the journal", "from the journal")]
)
def test_a_request_of_the_journal_with_a_load_s_data_is_told_by_whose_they_are(story_run, whose, said):
    item = one(story_run, behind(flushed))
    (chain, *_) = item.chains
    through = replace(chain, links=(*chain.links, ("jbd2/ubda-8", "folio under writeback")), kernel=True)
    requests = tuple(each and replace(each, whose=whose) for each in item.requests)
    (group,) = groups([replace(item, chains=(through, *item.chains[1:]), requests=requests)])
    assert f"and a request of 4 KiB {said} that it waited for was queued behind it" in sentence(group)


def test_a_disk_without_credits_is_told_where_the_load_waited_for_it(story_run):
    item = one(story_run, behind(flushed))
    requests = tuple(each and replace(each, name="disk") for each in item.requests)
    spent = Spent("disk", "the disk", "credits", 1 << 20, 16 << 20, 800 * MS)
    (group,) = groups([replace(item, requests=requests, spent=spent)])
    assert sentence(group).endswith("; the disk had used up its credits of 16 MiB, and did no more than 1 MiB/s.")
    (group,) = groups([replace(item, requests=requests, spent=replace(spent, of="requests", rate=8))])
    assert sentence(group).endswith("; the disk was at its limit of 8 requests per second.")
    (group,) = groups([replace(item, requests=requests, spent=replace(spent, name="other"))])
    assert "credits" not in sentence(group)


def test_many_small_fsyncs_are_told_and_who_calls_them_is_accused(story_run):
    item = one(story_run, behind(flushed))  # l1 has 400 KiB in the queue
    clause = "; l1 wrote little and called fsync often: it waited 40 times in that meanwhile."
    (group,) = groups([replace(item, synced={"l1": 40, "dd": 3})])
    assert sentence(group).endswith(clause)
    for synced in ({"l1": 5}, {"dd": 40}, {"l1": 40, "dd": 30, "w2": 20}):  # 80 KiB each, another one, one of several
        (group,) = groups([replace(item, synced=synced)])
        assert "fsync often" not in sentence(group)
    journal = replace(item.charges[0], party="the journal")
    (group,) = groups([replace(item, charges=(journal,), synced={"l1": 40})])
    assert (sentence(group).endswith(clause), accused(group)) == (True, ["the journal", "l1"])


def test_who_slept_in_fsync_is_counted_beside_the_stalled_load(story_run):
    story = Story(dict(NAMES))
    waits(story)
    for at in range(3):
        blocked(story, 300 + 20 * at, 310 + 20 * at, COMMIT, ("other_function", *IRQ), pid=L1)
    served(story)
    assert one(story_run, story).synced == {"l1": 3}


def test_data_that_had_been_in_memory_are_told(story_run):
    """mw1's dd reads 400 KiB, of which the disk had read or written 240 KiB before."""
    story = Story(dict(NAMES))
    story.fork(0, MW1, DD)
    story.submit(0, FLUSHER, 1000, 480, inode=13)
    story.complete(10 * MS, 1000, 480)
    story.submit(20 * MS, DD, 1000, 800, inode=13, rwbs="RS")
    story.submit(20 * MS, JOURNAL, 200, 8, rwbs="WSM")
    story.switch(20 * MS, MW1, 0, stack=SHADOW)
    story.complete(900 * MS, 1000, 800)
    served(story)
    item = one(story_run, story)
    (group,) = groups([item])
    assert item.again == 240 << 10
    assert sentence(group).endswith("; it had to read 240 KiB again, which had been dropped from memory.")
    (group,) = groups([replace(item, again=8 << 10)])
    assert "dropped" not in sentence(group)


def test_who_called_sync_is_told_where_the_flusher_wrote_for_that(story_run):
    item = one(story_run, behind(flushed))
    (group,) = groups([replace(item, callers=("y1's sync",))])
    assert sentence(group).endswith("; the flusher wrote that because y1's sync had called sync.")
    assert accused(group) == ["l1", "y1's sync"]
    for callers in (("mw1's sync",), ("l1",)):  # the load's own, which says so; whose data these are
        (group,) = groups([replace(item, callers=callers)])
        assert "had called sync" not in sentence(group)


def near_the_limit(pages, sectors, done_ms):
    """Return a story in which mw1 sleeps for 900 ms near the limit, and the disk completes one request."""
    story = Story(dict(NAMES))
    for page in range(pages):
        story.dirty(0, L1, 13, page)
    story.submit(0, FLUSHER, 1000, sectors, inode=13)
    story.switch(0, MW1, 0, stack=THROTTLED)
    if done_ms < 900:
        story.complete(done_ms * MS, 1000, sectors)
    story.hand_over(900 * MS, 0, MW1, TIMER)
    if done_ms > 900:
        story.complete(done_ms * MS, 1000, sectors)
    return story


def test_a_writer_near_the_limit_of_a_disk_that_is_idle(story_run):
    (group,) = groups([one(story_run, near_the_limit(100, 8, 10))])
    assert "; the device 98:0 was idle for 890 ms of that time: the cause is the limit, not the disk" in sentence(group)
    assert group.party == ""  # whoever wrote, the disk had long written it


def test_a_writer_near_a_limit_of_less_than_the_disk_wrote_meanwhile(story_run):
    said, _ = answer(story_run, near_the_limit(1, 800, 890))
    assert "near the limit; meanwhile the device 98:0 wrote 400 KiB, " in said


def test_a_writer_near_the_limit(story_run):
    said, known = answer(story_run, near_the_limit(100, 8, 950))
    assert "400 KiB were waiting to be written, 100 % of it from l1, and the kernel slows every writer when" in said
    assert known is None


def test_a_lock_whose_holder_was_running_is_not_caused_by_writeback(story_run):
    story = Story(dict(NAMES))
    story.switch(0, MW1, L1, stack=MUTEX)
    story.hand_over(1000 * MS, L1, MW1, MUTEX_ENDS)
    said = answer(story_run, story)[0]
    assert said.endswith(f": l1 held {HELD} that it waited for; l1 was running: not caused by writeback.")


def test_who_held_a_lock_is_accused_beside_those_whom_the_holder_waited_for(story_run):
    story = Story(dict(NAMES))
    story.submit(0, DD, 1000, 800, rwbs="WS")
    story.submit(0, JOURNAL, 200, 8, rwbs="WSM")
    story.switch(0, L1, MW1, stack=SHADOW)
    story.switch(1, MW1, 0, stack=MUTEX)
    story.complete(990 * MS, 1000, 800)
    story.complete(1000 * MS, 200, 8)
    story.hand_over(1000 * MS, 0, L1, SHADOW_ENDS)
    story.hand_over(1001 * MS, L1, MW1, MUTEX_ENDS)
    (group,) = groups([one(story_run, story, 1200)])
    assert f": l1 held {HELD} that it waited for; dd had 400 KiB in the queue of the device" in sentence(group)
    assert accused(group) == ["l1", "dd"]


def test_who_holds_a_lock_is_no_victim_of_it(story_run):
    """Seen: a load that held a directory's lock and one that waited for it were one group."""
    item = one(story_run, behind(flushed))
    (chain, *_) = item.chains
    held = replace(chain, links=(("w2", "lock"), *chain.links))
    own, victim = groups([item, replace(item, load="w2", chains=(held, *item.chains[1:]), pause_ns=950 * MS)])
    assert "held" not in sentence(own)
    assert f": mw1 held {HELD} that it waited for; l1 had 400 KiB in" in sentence(victim)
    assert accused(victim) == ["mw1", "l1"]
    both = replace(victim, items=(*victim.items, *own.items))
    assert "w2 and mw1 were stalled twice in openat(), for up to 1 s: l1 had" in sentence(both)
    shorter = replace(item, pause_ns=900 * MS)
    assert f": mw1 held {HELD} that w2 waited for; " in sentence(replace(both, items=(*victim.items, shorter)))


def test_a_lock_for_a_fourth_of_a_pause_is_told_first(story_run):
    item = one(story_run, behind(flushed))
    (chain, *_) = item.chains
    held = replace(chain, links=(("mw1", "lock"), ("dd", "commit"), *chain.links[1:]), time_ns=300 * MS)
    (group,) = groups([replace(item, chains=(replace(chain, time_ns=700 * MS), held))])
    assert f": dd held {HELD} that it waited for, 300 ms in all; l1 had" in sentence(group)


def test_a_stopped_task(story_run):
    story = Story(dict(NAMES))
    blocked(story, 0, 1000, ("schedule", "do_signal_stop", "get_signal"), ("prepare_signal", "sys_kill"), by=DD)
    assert answer(story_run, story)[0] == "mw1 was stalled once, for 1 s: mw1 was stopped by a signal or a freezer."


def test_a_cause_that_is_not_traced_is_unknown(story_run):
    story = Story(dict(NAMES))
    blocked(story, 0, 1000, ("schedule", "some_function"), TERMINATED, by=DD)
    said = answer(story_run, story)[0]
    assert said.endswith(": a signal from dd ended this wait, so the trace does not show what it was for.")
    story = Story(dict(NAMES))
    blocked(story, 0, 1000, ("schedule", "some_function"), ("other_function", *IRQ))
    assert answer(story_run, story)[0].endswith(": the cause is not known.")


def test_a_wait_that_a_signal_interrupts_is_known_by_where_the_task_slept(story_run):
    story = Story(dict(NAMES))
    blocked(story, 0, 1000, FILE_LOCK, TERMINATED, by=DD)
    found = one(story_run, story)
    (group,) = groups([found])
    assert (
        "it waited for a lock on a file (flock, fcntl) that another task held, until a signal from dd ended this"
        in sentence(group)
    )
    assert (found.blame, found.unexplained_ns) == ("not known", 1000 * MS)
    (group,) = groups([replace(found, is_last=True)])
    assert sentence(group).endswith(" that another task held, until the run ended, and with it this wait.")

    story = Story(dict(NAMES))
    blocked(story, 0, 1000, COMMIT, TERMINATED, by=DD)
    found = one(story_run, story)
    assert (found.blame, found.unexplained_ns) == ("writeback", 0)


def test_a_program_that_polls(story_run):
    story = Story(dict(NAMES))
    for at in range(0, 1000, 50):
        blocked(story, at, at + 45, NAP, NAP_ENDS)
    assert "mw1 slept 20 times, 100 ms at most, as a program that polls does; the trace" in answer(story_run, story)[0]


def test_the_share_of_the_main_cause_is_given(story_run):
    story = Story(dict(NAMES))
    story.switch(0, MW1, L1, stack=MUTEX)
    story.hand_over(600 * MS, L1, MW1, MUTEX_ENDS)
    blocked(story, 600, 1000, ("schedule", "some_function"), ("other_function", *IRQ))
    assert "not caused by writeback; this explains 600 ms of the " in answer(story_run, story)[0]


def test_a_known_cause_is_the_answer_though_more_is_unknown(story_run):
    story = Story(dict(NAMES))
    story.switch(0, MW1, L1, stack=MUTEX)
    story.hand_over(300 * MS, L1, MW1, MUTEX_ENDS)
    blocked(story, 300, 1000, ("schedule", "some_function"), ("other_function", *IRQ))
    said, _ = answer(story_run, story)
    assert "not caused by writeback; this explains 300 ms of the 1 s, and the trace does not show the rest." in said


def test_a_wait_of_known_kind_is_told_where_its_cause_is_unknown(story_run):
    story = Story(dict(NAMES))
    blocked(story, 0, 1000, SHADOW, ("journal_end_buffer_io_sync", *IRQ))
    said, _ = answer(story_run, story)
    assert said.endswith(
        ": it waited to change a block that the journal was writing; the trace does not show what delayed that."
    )


def test_what_is_not_known_comes_after_what_is(story_run):
    story = Story(dict(NAMES))
    blocked(story, 0, 1000, ("schedule", "some_function"), ("other_function", *IRQ))
    unknown = one(story_run, story)
    story = Story(dict(NAMES))
    blocked(story, 0, 500, ("schedule", "do_signal_stop", "get_signal"), ("prepare_signal", "sys_kill"), by=DD)
    known = one(story_run, story)
    assert [group.longest for group in groups([unknown, known])] == [known, unknown]
    little = replace(known, pause_ns=50 * MS)
    assert [group.longest for group in groups([unknown, little])] == [unknown, little]


def test_the_target_of_polling_is_not_explained(story_run):
    story = Story(dict(NAMES))
    for at in range(0, 1000, 50):
        blocked(story, at, at + 45, NAP, NAP_ENDS)
    item = one(story_run, story)
    assert 2 * item.unexplained_ns > item.pause_ns


def test_a_short_queue_is_no_remedy_for_sync(story_run):
    item = one(story_run, behind(flushed))
    item = replace(item, requests=tuple(each and replace(each, name="disk") for each in item.requests))
    (group,) = groups([item])
    assert remedy(group) is not None
    asked = tuple(replace(chain, links=(("s1", "flusher"), *chain.links)) for chain in item.chains)
    (group,) = groups([replace(item, chains=asked)])
    assert remedy(group) is None


def test_a_short_queue_is_no_remedy_for_what_waits_before_the_queue(story_run):
    item = one(story_run, behind(flushed))
    item = replace(
        item,
        requests=tuple(each and replace(each, name="disk", in_throttle=True) for each in item.requests),
        charges=tuple(replace(each, layer="throttle") for each in item.charges),
    )
    (group,) = groups([item])
    assert "the queue of the limit that makes the disk slow (blk-throttle) with" in sentence(group)
    assert remedy(group).setting == "sysctl.vm.dirty_bytes=4194304"


def test_a_remedy_that_the_lab_has_not_measured_has_no_figure(story_run):
    item = one(story_run, behind(flushed))
    item = replace(item, requests=tuple(each and replace(each, name="disk") for each in item.requests))
    chains = tuple(
        replace(chain, links=tuple((who, "folio locked") for who, _ in chain.links)) for chain in item.chains
    )
    (group,) = groups([replace(item, chains=chains)])
    known = remedy(group)
    assert (known.queue, known.measured) == ("disk", "")
    (own,) = groups([replace(item, load="l1", chains=chains)])
    assert remedy(own) is None  # its own I/O is ahead in the queue
    theirs = tuple(replace(each, party="mw1's dd") for each in item.charges)
    (own,) = groups([replace(item, chains=chains, charges=theirs)])
    assert (own.party, remedy(own)) == ("mw1's dd", None)  # or the I/O of its own child


def test_two_loads_without_a_processor_use_the_plural(story_run):
    story = Story(dict(NAMES))
    story.switch(0, MW1, L1, preempted=True)
    story.switch(1000 * MS, L1, MW1)
    item = one(story_run, story)
    (group,) = groups([item, replace(item, load="w1")])
    assert ": they were ready to run, but l1 had the processor: not caused by writeback." in sentence(group)
    assert group.party == "l1"
    assert item.ran == {"l1": 1000 * MS}
    (group,) = groups([replace(item, ran={})])
    assert ": it was ready to run, but had no processor: not caused by writeback." in sentence(group)


def test_who_had_the_processor_is_named_also_if_a_child_needed_it(story_run):
    story = Story(dict(NAMES))
    story.switch(0, MW1, L1, preempted=True)
    story.switch(1000 * MS, L1, MW1)
    item = one(story_run, story)
    chain = replace(item.chains[0], links=(("mw1", "task"), ("mw1's sh", "runnable")))
    (group,) = groups([replace(item, chains=(chain,))])
    assert ": mw1's sh, which it waited for, was ready to run, but l1 had the processor: not" in sentence(group)
    assert group.party == "l1"
    (group,) = groups([replace(item, chains=(chain,), ran={"nobody": 900 * MS, "l1": 100 * MS})])
    assert "was ready and the processor was idle, but a limit such as cpu.max kept it from running" in sentence(group)
    assert group.party == "mw1's sh"


def test_a_task_kept_from_an_idle_processor(story_run):
    story = Story(dict(NAMES))
    story.switch(0, MW1, L1, preempted=True)
    story.switch(100 * MS, L1, 0)
    story.switch(1000 * MS, 0, MW1)
    item = one(story_run, story)
    assert item.ran == {"nobody": 900 * MS, "l1": 100 * MS}
    (group,) = groups([item])
    assert "it was ready and the processor was idle, but a limit such as cpu.max" in sentence(group)
    assert any("The processor was used by: nobody 90 %, l1 10 %." in line for line in of_rest(item))


def test_where_dirty_bytes_are_is_said_only_if_the_load_s_disk_is_known(story_run):
    """A live run, or one that failed, does not say which of its devices a load writes to."""
    story = Story(dict(NAMES))
    story.dirty(0, L1, 13, 0)
    story.submit(0, FLUSHER, 1000, 8, inode=13)
    blocked(story, 0, 900, THROTTLED, TIMER)
    story.complete(950 * MS, 1000, 8)
    (cause,) = one(story_run, story).causes
    assert (cause.places, cause.is_elsewhere) == ({"the device 98:0": 4096}, False)
    fast = replace(cause, disk="the disk *fast*")
    assert (fast.is_disk_known, fast.is_elsewhere) == (True, True)
    assert not replace(fast, places={"the disk *fast*": 4096}).is_elsewhere


def charges(found, *each):
    """The same pause, of which each layer, party and disk took some ms."""
    made = [Charge(layer, party, disk, ms * MS, Bytes(ms << 20)) for layer, party, disk, ms in each]
    return replace(found, charges=tuple(made))


def test_memory_that_is_written_to_swap_is_blamed_on_who_took_memory_and_not_on_its_owners(story_run):
    swapped = [("device", f"{name}'s swapped memory", "the disk *swap*", ms) for name, ms in (("e1", 500), ("e2", 300))]
    found = charges(one(story_run, behind(flushed)), *swapped, ("device", "l1", "the disk *swap*", 90))
    found = replace(found, shortage=Shortage(own={"hog": Bytes(58 << 20)}), groups={"hog": "ml"})
    (group,) = groups([found])
    assert ": 800 MiB of swapped memory, most of it e1's, were in the queue of the disk *swap*, and" in sentence(group)
    assert "; this explains 800 ms of the 1 s; memory was short: hog had taken 58 MiB." in sentence(group)
    assert [name for name in accused(group) if name in ("e1", "e2", "l1", "hog")] == ["hog"]
    assert containers(group) == ["hog is in the control group ml."]
    alike = charges(found, swapped[1], ("device", "l1", "the disk *swap*", 90))
    assert len(groups([found, alike])) == 1  # it is one cause, whoever's memory it is


def test_who_made_the_flusher_write_by_dontcache_is_named_beside_whose_data_it_wrote(story_run):
    found = charges(one(story_run, behind(flushed)), ("device", "mw1", "the disk", 950))
    (group,) = groups([replace(found, kickers=("l1",))])
    assert "of its own; the flusher wrote that because l1 writes with RWF_DONTCACHE." in sentence(group)
    assert "l1" in accused(group)
    assert "DONTCACHE" not in sentence(groups([replace(found, kickers=("mw1",))])[0])


def test_a_server_is_no_disk_in_the_detail_either(story_run):
    found = one(story_run, behind(flushed))
    gone, slow = ("gone", "", "the mount *nas*", 600), ("server", "l1", "the mount *nas*", 300)
    (line,) = whybehind.served(charges(found, gone, slow))
    assert line == (
        "What the server of the mount *nas* did in these waits: 600 ms for nothing, as it was gone and 300 ms for 300 "
        "MiB from l1."
    )
    (line,) = whybehind.served(charges(found, slow, ("device", "dd", "the disk *a*", 200)))
    assert line.startswith("What disks and servers did in these waits: 300 ms for 300 MiB from l1 by the server of the")


def test_what_was_said_is_not_said_again_for_the_rest(story_run):
    flushes = [("flush", "", "the disk", 300), ("device", "the journal", "the disk", 200)]
    said = sentence(groups([charges(one(story_run, behind(flushed)), *flushes)])[0])
    assert "this explains 300 ms of the 1 s, and the rest has other causes: 200 ms for 200 MiB from the journal" in said
