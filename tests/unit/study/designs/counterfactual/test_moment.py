"""What happened between two moments is told by the events between them, and by no others."""

from dataclasses import replace

import pytest
from support.blametraces import DEVICE, Story
from support.runs import MS, S, write_run

from wblab.analysis.runs.run import read_run
from wblab.analysis.why.explain import Cause, Explanation, Request
from wblab.analysis.why.recorded import read_recorded
from wblab.study.designs.counterfactual.moment import happened

L1, FLUSHER, JOURNAL = 7, 5, 6  # 7: the pid of all loads that are made by hand
PAUSE = Explanation("l2", 1, 9 * S, 12 * S, 3 * S, {}, (), ())


@pytest.fixture
def told(tmp_path):
    """Return what tells, of a story that begins at the run's zero, what happened between two times in ms."""

    def tell(story, from_ms, until_ms, pause=PAUSE):
        run = write_run(tmp_path / "run", {"l1": [story.start_ns, story.start_ns + S, story.start_ns + 20 * S]})
        (run / "trace.dat").write_bytes(story.encode())
        read = read_run(run)
        return happened(read, read_recorded(read), pause, "l1", (from_ms * MS, until_ms * MS))

    return tell


@pytest.fixture
def story():
    """A second in which l1 dirties ten pages, which the flusher hands to the disk; then the journal commits."""
    story = Story({L1: "l1", FLUSHER: "kworker", JOURNAL: "jbd2/ubda-8"}, start_ns=10 * S)
    story.switch(0, L1, 0, stack=("__schedule", "schedule", "do_nanosleep"))
    story.dirty_state(50 * MS, L1, 500, 0, thresholds=(1000, 3000))
    for index in range(10):
        story.dirty(100 * MS + index * MS, L1, 12, index)
    story.dirty_state(120 * MS, L1, 1200, 100, thresholds=(1000, 3000))
    story.submit(130 * MS, FLUSHER, 4096, 80, inode=12)
    story.commit(140 * MS, JOURNAL, 3)
    story.submit(141 * MS, JOURNAL, 8192, 8, rwbs="WS")
    story.complete(500 * MS, 4096, 80)
    story.complete(600 * MS, 8192, 8)
    return story


def texts(found):
    return [item.text for item in found]


def test_what_the_suspect_did_is_told_with_what_came_of_it(told, story):
    assert texts(told(story, 90, 200)) == [
        "l1 dirtied 40 KiB; 40 KiB were then waiting to be written. The flusher begins to write at "
        "3.91 MiB, and the kernel slows writers at 7.81 MiB.",
        "5.08 MiB were waiting to be written, more than 3.91 MiB, where the flusher begins to write.",
        "40 KiB from l1 were submitted to the disk, behind 0 bytes.",
    ]


def test_only_what_is_between_the_moments_counts(told, story):
    (commit,) = told(story, 135, 200)
    assert commit.text == "The journal began to commit transaction 3."
    assert told(story, 700, 800) == []


def test_each_sentence_has_its_events(told, story):
    found = told(story, 100, 106)
    assert texts(found)[0].startswith("l1 dirtied")
    first, last = found[0].events
    assert last - first == 5  # of the ten pages six are inside


def test_the_request_with_which_the_pause_ended_is_recognized(told, story):
    request = Request(DEVICE, 8192, 4096, 10 * S + 141 * MS, 10 * S + 600 * MS, {})
    cause = Cause("commit", "", 1, 1, 1, "", (), (), "", -1, "", "", request, {}, {}, ())
    found = told(story, 138, 200, replace(PAUSE, causes=(cause,)))
    assert texts(found) == [
        "The request that later ended the pause was submitted; the disk completed it after 459 ms.",
        "The journal began to commit transaction 3.",
    ]
    assert texts(told(story, 142, 200, replace(PAUSE, causes=(cause,)))) == []
