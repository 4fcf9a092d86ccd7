"""The two rounds of an advice. A script stands in for the runs and decides the effect of each remedy."""

import json
from functools import partial
from math import prod
from types import SimpleNamespace
from zlib import crc32

import pytest
from support.advised import MACHINE, SITE

from wblab.core.errors import InputError, WblabError
from wblab.live.advise.advicefile import advice_in
from wblab.live.advise.figures import RemedyOutcome, figures
from wblab.live.advise.make import AdviceRequest, run_rounds
from wblab.live.advise.plan import plan
from wblab.live.advise.record import advice_of, packed
from wblab.live.advise.remedies import parse_remedies
from wblab.live.advise.result import pairs_of_best, result_of
from wblab.study.cells import run_name
from wblab.study.run import Attempt, Tally
from wblab.study.store import Store

REMEDIES = {
    "short": {"nr_requests": 4},
    "shorter": {"queue": "100ms"},
    "low": {"dirty": "1s"},
    "bfq": {"scheduler": "bfq"},
    "own": {"own_limit": "500ms"},
    "wbt": {"wbt": "75ms"},
}
PAUSES_S = {"now": 5.0, "short": 1.0, "shorter": 1.5, "low": 2.0, "bfq": 3.5, "own": 3.0, "wbt": 5.0}
SEEDS = range(1, 6)


def planned(**changes):
    tables = {name: {"about": name, **table} for name, table in (REMEDIES | changes).items()}
    return plan(MACHINE, SITE, parse_remedies(tables, {}), SEEDS)


class Script:
    """Stands in for runs. pauses_s: pauses by remedy; a pair combines its parts. most: later runs are interrupted."""

    def __init__(self, store):
        self.store, self.pauses_s, self.failing, self.rounds, self.said = store, dict(PAUSES_S), set(), [], []
        self.most = 1000
        self.asked = AdviceRequest(results=store.path.parent, note=self.said.append, failed=self.said.append)

    def run(self, store, wanted):
        self.store, missing = store, store.missing(wanted)
        self.rounds.append({str(cell.levels["remedy"]) for cell, _ in missing})
        tally = Tally(len(missing))
        for cell, seed in missing[: self.most]:
            if cell.levels["remedy"] in self.failing:
                tally.failures.append((Attempt(cell, seed), "the guest died"))
            else:
                (store.runs / run_name(cell, seed)).mkdir()
        if self.most < len(missing):
            raise WblabError("the workers are lost")
        return tally

    def try_all(self, run=None):
        """Try all remedies of the study in its directory, with these runs."""
        judge = partial(result_of, read=lambda path: SimpleNamespace(path=path), outcome=self.outcome)
        return run_rounds(self.asked, Store.open(self.store.path), run or self.run, judge)

    def outcome(self, run, factor):
        cell = run.path.name.rsplit("-s", 1)[0]
        name = next(str(item.levels["remedy"]) for item in self.store.plan.cells if item.name == cell)
        pause_s = prod(self.pauses_s[part] / self.pauses_s["now"] for part in name.split("+")) * self.pauses_s["now"]
        noise = crc32(run.path.name.encode()) % 100 / 1000
        return RemedyOutcome(pause_s + noise, 0.1 + noise, 100.0 - noise)


@pytest.fixture
def script(tree, tmp_path):
    made = planned()
    beside = packed(advice_of(made, SITE, {"about": ("machine", "twin")}))
    store = Store.create(tmp_path / "exp", made.plan, {"": {"build_id": "0"}}, beside)
    return Script(store)


def names(found):
    return [row.name for row in (found.now, *found.others)]


def test_the_best_compatible_remedies_are_tried_together(script):
    found = script.try_all()
    assert script.rounds == [
        PAUSES_S.keys(),
        {"short+low", "short+own", "low+own"},
    ]  # shorter has the same setting as short
    assert script.said == ["second round: pairs of the remedies that help (short, low, own)"]
    assert found.choice.name == "short+low"
    assert sorted(names(found)) == sorted([*PAUSES_S, "short+low", "short+own", "low+own"])
    pair = found.advice.candidate("short+low")
    assert [str(item) for item in pair.wanted][-1] == "nr_requests=4"
    assert {row["name"] for row in found.to_json()["remedies"]} == set(names(found))
    assert set(found.files) == {"90-wblab.conf", "90-wblab.rules"}


def test_the_runs_equal_those_of_the_matrix(script):
    before = json.loads((script.store.path / "study.json").read_text())
    script.try_all()
    again = Store.open(script.store.path)
    assert again.missing() == []
    assert len(again.plan.cells) == len(PAUSES_S) + 3
    after = json.loads((script.store.path / "study.json").read_text())
    assert after["cells"][: len(before["cells"])] == before["cells"]
    assert {key: after[key] for key in after if key != "cells"} == {
        key: before[key] for key in before if key != "cells"
    }


def test_a_resumed_study_gives_the_same_result(script):
    first = script.try_all().to_json()
    script.said.clear()
    assert script.try_all().to_json() == first
    assert script.rounds[2:] == [set()]  # nothing is missing
    assert script.said == []


