"""Who waited for whom: rows, bars and arrows, of what was proved and of nothing else."""

import json
from dataclasses import replace

import pytest

from tests.support.pictured import MS, S
from wblab.analysis.runs.pauses import Window
from wblab.analysis.why.account import IDLE, REQUEST, UNEXPLAINED, Chain
from wblab.analysis.why.explain import Cause, Explanation
from wblab.analysis.why.request import IoRequest
from wblab.plot.page import page
from wblab.plot.picture import picture
from wblab.plot.style import OTHERS
from wblab.plot.timeline import timeline
from wblab.plot.waitspane import NAME, waits_pane

MIB = 1 << 20
AT = 200 * MS  # where mw1's pause of 1.4 s begins
LOADS = {"mw1": "#56B4E9", "l1": "#6B6B6B"}
CLOSE = Window(0, 2 * S, "mw1")


def chain(*links, end=REQUEST, spans=((AT, AT + 1400 * MS),)):
    waits = tuple((1, start, stop) for start, stop in spans)
    return Chain(links, end, sum(stop - start for start, stop in spans), spans=waits)


REQUESTED = IoRequest(1, 8, 20480, AT, AT + 1400 * MS, {"l1": 12 * MIB, "the journal": 20480})
COMMIT = chain(("mw1", "commit"), ("jbd2/ubda-8", "buffer"))


def pause(*chains, requests=(), causes=()):
    return Explanation("mw1", 1, AT, AT + 1500 * MS, 1400 * MS, {}, chains, causes, requests)


def drawn(run, item, window=CLOSE):
    """Return the rows, the texts of bars by row, and the arrows as pairs of rows."""
    (pane,) = waits_pane(run, [item], window, LOADS)
    names = list(pane.axis.ticks.values())
    (mark,) = pane.marks
    texts = [(names[bar.row], bar.text) for bar in mark.bars]
    return texts, [(names[above], names[below]) for _, above, below in mark.arrows]


def test_from_the_load_down_to_whose_data_the_disk_wrote(run):
    texts, arrows = drawn(run, pause(COMMIT, requests=(REQUESTED,)))
    assert texts == [
        ("mw1", "waited for the journal to end a commit, 1.40 s"),
        ("jbd2/ubda-8", "waited for a block that was being read or written, 1.40 s"),
        ("a request", "a request of 20 KiB, under way for 1.40 s"),
        ("the disk", "l1: 12 MiB of the 12.0 MiB completed meanwhile"),
    ]
    assert arrows == [("mw1", "jbd2/ubda-8"), ("jbd2/ubda-8", "a request"), ("a request", "the disk")]


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (replace(REQUESTED, held_ns=S, held_by="by write-back throttling"), "held for 1 s by write-back throttling"),
        (replace(REQUESTED, still_ns=S), "stood still for 1 s"),
        (replace(REQUESTED, ahead={}), "completed nothing else"),
    ],
)
def test_what_else_a_disk_did(run, request_, said):
    assert drawn(run, pause(COMMIT, requests=(request_,)))[0][-1] == ("the disk", said)


def test_near_a_dirty_limit_whose_data_were_dirty(run):
    throttled = chain(("mw1", "throttled"), end="timer", spans=((AT, AT + 700 * MS), (AT + 701 * MS, AT + 1401 * MS)))
    dirty = Cause("throttled", "", S, 1, S, "write", (), (), "", -1, "", "", None, {}, {"l1": 27 * MIB, "w1": MIB}, ())
    texts, arrows = drawn(run, pause(throttled, causes=(dirty,)))
    assert texts[-1] == ("dirty data", "l1: 96.4 % of the 28 MiB that were dirty")
    assert arrows == [("mw1", "dirty data")]


def test_what_is_not_known_has_no_arrow(run):
    texts, arrows = drawn(run, pause(chain(("mw1", UNEXPLAINED), end=UNEXPLAINED)))
    assert [name for name, _ in texts] == ["mw1"]
    assert arrows == []


def test_a_worker_without_work_waits_for_nobody(run):
    idle = chain(("mw1", "folio under writeback"), ("kworker/u4:2", IDLE))
    assert "kworker/u4:2" not in dict(drawn(run, pause(idle, requests=(REQUESTED,)))[0])


def test_only_a_close_up_has_it_and_only_of_whom_it_is_around(run):
    item = pause(COMMIT, requests=(REQUESTED,))
    assert NAME not in [pane.name for pane in timeline(run, explained=[item]).panes]
    assert NAME in [pane.name for pane in timeline(run, window=Window(0, 2 * S), explained=[item]).panes]
    assert not list(waits_pane(run, [item], Window(0, 2 * S, "w1"), LOADS))
    assert not list(waits_pane(run, [item], Window(3 * S, 4 * S), LOADS))
    assert not list(waits_pane(run, [pause()], CLOSE, LOADS))


def test_pictures_and_pages_have_texts_and_arrows(run):
    close = timeline(run, window=CLOSE, explained=[pause(COMMIT, requests=(REQUESTED,))])
    at = [pane.name for pane in close.panes].index(NAME)
    ax = picture(close).axes[at]
    texts = [text.get_text() for text in ax.texts if text.get_text()]
    assert "waited for the journal to end a commit, 1.40 s" in texts
    assert len([text for text in ax.texts if getattr(text, "arrow_patch", None)]) == 3
    shown = page(close)["panes"][at]
    assert "l1: 12 MiB of the 12.0 MiB completed meanwhile" in json.dumps(shown)
    assert [len(mark["arrows"]) for mark in shown["marks"] if "arrows" in mark] == [3]


def test_whoever_is_no_load_has_the_colour_of_others(run):
    (pane,) = waits_pane(run, [pause(COMMIT, requests=(replace(REQUESTED, ahead={"x": 1}),))], CLOSE, LOADS)
    assert pane.marks[0].bars[-1].colour == OTHERS
