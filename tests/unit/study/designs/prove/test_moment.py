"""Descriptions of what happened between two moments use only the events between them."""

from dataclasses import replace

import pytest
from support.blametraces import DEVICE, Story
from support.runs import MS, S, write_run

from wblab.analysis.runs.run import read_run
from wblab.analysis.why.explain import Cause, Explanation
from wblab.analysis.why.recorded import read_recorded
from wblab.analysis.why.request import IoRequest
from wblab.study.designs.prove.moment import happened

L1, FLUSHER, JOURNAL = 7, 5, 6  # 7: the pid of every load in a synthetic run
PAUSE = Explanation("l2", 1, 9 * S, 12 * S, 3 * S, {}, (), ())


@pytest.fixture
def described(tmp_path):
    """Return a function that describes what happened in a story between two times, in ms since the run's start."""

    def describe(story, from_ms, until_ms, pause=PAUSE):
        run = write_run(tmp_path / "run", {"l1": [story.start_ns, story.start_ns + S, story.start_ns + 20 * S]})
        (run / "trace.dat").write_bytes(story.encode())
        read = read_run(run)
        return happened(read, read_recorded(read), pause, "l1", (from_ms * MS, until_ms * MS))

    return describe


@pytest.fixture
def story():
    """One second: l1 dirties ten pages, the flusher submits them to the disk, the journal commits."""
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


def test_actions_of_the_suspect_and_their_effects_are_described(described, story):
    assert texts(described(story, 90, 200)) == [
        "l1 dirtied 40 KiB; 40 KiB were then waiting to be written. The flusher begins to write at "
        "3.91 MiB, and the kernel slows writers at 7.81 MiB.",
        "5.08 MiB were waiting to be written, more than 3.91 MiB, where the flusher begins to write.",
        "40 KiB from l1 were submitted to the disk, behind 0 bytes.",
    ]


def test_events_outside_the_window_are_ignored(described, story):
    (commit,) = described(story, 135, 200)
    assert commit.text == "The journal began to commit transaction 3."
    assert described(story, 700, 800) == []


def test_each_sentence_cites_its_events(described, story):
    found = described(story, 100, 106)
    assert texts(found)[0].startswith("l1 dirtied")
    first, last = found[0].events
    assert last - first == 5  # six of the ten pages are inside the window


def test_request_that_ended_the_pause_is_found(described, story):
    request = IoRequest(DEVICE, 8192, 4096, 10 * S + 141 * MS, 10 * S + 600 * MS, {})
    cause = Cause("commit", "", 1, 1, 1, "", (), (), "", -1, "", "", request, {}, {}, ())
    found = described(story, 138, 200, replace(PAUSE, causes=(cause,)))
    assert texts(found) == [
        "The request that later ended the pause was submitted; the disk completed it after 459 ms.",
        "The journal began to commit transaction 3.",
    ]
    assert texts(described(story, 142, 200, replace(PAUSE, causes=(cause,)))) == []
