"""The explained pauses of a run, as programs and notebooks get them."""

import pytest
from matplotlib.figure import Figure

import wblab

from .test_verb import path  # noqa: F401 - a fixture: two pauses of mw1, each 500 ms for a block and 100 ms for a lock


@pytest.fixture
def why(path):  # noqa: F811
    return wblab.read(path).why()


def test_the_answer_is_a_sentence_and_each_pause_a_row(why):
    assert why.answer.startswith("mw1 was stalled twice in openat(), for up to 600 ms: ")
    assert why.pauses[["start_s", "load", "cause"]].values.tolist() == [
        [0.0, "mw1", "journal writes block"],
        [0.7, "mw1", "journal writes block"],
    ]
    assert why.causes.loc[("mw1", "journal writes block")].tolist() == [1.2, 1.0]
    assert (len(why), len(why[1:]), why.longest.duration_s) == (2, 1, 0.6)


def test_a_pause_is_taken_apart(why):
    pause = why[0]
    assert pause.parts["time_s"].sum() == pytest.approx(pause.duration_s)
    assert "to change a block that the journal was writing (block 276" in pause.said()
    assert "do_get_write_access" in pause.stacks()["sleeper"].tolist()
    assert pause.stacks()["waker"].iloc[-1] == ""
    assert pause.events()["event"].iloc[0] == "block_buffer_wait"
    assert pause.chains["time_s"].sum() == pytest.approx(0.6)


def test_it_shows_and_prints_itself(why, tmp_path):
    assert why.answer in str(why)
    assert why.answer.replace(">", "&gt;") in why._repr_html_()
    assert why[0].said().splitlines()[0] in str(why[0])
    ax = Figure().add_subplot()
    assert why.plot(ax=ax) is ax
    assert "journal writes block" in why.save(tmp_path / "why.html").read_text()


def test_without_pauses_it_says_so(path):  # noqa: F811
    none = wblab.read(path).why(bound_s=2)
    assert (len(none), str(none)) == (0, "No pause over 2 s.")
    assert none.pauses.columns.tolist()[0] == "start_s"
    with pytest.raises(wblab.InputError, match="no load 'w7'"):
        wblab.read(path).why("w7")
