"""Who passed the background limit is named where the flusher wrote for it what a load then waited for."""

import pytest
from support.blametraces import DEVICE, Story
from support.runs import MS

from wblab.analysis.why.background import background_of
from wblab.analysis.why.parties import read_parties
from wblab.report.whyanswer import sentence
from wblab.report.whycause import accused, groups

from .conftest import MW1
from .test_explain import FLUSHER, L1, one, served, waits
from .test_parties import DD, NAMES

WORKER = 52
PASSED = "; the flusher wrote that as more than the background limit of 600 KiB was dirty: "


def stalled(story_run, limit, *, of_l1=100, of_dd=100, whose=L1, by=FLUSHER, **work):
    """Return a pause of 1 s behind 400 KiB, as a group. limit, of_l1, of_dd: pages of 4 KiB; whose: what is ahead."""
    story = Story(dict(NAMES))
    for pid, pages in ((L1, of_l1), (DD, of_dd), (MW1, 100 if whose == MW1 else 0)):
        for page in range(pages):
            story.dirty(0, pid, pid, page)
    story.dirty_state(0, L1, of_l1 + of_dd, 0, thresholds=(limit, 10_000))
    story.begin_writing(0, FLUSHER, **work)
    story.submit(0, by, 1000, 800, inode=whose)
    waits(story)
    story.complete(990 * MS, 1000, 800)
    served(story)
    (group,) = groups([one(story_run, story)])
    return group


def test_each_who_was_needed_to_pass_the_limit_is_named(story_run):
    group = stalled(story_run, 150)
    assert sentence(group).endswith(f"{PASSED}400 KiB from l1 and 400 KiB from dd.")
    assert accused(group) == ["l1", "dd"]


def test_where_any_of_them_passed_it_those_whose_data_were_ahead_are_enough(story_run):
    group = stalled(story_run, 50)
    assert PASSED.partition(" as ")[0] not in sentence(group)
    assert accused(group) == ["l1"]


def test_who_alone_passed_it_is_not_named_as_what_waits_for_data_has_them_written_anyway(story_run):
    """Seen: a commit waits for l1's data on its disk, and dd's data on another disk are far over the limit."""
    group = stalled(story_run, 150, of_dd=300)
    assert group.longest.background.needed == ("dd",)
    assert accused(group) == ["l1"]


def test_a_load_stalled_by_its_own_data_was_so_because_others_passed_the_limit(story_run):
    group = stalled(story_run, 150, of_l1=300, of_dd=20, whose=MW1)
    assert "for 1 s: the device 98:0 took 990 ms for 400 KiB of its own; the flusher wrote that" in sentence(group)
    assert sentence(group).endswith(" was dirty: 1.17 MiB from l1.")
    assert accused(group) == ["mw1", "l1"]


def test_a_load_that_passed_it_by_its_own_data_needs_nobody(story_run):
    assert accused(stalled(story_run, 90, of_l1=10, of_dd=10, whose=MW1)) == ["mw1"]


@pytest.mark.parametrize(
    "work",
    [{"is_background": False}, {"is_sync": True, "is_background": False}, {"by": WORKER}, {"limit": 250}],
    ids=["another reason", "sync", "another worker", "a limit that was not passed"],
)
def test_what_was_not_written_for_the_limit_names_nobody_else(story_run, work):
    assert accused(stalled(story_run, **{"limit": 150} | work)) == ["l1"]


def test_what_other_workers_of_btrfs_write_is_for_its_flusher(story_run):
    story = Story(dict(NAMES))
    for page in range(200):
        story.dirty(0, L1 if page < 100 else DD, 13, page)
    story.dirty_state(0, L1, 200, 0, thresholds=(150, 10_000))
    story.begin_writing(0, FLUSHER, bdi="btrfs-5")
    story.submit(0, WORKER, 1000, 800, inode=13)
    story.complete(990 * MS, 1000, 800)
    story.switch(990 * MS, 0, MW1)
    _, recorded = story_run(story, [0, 1000 * MS])
    parties, span = read_parties(recorded), (0, len(recorded.sequence.ts_ns))
    found = background_of(recorded, parties, DEVICE, span, is_btrfs=True)
    assert (found.limit, found.dirty) == (150 * 4096, {"l1": 100 * 4096, "dd": 100 * 4096})
    assert background_of(recorded, parties, DEVICE, span, is_btrfs=False) is None
