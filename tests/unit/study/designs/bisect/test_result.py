"""The report of a bisection, and its record."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.reports import blocks, cells, tables, texts

from wblab.analysis.statistics.intervals import Interval
from wblab.core.errors import InputError
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.study.designs.bisect.bisection import BisectionTrial, Ends, Walk
from wblab.study.designs.bisect.measuring import Metric
from wblab.study.designs.bisect.report import report
from wblab.study.designs.bisect.repository import GitCommit
from wblab.study.designs.bisect.result import BisectedFigure, BisectionAnswer, no_difference, one_of, trial_line


def commit(number):
    return GitCommit(f"{number}" * 40, "Ann <ann@localhost>", "2026-11-21T12:00:00+00:00", f"change {number}")


COMMITS = {item.hash: item for item in map(commit, range(1, 6))}
H = list(COMMITS)
QUESTION = BisectedFigure(
    Path("/linux"), commit(1), commit(5), Metric("mw1", "longest_pause_s"), read_spec(SPECS.find("base")), 34
)
ENDS = Ends(
    BisectionTrial(H[0], "good", (1.0, 1.1, 1.2)),
    BisectionTrial(H[4], "bad", (2.0, 2.1, 2.2)),
    Interval(1.0, 0.9, 1.1, 3),
)
TRIALS = (
    BisectionTrial(H[2], "skip", (), "make failed: hello.c:1: error; see /tmp/log", obstacle="build"),
    BisectionTrial(H[1], "good", (1.3, 1.4, 1.5)),
    BisectionTrial(H[3], "bad", (2.3, 2.4, 2.5)),
)


def told(found):
    return report(found, Path("exp/bisect"))


def test_the_first_bad_commit_is_the_headline():
    found = told(BisectionAnswer(QUESTION, ENDS, TRIALS, COMMITS, H[3], (), (H[1],)))
    assert found.headline == f"First bad commit: {H[3]}"
    about, tried = tables(found)
    assert cells(about) == [
        ["author", "Ann <ann@localhost>"],
        ["date", "2026-11-21T12:00:00+00:00"],
        ["subject", "change 4"],
    ]
    assert texts(found)[0].startswith(
        "mw1.longest_pause_s: median 1.40 s before, 2.40 s after; the means differ by +1.00 s (+"
    )
    assert [row[:3] for row in cells(tried)] == [
        ["111111111111", "good", "3"],
        ["222222222222", "good", "3"],
        ["333333333333", "skip", "-"],
        ["444444444444", "bad", "3"],
        ["555555555555", "bad", "3"],
    ]
    assert cells(tried)[2][-1] == "make failed: hello.c:1: error"
    assert cells(tried)[3][-1] == "change 4"


def test_without_a_tried_parent_the_good_end_is_the_baseline():
    found = BisectionAnswer(QUESTION, ENDS, TRIALS, COMMITS, H[3], (), (H[2],))
    assert found.before == ENDS.good


def test_all_possible_commits_are_named():
    found = told(
        BisectionAnswer(QUESTION, ENDS, TRIALS, COMMITS, None, (H[2], H[3]), (), {}, (("mm", 3), ("fs/ext4", 1)))
    )
    assert found.headline == (
        "The first bad commit is one of 2 commits, 222222222222..444444444444, because they do not build (1 tried)."
    )
    listed, said = texts(found)[:3], texts(found)[3]
    assert listed == ["333333333333 change 3", "444444444444 change 4", "They change mm (3), fs/ext4 (1)."]
    assert "at GOOD" in said


def test_of_many_possible_commits_the_first_are_named_and_all_obstacles_counted():
    commits = {f"{number:040x}": replace(commit(1), hash=f"{number:040x}") for number in range(40)}
    order = list(commits)
    ends = Ends(BisectionTrial(order[0], "good"), BisectionTrial(order[-1], "bad"), ENDS.found)
    kinds = ["patches"] * 20 + ["build"] * 2 + ["undecided"]
    trials = tuple(BisectionTrial(order[5 + place], "skip", obstacle=kind) for place, kind in enumerate(kinds))
    with_values = BisectionTrial(order[0], "good", (1.0, 1.1, 1.2))
    found = BisectionAnswer(
        replace(QUESTION, walk=Walk("slow", "fast")), ends, trials, commits, None, tuple(order[1:]), ()
    )
    assert one_of(found) == (
        f"one of 39 commits, {order[0][:12]}..{order[-1][:12]}, because the lab's patches do not apply (20 tried) and "
        "they do not build (2 tried) and they are neither slow nor fast (1 tried)"
    )
    bad_end = replace(with_values, commit=order[-1], verdict="bad")
    listed = next(blocks(told(replace(found, ends=Ends(with_values, bad_end, ENDS.found))))).items
    assert [item.split()[0] for item in listed] == [*(commit[:12] for commit in order[1:11]), "and"]
    assert listed[-1] == "and 29 more"


def test_other_patches_before_and_after_are_named():
    patches = {H[1]: ("0001-sun.patch", "0002-moon.patch"), H[3]: ("0001-moon.patch", "0002-stars.patch")}
    found = BisectionAnswer(QUESTION, ENDS, TRIALS, COMMITS, H[3], (), (H[1],), patches)
    assert told(found).notes == (
        "The lab's patches differ too, and may be the cause; only before: sun; only after: stars.",
    )
    same = dict.fromkeys((H[1], H[3]), ("0001-sun.patch",))
    assert told(replace(found, patches=same)).notes == ()


def test_json_has_the_answer_and_the_trials():
    value = json.loads(json.dumps(told(BisectionAnswer(QUESTION, ENDS, TRIALS, COMMITS, H[3], (), (H[1],))).to_json()))
    assert value["directory"] == "exp/bisect"
    assert value["first_bad"]["subject"] == "change 4"
    assert (value["before"]["median"], value["after"]["median"]) == (1.4, 2.4)
    assert [item["verdict"] for item in value["tried"]] == ["good", "bad", "skip", "good", "bad"]


def test_a_question_survives_its_record_and_damage_is_refused():
    assert BisectedFigure.from_json(json.loads(json.dumps(QUESTION.to_json()))) == QUESTION
    for damaged in ({}, [], QUESTION.to_json() | {"good": 1}, QUESTION.to_json() | {"spec": {}}):
        with pytest.raises(InputError):
            BisectedFigure.from_json(damaged)


def test_a_missing_difference_is_reported():
    same = Ends(ENDS.good, ENDS.bad, Interval(0.0, -0.1, 0.1, 3))
    assert no_difference(QUESTION, same).startswith("mw1.longest_pause_s does not differ between GOOD and BAD: medians")
    assert "the same kernel" in no_difference(QUESTION, Ends(ENDS.good, ENDS.bad, None))


def test_each_trial_is_one_line():
    assert trial_line(TRIALS[1], commit(2), QUESTION) == "222222222222 good: median 1.40 s, 3 seeds (change 2)"
    assert trial_line(TRIALS[0], commit(3), QUESTION).startswith("333333333333 skip (make failed: hello.c:1")
