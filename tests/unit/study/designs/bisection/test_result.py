"""The printed answer of a bisection, and its record."""

import json
from pathlib import Path

import pytest

from wblab.analysis.statistics.intervals import Interval
from wblab.core.errors import InputError
from wblab.lab.named import SPECS
from wblab.lab.specfile import read_spec
from wblab.study.designs.bisection.metric import Metric
from wblab.study.designs.bisection.repository import Commit
from wblab.study.designs.bisection.result import Answer, Question, no_difference, table, text, trial_line
from wblab.study.designs.bisection.search import Ends, Trial


def commit(number):
    return Commit(f"{number}" * 40, "Ann <ann@localhost>", "2026-11-21T12:00:00+00:00", f"change {number}")


COMMITS = {item.hash: item for item in map(commit, range(1, 6))}
H = list(COMMITS)
QUESTION = Question(
    Path("/linux"), commit(1), commit(5), Metric("mw1", "longest_pause_s"), read_spec(SPECS.find("base")), 34
)
ENDS = Ends(Trial(H[0], "good", (1.0, 1.1, 1.2)), Trial(H[4], "bad", (2.0, 2.1, 2.2)), Interval(1.0, 0.9, 1.1, 3))
TRIALS = (
    Trial(H[2], "skip", (), "make failed: hello.c:1: error; see /tmp/log"),
    Trial(H[1], "good", (1.3, 1.4, 1.5)),
    Trial(H[3], "bad", (2.3, 2.4, 2.5)),
)


def test_the_first_bad_commit_is_printed():
    found = Answer(QUESTION, ENDS, TRIALS, COMMITS, H[3], (), (H[1],))
    lines = text(found)
    assert lines[:4] == [
        f"first bad commit: {H[3]}",
        "author:  Ann <ann@localhost>",
        "date:    2026-11-21T12:00:00+00:00",
        "subject: change 4",
    ]
    assert lines[4].startswith(
        "mw1.longest_pause_s: median 1.40 s before, 2.40 s after; the means differ by +1.00 s (+"
    )
    tried = table(found).lines()[1:]
    assert [line.split()[:3] for line in tried] == [
        ["111111111111", "good", "3"],
        ["222222222222", "good", "3"],
        ["333333333333", "skip", "-"],
        ["444444444444", "bad", "3"],
        ["555555555555", "bad", "3"],
    ]
    assert "make failed: hello.c:1: error" in tried[2]


def test_without_a_tried_parent_the_good_end_is_the_baseline():
    found = Answer(QUESTION, ENDS, TRIALS, COMMITS, H[3], (), (H[2],))
    assert found.before == ENDS.good


def test_all_possible_commits_are_named():
    lines = text(Answer(QUESTION, ENDS, TRIALS[:1], COMMITS, None, (H[2], H[3]), ()))
    assert lines[:3] == ["the first bad commit is one of:", "  333333333333 change 3", "  444444444444 change 4"]
    assert "at GOOD" in lines[3]


def test_json_has_the_answer_and_the_trials():
    value = json.loads(json.dumps(Answer(QUESTION, ENDS, TRIALS, COMMITS, H[3], (), (H[1],)).to_json()))
    assert value["first_bad"]["subject"] == "change 4"
    assert (value["before"]["median"], value["after"]["median"]) == (1.4, 2.4)
    assert [item["verdict"] for item in value["tried"]] == ["good", "bad", "skip", "good", "bad"]


def test_a_question_survives_its_record_and_damage_is_refused():
    assert Question.from_json(json.loads(json.dumps(QUESTION.to_json()))) == QUESTION
    for damaged in ({}, [], QUESTION.to_json() | {"good": 1}, QUESTION.to_json() | {"spec": {}}):
        with pytest.raises(InputError):
            Question.from_json(damaged)


def test_a_missing_difference_is_reported():
    same = Ends(ENDS.good, ENDS.bad, Interval(0.0, -0.1, 0.1, 3))
    assert no_difference(QUESTION, same).startswith("mw1.longest_pause_s does not differ between GOOD and BAD: medians")
    assert "the same kernel" in no_difference(QUESTION, Ends(ENDS.good, ENDS.bad, None))


def test_each_trial_is_one_line():
    assert trial_line(TRIALS[1], commit(2), QUESTION) == "222222222222 good: median 1.40 s, 3 seeds (change 2)"
    assert trial_line(TRIALS[0], commit(3), QUESTION).startswith("333333333333 skip (make failed: hello.c:1")
