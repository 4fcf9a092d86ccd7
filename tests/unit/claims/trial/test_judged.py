"""Outcomes of values in a scenario, the number of seeds, and the report."""

import json
from dataclasses import replace

import numpy as np
import pytest
from support.pages import Page, slips, words
from support.reports import cells, tables, texts

from wblab.claims.trial.judged import judged
from wblab.claims.trial.measured import is_refusal
from wblab.claims.trial.plan import Answer
from wblab.claims.trial.report import others_text, report, worst_text, write_report
from wblab.claims.trial.result import TrialResult, rows
from wblab.claims.trial.run import open_cells, question, rounds
from wblab.report.report import text_of
from wblab.study.store import Store

DEFAULT = ("default", "as it is")


def around(mean: float, spread: float = 0.02, count: int = 5, seed: int = 0) -> list[float]:
    return (mean * np.exp(np.random.default_rng(seed).normal(0, spread, count))).tolist()


PAUSES = {
    DEFAULT: around(2.0),
    ("1", "by seconds"): around(0.5, seed=1),
    ("1", "by memory"): around(1.8, 0.3, seed=2),
    ("2a", "by memory"): around(4.0, seed=3),
}


@pytest.fixture
def tried(pretend, matrix):
    return judged(pretend(PAUSES), matrix.cells)


def outcomes(tried, key, way):
    item = next(item for item in tried if (item.key, item.way) == (key, way))
    return [kept.outcome for kept in item.kept]


def test_outcomes_by_scenario(tried):
    assert outcomes(tried, "1", "by seconds") == ["reproduced", "reproduced"]
    assert outcomes(tried, "1", "by memory") == ["not decided", "not reproduced"]
    assert outcomes(tried, "2a", "by memory") == ["harms"]  # innocent loads are stalled for longer
    assert outcomes(tried, "2a", "by seconds") == ["not reproduced"]
    assert outcomes(tried, "2b", "as it is") == []


def test_each_expectation_has_a_row(tried, wisdom):
    found = [(row.key, row.expectation.says, row.outcome, row.counts) for row in rows(tried, wisdom)]
    assert found == [
        ("1", "shorter", "not decided", "1 of 2"),
        ("1", "never over 1 s", "not reproduced", "1 of 2"),
        ("2a", "faster", "harms", "0 of 2"),
    ]


def test_more_seeds_are_run_where_they_can_decide(tried, matrix, wisdom, tmp_path):
    assert rounds(20) == [5, 10, 20]
    assert rounds(7) == [5, 7]
    assert rounds(2) == [2]
    asked = question(Store(tmp_path, matrix, {}), wisdom)
    assert len(asked.wanted(matrix.cells, range(1, 6))) == 6 * 5 + 2
    more = open_cells(tried, matrix.cells)
    assert {tuple(cell.levels.values()) for cell in more} == {("small", *DEFAULT), ("small", "1", "by memory")}


def test_the_deciding_figure_is_shown(tried, wisdom):
    texts = [worst_text(row) for row in rows(tried, wisdom)]
    assert texts[1].endswith(" on small, by memory")
    assert texts[1].split(" ")[1] == "s"
    assert texts[2].startswith("light writers' longest pause ×1.99")


@pytest.fixture
def result(tried, wisdom):
    answers = {"1": Answer(("vm.dirty_bytes",), {"vm.dirty_bytes": 0, "vm.dirty_background_bytes": 314572800}, 1, 1)}
    return TrialResult(wisdom, tuple(tried), answers, {"release": "7.3.0"}, 32, 5)


def test_the_report_has_each_expectation_each_scenario_and_those_that_contradict(result):
    made = report(result)
    verdicts, scenarios, pairs = map(cells, tables(made))
    assert [row[4] for row in verdicts if row[4]] == ["not decided", "not reproduced", "harms"]
    assert text_of(made.headline) == "0 reproduced, 1 not reproduced, 1 harms, 1 not decided."
    assert "1 as published: vm.dirty_bytes = 629145600 is rejected" in made.notes[0]
    assert len(scenarios) == sum(max(1, len(item.kept)) for item in result.tried)
    assert [row[:2] for row in pairs] == [["1 A", "600 MiB"], ["2 B", "more; WBT"]]


def test_the_report_is_one_page(result, tmp_path):
    _, path = write_report(result, tmp_path)
    page = Page()
    page.feed(path.read_text())
    assert slips(words(path.read_text())) == []
    assert all(load.startswith(("data:image/png;base64,", "runs/", "verdicts.json")) for load in page.loads)
    assert (tmp_path / "trial.png").stat().st_size > 10_000
    said = json.loads((tmp_path / "verdicts.json").read_text())
    assert [expectation["verdict"] for expectation in said["expectations"]] == [
        "not decided",
        "not reproduced",
        "harms",
    ]


def test_a_recommendation_without_measurements_is_untestable(pretend, matrix, wisdom):
    found = pretend(PAUSES)
    empty = type(found)(wisdom, found.runs, {})
    assert [kept.outcome for item in judged(empty, matrix.cells) for kept in item.kept] == ["not decided"] * 6


def test_unnoticeable_pauses_cannot_be_shortened(pretend, matrix):
    short = judged(pretend({DEFAULT: [0.05] * 5}), matrix.cells)
    assert [kept.expectation.says for item in short if item.key == "1" for kept in item.kept] == ["never over 1 s"] * 2


def test_scenarios_that_improve_and_that_suffer_are_listed(tried):
    assert {(item.key, item.way) for item in tried if item.helps_others} == {("1", "by seconds")}
    assert {(item.key, item.way) for item in tried if item.harms_others} == {("2a", "by memory")}
    assert others_text([item for item in tried if item.key == "1"]) == "shorter on small (×0.25)"


def test_a_value_rejected_by_the_kernel_is_a_finding(pretend, matrix, wisdom):
    assert is_refusal("cannot set disk.bdi.max_bytes to 9 in the guest: Invalid argument")
    assert not is_refusal("cannot set disk.bdi.max_bytes to 9 in the guest: No such file or directory")
    found = pretend(PAUSES)
    cells = [cell.name for cell in matrix.cells if cell.levels["recommendation"] == "1"]
    figures = {name: figures for name, figures in found.figures.items() if name not in cells}
    refused = replace(found, figures=figures, refused=dict.fromkeys(cells, "vm.dirty_bytes to 9"))
    row = rows(judged(refused, matrix.cells), wisdom)[0]
    assert (row.outcome, row.counts) == ("not decided", "0 of 2")
    assert worst_text(row) == "this kernel rejects vm.dirty_bytes to 9 on small, by seconds"


def test_if_no_run_succeeds_the_reason_is_given(pretend, matrix, wisdom):
    found = pretend(PAUSES)
    names = [cell.name for cell in matrix.cells if cell.levels["recommendation"] == "1"]
    figures = {name: figures for name, figures in found.figures.items() if name not in names}
    tried = judged(replace(found, figures=figures, failed=dict.fromkeys(names, "it <panicked>")), matrix.cells)
    row = rows(tried, wisdom)[0]
    assert (row.outcome, row.counts) == ("not decided", "0 of 2")
    assert worst_text(row) == "no run succeeded on small, by seconds: it <panicked>"
    made = report(TrialResult(wisdom, tuple(tried), {}, {"release": "7.3.0"}, 32, 5, "xfs"))
    assert [row[2] for row in cells(tables(made)[1])].count("no run succeeded: it <panicked>") == 2
    assert any(text.startswith("32 runs of Linux 7.3.0 on xfs, up to 5 seeds each") for text in texts(made))
