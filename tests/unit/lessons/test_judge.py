"""Answers are judged by the figures of a run."""

import pytest

from wblab.lessons.figures import LessonFigures
from wblab.lessons.judge import judge
from wblab.lessons.lesson import Held, Mistake, Question

RUN = LessonFigures(
    {"mw1.longest_pause_s": 1.32, "l1.longest_pause_s": 1.9, "mw1.paused_s": 10.0, "zero.paused_s": 0.0}
)
NUMBER = Question(
    kind="number",
    ask="How long?",
    figure="mw1.longest_pause_s",
    unit="s",
    mistakes=(Mistake(figure="l1.longest_pause_s", says="that is l1"),),
)


def said(question, answer, changed=""):
    (found,) = judge({"q": question}, {"q": answer}, RUN, {"q": changed})
    return found.outcome, found.says


@pytest.mark.parametrize(
    ("answer", "outcome", "says"),
    [
        ("1.3", "right", "right: 1.32 s"),
        ("1.32 s", "right", "right: 1.32 s"),
        ("1.9", "wrong", "that is l1"),
        ("1.6", "wrong", "21 % too large"),
        ("1", "wrong", "24 % too small"),
        ("4", "wrong", "3.0 times too large"),
        ("0.2", "wrong", "6.6 times too small"),
        ("1320", "wrong", "far too large: check the unit"),
        ("0", "wrong", "too small"),
        ("a while", "wrong", "'a while' is no number: write for example \"1.5 s\""),
        (["1.3"], "wrong", '"[\'1.3\']" is no number: write for example "1.5 s"'),
        ("", "missing", "not answered yet"),
        (None, "missing", "not answered yet"),
    ],
)
def test_a_number_is_right_or_off_by_so_much(answer, outcome, says):
    assert said(NUMBER, answer) == (outcome, says)


def test_a_count_has_no_unit_to_be_checked():
    count = Question(kind="number", ask="How many?", figure="mw1.paused_s")
    assert said(count, "0.001") == ("wrong", "10000 times too small")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("0.1", "you expected 0.1 s; it is 13 times more"),
        (1.32, "you expected 1.32 s; about right"),
        ("26.4 s", "you expected 26.4 s; it is 20 times less"),
        ("30 ms", "you expected 30 ms; it is 44 times more"),
    ],
)
def test_a_prediction_is_kept_and_compared(answer, says):
    question = Question(kind="predict", ask="How long?", figure="mw1.longest_pause_s", unit="s")
    outcome, found = said(question, answer)
    assert outcome == "kept"
    assert found == says


def test_a_prediction_about_a_changed_run_is_kept_before_the_change():
    predicted = Question(kind="predict", ask="How long?", figure="mw1.longest_pause_s", unit="s", of="q")
    assert said(predicted, "1 s") == ("kept", "compared once you have changed q.toml")


def test_a_choice_is_right_by_name_or_by_the_largest_figure():
    named = Question(kind="choice", ask="Which?", options={"a": "A", "b": "B"}, right="b")
    assert [said(named, answer)[0] for answer in ("b", "a")] == ["right", "wrong"]
    assert said(named, "c") == ("wrong", "'c' is not one of a, b")
    assert said(named, ["b"]) == ("wrong", "\"['b']\" is not one of a, b")
    largest = Question(
        kind="choice",
        ask="Who?",
        options={"l1": "", "mw1": ""},
        by={"l1": "l1.longest_pause_s", "mw1": "mw1.longest_pause_s"},
    )
    assert [said(largest, answer)[0] for answer in ("l1", "mw1")] == ["right", "wrong"]


@pytest.mark.parametrize(
    ("answer", "outcome", "says"),
    [
        (
            "mw1 slept for 1.32 s because l1 filled the memory up to the limit",
            "read",
            "it cites your run; a person reads whether it is true",
        ),
        (
            "mw1 slept for 1320 ms because L1 filled the memory up to the limit",
            "read",
            "it cites your run; a person reads whether it is true",
        ),
        ("mw1 slept for a second because l1 filled the memory up to the limit", "wrong", "cite 1 figure more"),
        ("mw1 slept for 9 s because l1 filled the memory up to the limit", "wrong", "cite 1 figure more"),
        (
            "mw1 slept for 1.32 s because the disk is far too slow",
            "read",
            "it cites your run, but seems to leave out who",
        ),
        ("mw1 slept for 1.32 s because l1 was in its way", "read", "it cites your run, but seems to leave out how."),
        ("1.32 s l1 limit", "wrong", "write a sentence"),
    ],
)
def test_a_sentence_must_cite_figures_and_is_never_refused_for_its_words(answer, outcome, says):
    names = {"who": ("l1",), "how": ("limit", "threshold")}
    question = Question(kind="sentence", ask="Why?", cites=("mw1.longest_pause_s",), names=names)
    (found,) = judge({"q": question}, {"q": answer}, RUN, {})
    assert found.outcome == outcome
    assert found.says.startswith(says)
    assert found.by_person == (answer if outcome == "read" else "")


def test_a_change_is_judged_by_the_changed_run():
    held = (
        Held(figure="mw1.longest_pause_s", most="100ms", says="mw1's longest pause"),
        Held(figure="l1.throughput_bps", least="1MiB/s", most="9MiB/s"),
    )
    question = Question(kind="change", ask="Make it shorter.", allowed=("a",), holds=held)
    good = LessonFigures({"mw1.longest_pause_s": 0.05, "l1.throughput_bps": 2 << 20})
    assert said(question, None, good) == ("right", "right: it does what was asked")
    bad = LessonFigures({"mw1.longest_pause_s": 0.5, "l1.throughput_bps": 1 << 10})
    assert said(question, None, bad) == (
        "wrong",
        "mw1's longest pause: 500 ms, wanted: at most 100ms; "
        "l1.throughput_bps: 0.000977 MiB/s, wanted: at least 1MiB/s and at most 9MiB/s",
    )
    assert said(question, None, "") == ("missing", "nothing is changed yet")
    assert said(question, None, "b must stay") == ("wrong", "b must stay")


def test_a_figure_near_another_is_wanted_within_so_much():
    held = Held(figure="x", near="7MiB", percent=10)
    assert held.ends() == pytest.approx((6.3 * (1 << 20), 7.7 * (1 << 20)))
    question = Question(kind="change", ask="Here.", allowed=("a",), holds=(held,))
    assert said(question, None, LessonFigures({"x": 9 << 20})) == ("wrong", "x: 9.00 MiB, wanted: within 10 % of 7MiB")