@pytest.mark.parametrize("most", [0, 7, 30])
def test_an_interruption_in_the_first_round_chooses_no_pairs(script, most):
    script.most = most
    with pytest.raises(WblabError, match="lost"):
        script.try_all()
    assert len(Store.open(script.store.path).plan.cells) == len(PAUSES_S)
    script.most = 1000
    assert script.try_all().choice.name == "short+low"


@pytest.mark.parametrize("most", [0, 1, 14])
def test_an_interruption_in_the_second_round_resumes_with_the_same_pairs(script, most):
    run = script.run

    def interrupted(store, wanted):
        if wanted is not None:
            script.most = most
        return run(store, wanted)

    with pytest.raises(WblabError, match="lost"):
        script.try_all(interrupted)
    script.most = 1000
    script.pauses_s |= {"wbt": 0.4}  # a new choice would be different
    found = script.try_all()
    assert {name for name in names(found) if "+" in name} == {"short+low", "short+own", "low+own"}
    assert all(len(row.outcomes) == len(SEEDS) for row in found.others)


def test_pairs_count_as_comparisons(script):
    found = script.try_all()
    now = found.now.outcomes
    outcomes = {row.name: row.outcomes for row in found.others}
    first = {name: each for name, each in outcomes.items() if "+" not in name}
    assert list(found.others) == figures(now, outcomes)
    alone = {row.name: row for row in figures(now, first)}
    assert all(row.wait_time_s != alone[row.name].wait_time_s for row in found.others if row.name in first)


def test_a_failed_remedy_is_neither_combined_nor_repeated(script):
    script.failing = {"short"}
    found = script.try_all()
    assert script.rounds[1] == {"shorter+low", "shorter+own", "low+own"}
    assert "short" not in names(found)
    assert "failed: remedy short, seed 1: the guest died" in script.said


def test_without_a_run_of_the_unchanged_machine_the_reason_is_given(script):
    script.failing = {"now"}
    with pytest.raises(WblabError, match="no run with the current settings"):
        script.try_all()
    assert "failed: remedy now, seed 1: the guest died" in script.said


@pytest.mark.parametrize(
    "pauses_s",
    [
        dict.fromkeys(PAUSES_S, 5.0),  # no remedy helps
        dict.fromkeys(PAUSES_S, 5.0) | {"short": 1.0, "shorter": 1.0},  # the helpful remedies have the same setting
        PAUSES_S | {"now": 0.1},  # no load is stalled
    ],
)
def test_with_fewer_than_two_useful_remedies_there_is_no_second_round(script, pauses_s):
    script.pauses_s = pauses_s
    found = script.try_all()
    assert len(script.rounds) == 1
    assert not any("+" in name for name in names(found))


def test_an_untried_pair_is_not_applied(script):
    script.try_all()
    advice = advice_in(Store.open(script.store.path))
    assert advice.candidate("low+own").wanted
    with pytest.raises(InputError, match=r"no remedy 'short\+wbt' was tried"):
        advice.candidate("short+wbt")


def test_possible_pairs():
    of = {option.of for option in planned().pairs}
    assert ("short", "shorter") not in of  # they share a setting
    assert ("bfq", "wbt") not in of  # bfq disables wbt
    assert {("short", "low"), ("low", "own"), ("bfq", "own")} <= of
    pairs = plan(
        MACHINE,
        SITE,
        parse_remedies({"a": {"about": "", "own_limit": "2s"}, "b": {"about": "", "dirty": "500ms"}}, {}),
        SEEDS,
    ).pairs
    assert pairs == ()


def test_a_pair_given_by_the_user_is_not_tried_twice():
    both = planned(**{"low+short": {"together": ["low", "short"]}})
    assert "low+short" in {item.name for item in both.candidates}
    assert ("short", "low") not in {option.of for option in both.pairs}
    other = planned(**{"short+low": {"nr_requests": 7}})
    assert ("short", "low") not in {option.of for option in other.pairs}  # its name is taken


def test_at_most_the_three_best_are_combined():
    made = planned()
    candidates = {item.name: item for item in made.candidates}

    def chosen(*helping):
        return {option.candidate.name for option in pairs_of_best([candidates[name] for name in helping], made.pairs)}

    assert chosen("short", "low", "own", "wbt") == {"short+low", "short+own", "low+own"}
    assert chosen("own", "shorter", "short", "wbt") == {"shorter+own", "shorter+wbt", "own+wbt"}
    assert chosen("short", "shorter") == chosen("short") == chosen() == set()
    assert chosen("short", "bfq", "low") == {"short+low"}  # a new scheduler has its own queue depth
    assert chosen("bfq", "wbt", "low") == {"low+bfq", "low+wbt"}


def test_pairs_with_limits_of_a_few_pages_are_left_out():
    pages = planned(low={"dirty": "200ms"}, own={"own_limit": "1% of the limit"})
    assert {"low", "own"} <= {item.name for item in pages.candidates}
    assert ("low", "own") not in {option.of for option in pages.pairs}
    assert ("short", "own") in {option.of for option in pages.pairs}
