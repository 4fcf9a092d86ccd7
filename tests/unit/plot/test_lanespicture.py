"""Lanes as a picture."""

import pytest

from wblab.analysis.runs.lanes import Lane, Lanes
from wblab.core.units import NS_PER_S as S
from wblab.plot.lanespicture import MOST_LANES, lanes_picture


def _run(title, *frozen, failure=""):
    lanes = (
        Lane("w1", "innocent", "appends", 0, 40 * S, frozen, "write"),
        Lane("l1", "offender", "copies", 5 * S, 20 * S, (), "load"),
    )
    return Lanes(title, lanes, S, failure)


def _texts(ax):
    return {text.get_text() for text in ax.texts}


def test_each_run_has_its_title_and_its_longest_freeze_on_one_axis():
    figure = lanes_picture([_run("as Linux comes", (10 * S, 34 * S), (35 * S, 36 * S)), _run("a short $queue$")])
    first, second = figure.axes
    assert {"as Linux comes", "longest freeze 24 s", "24 s", "copy l1 begins"} == _texts(first)
    assert {r"a short \$queue\$", "no freeze over 1 s"} < _texts(second)
    assert first.get_xlim() == second.get_xlim() == (0, 40.8)
    assert [label.get_text() for label in first.get_yticklabels()] == ["editor w1", "copy l1"]


def test_it_is_landscape_and_says_what_its_marks_and_loads_are():
    figure = lanes_picture([_run("a", (0, S)), _run("b")])
    width, height = figure.get_size_inches()
    assert width > height
    (key,) = (text.get_text() for text in figure.texts)
    assert (
        " ".join(key.split()) == "Line: at work. Tall bar: frozen; its longest is on the right. Hatched: writing fast. "
        "The programs are stand-ins. editor w1: appends; copy l1: copies."
    )


def test_a_failed_run_says_so():
    assert "a (this run did not succeed)" in _texts(lanes_picture([_run("a", failure="killed")]).axes[0])


def test_each_lane_has_its_own_longest_freeze_beside_it():
    lanes = (Lane("w1", "innocent", "", 0, 9 * S, ((0, S),)), Lane("w2", "innocent", "", 0, 9 * S, ((0, 4 * S),)))
    (ax,) = lanes_picture([Lanes("a", lanes, 0)]).axes
    beside = {
        text.xy[1]: text.get_text() for text in ax.texts if getattr(text, "xycoords", "") == ("axes fraction", "data")
    }
    assert beside == {0.5: "1 s", 1.5: "4 s"}


def test_of_many_loads_those_frozen_longest_are_drawn():
    lanes = tuple(Lane(f"w{at}", "innocent", "", 0, 9 * S, ((0, S + at),)) for at in range(200))
    (ax,) = lanes_picture([Lanes("a", lanes, 0)]).axes
    assert [label.get_text() for label in ax.get_yticklabels()] == [f"w{at}" for at in range(200 - MOST_LANES, 200)]


def test_long_names_have_room_at_the_size_of_short_ones():
    lanes = (Lane("w-fast", "innocent", "", 0, 9 * S, ((0, S),), "write"),)
    (ax,) = lanes_picture([Lanes("a", lanes, 0)]).axes
    (short,) = lanes_picture([_run("a")]).axes
    ((name,), (other, *_)) = (each.get_yticklabels() for each in (ax, short))
    assert name.get_text() == "editor w-fast"
    assert name.get_fontsize() == pytest.approx(other.get_fontsize())
    assert ax.get_position().x0 > short.get_position().x0


def test_a_card_has_a_headline_and_no_key_and_is_as_large_as_others_show_it():
    figure = lanes_picture([_run("a", (0, S)), _run("b")], "One copies.")
    assert [text.get_text() for text in figure.texts] == ["One copies."]
    assert [round(inches * figure.dpi) for inches in figure.get_size_inches()] == [1200, 630]
