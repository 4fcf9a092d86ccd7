"""A new pane: defined once, it is in the picture and on the page."""

from dataclasses import replace

import numpy as np

from wblab.plot.marks import (
    Axis,
    Blocks,
    Counts,
    Label,
    Layer,
    LevelMarks,
    Line,
    Pane,
    PointMarks,
    Rules,
    Spans,
    Stack,
    names,
)
from wblab.plot.page import page
from wblab.plot.picture import picture
from wblab.plot.timeline import timeline

S = 10**9
TIMES = np.arange(4, dtype=np.int64) * S
VALUES = np.array([1.0, 2.0, 4.0, 3.0])
ONES = np.ones(4, np.int64)
EDGES = np.append(TIMES, 4 * S)
MARKS = (
    Line("a line", TIMES, VALUES, "black", "{name}: {value:.1f} at {time:.2f} s"),
    LevelMarks("levels", EDGES, VALUES, "black", "{name}: {value:.1f} from {time:.2f} s"),
    PointMarks("points", TIMES, VALUES, "black", "{name}: {value:,.0f}", said=VALUES * 10),
    Stack(TIMES, (Layer("low", VALUES, "black", "{value}"), Layer("high", VALUES, "black", "{value} of {top}"))),
    Counts(EDGES, np.array([0, 1, 2.5, 5]), np.arange(12).reshape(4, 3), {1: "red", 2: "green"}, "item", "{value}"),
    Blocks("blocks", EDGES, VALUES, VALUES, ONES, 3.5, 4.0, "black", "group"),
    Label(S, 2.0, "here", "black", "right"),
    Rules((S, 2 * S), "black"),
    Spans(((S, 2 * S),), "black"),
)


def drawn(run, *marks, name="mine"):
    """Return the axes and the data of a pane with these marks, above those of a run."""
    base = timeline(run)
    whole = replace(base, panes=(Pane(name, "what it shows", Axis("items", 0, 5), marks), *base.panes))
    return picture(whole).axes[0], page(whole)["panes"][0]


def test_a_pane_of_every_mark_is_drawn_by_both(run):
    inside = MARKS[:7]
    ax, pane = drawn(run, *inside)
    assert ax.get_title(loc="left") == "mine"
    assert ax.get_ylabel() == pane["axis"]["unit"] == "items"
    assert [mark["kind"] for mark in pane["marks"]] == [type(mark).__name__ for mark in inside]
    assert set(pane["legend"]) == set(names(inside))
    explained = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sorted(explained) == ["1 item", "2 or more", "a line", "high", "levels", "low", "points"]
    assert "here" in [text.get_text() for text in ax.texts]


def test_what_is_on_all_panes_is_on_a_new_one(run):
    whole = replace(timeline(run), everywhere=MARKS[7:])
    rules, spans = page(whole)["everywhere"]
    assert rules["x"] == spans["x"] == [1_000_000, 1_000_000]
    assert all(ax.patches for ax in picture(whole).axes)


def test_what_a_point_says_may_differ_from_its_place(run):
    _, pane = drawn(run, MARKS[2])
    assert (pane["marks"][0]["y"], pane["marks"][0]["said"]) == ([1, 2, 4, 3], [10, 20, 40, 30])


def test_what_has_the_name_of_its_pane_needs_no_legend(run):
    ax, pane = drawn(run, MARKS[0], name="a line")
    assert ax.get_legend() is None
    assert pane["legend"] == []


def test_names_of_others_are_no_formula(run):
    ax, _ = drawn(run, replace(MARKS[0], name="$x$<i>"))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [r"\$x\$<i>"]


def test_numbers_have_few_digits_and_gaps_are_null(run):
    _, pane = drawn(run, replace(MARKS[1], values=np.array([np.nan, 0.0, 123456.0, 0.000123456])))
    assert pane["marks"][0]["y"] == [None, 0, 123500, 0.0001235]
