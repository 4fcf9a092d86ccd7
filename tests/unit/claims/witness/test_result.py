"""Whether substrates agree: what a table of longest pauses means."""

import json
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from support.reports import cells, tables, texts
from support.runs import MS, S, write_run, write_run_of

from wblab.analysis.runs.run import Run, read_run
from wblab.claims.witness.report import Witnessed, answer, report
from wblab.claims.witness.result import (
    BOUND_NS,
    LongestPause,
    Spoiled,
    Witness,
    WitnessedLoad,
    spoiled,
    without_spoiled,
    witness,
)
from wblab.claims.witness.substrates import AXIS, substrate
from wblab.core.spec import Clock
from wblab.lab.formats import NOISY_MARK
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.study.cells import Cell
from wblab.study.plan import Plan
from wblab.study.run import Attempt, Tally
from wblab.study.store import Store


@pytest.fixture
def run(tmp_path):
    """Return a function that writes a run with these longest pauses of its loads, in ms."""
    numbers = count()

    def make(**pauses_ms: int) -> Run:
        times = {name: [0, 50 * MS, (100 + pause) * MS, 3 * S] for name, pause in pauses_ms.items()}
        # The idle time of a cycle is no pause, and the last cycle has none.
        ends = {name: [*each[:-1], each[-2] + 50 * MS] for name, each in times.items()}
        return read_run(write_run(tmp_path / str(next(numbers)), ends))

    return make


@pytest.mark.parametrize(
    ("values_s", "word"),
    [((0.4, 2.0), "stalled"), ((0.1, 0.3), "not stalled"), ((0.1, 0.4), "in some runs"), ((0.31,), "stalled")],
)
def test_a_load_is_stalled_if_it_is_in_all_runs(values_s, word):
    assert LongestPause(values_s).word == word
    assert min(values_s) <= LongestPause(values_s).median_s <= max(values_s)


STALLED, FREE, SOMETIMES = LongestPause((1.0, 2.0)), LongestPause((0.0, 0.1)), LongestPause((0.1, 1.0))


@pytest.mark.parametrize(
    ("figures", "agreement"),
    [
        ((STALLED, STALLED), "agree"),
        ((FREE, FREE, None), "agree"),
        ((STALLED, FREE), "differ"),
        ((STALLED, SOMETIMES, FREE), "differ"),
        ((STALLED, SOMETIMES), "not decided"),
        ((SOMETIMES, SOMETIMES), "not decided"),
        ((STALLED, None), "not decided"),  # one alone agrees with nobody
        ((STALLED,), "not decided"),
        ((None, None), "not decided"),
        ((), "not decided"),
    ],
)
def test_substrates_agree_if_what_is_decided_is_the_same(figures, agreement):
    assert WitnessedLoad("w1", figures).agreement == agreement


def test_runs_become_rows_of_innocent_loads(run):
    found = witness({"7.2": [run(c1=0, w1=2000, l1=0), run(c1=5, w1=900, l1=0)], "stock:7.2": [run(c1=9, w1=0, l1=0)]})
    assert [row.load for row in found.rows] == ["w1"]  # neither the control load nor the offender
    here, there = found.rows[0].figures
    assert here
    assert there
    assert here.values_s == pytest.approx((2.0, 0.9), abs=0.06)
    assert (here.word, there.word, found.rows[0].agreement) == ("stalled", "not stalled", "differ")
    assert [len(each) for each in found.noise_s] == [2, 1]


def test_a_substrate_without_runs_has_no_figures(run):
    found = witness({"7.2": [run(c1=0, w1=2000)], "stock:7.2": []})
    assert found.rows[0].figures[1] is None
    assert found.noise_s[1] == ()
    assert found.rows[0].agreement == "not decided"
    said = json.loads(json.dumps(found.to_json()))
    assert said["loads"]["w1"]["longest_pause_s"]["stock:7.2"] is None
    assert said["control_stall_s"]["stock:7.2"] == []


def test_nothing_at_all_is_no_result():
    found = witness({"7.2": [], "stock:7.2": []})
    assert (found.rows, answer(found)) == ((), "No load can be compared.")


def test_the_answer_names_the_loads():
    rows = (
        WitnessedLoad("a", (STALLED, STALLED)),
        WitnessedLoad("b", (FREE, FREE)),
        WitnessedLoad("c", (STALLED, FREE)),
        WitnessedLoad("d", (SOMETIMES,)),
    )
    assert answer(Witness(("x", "y"), ("7.2", "7.2"), rows, ((), ()))) == (
        "All agree on a (stalled), b (not stalled). They differ on c. Not decided by these seeds: d."
    )


def test_the_report_has_each_load_and_what_was_spoiled_and_how_to_repeat_it():
    once = Spoiled("7.2/real", 1, (0.4,), "x-s1", is_replaced=True)
    thrice = Spoiled("7.2+smp@8", 2, (0.5, 0.6, 0.4), "y-s2", is_replaced=False)
    found = Witness(("7.2",), ("7.2.11",), (WitnessedLoad("a", (STALLED,)), WitnessedLoad("b", (None,))), ((0.01,),))
    made = report(Witnessed(found, [once, thrice], [substrate("7.2")], {}, Path("exp/x"), "wblab study --resume"))
    assert cells(tables(made)[0]) == [
        ["a", "1.50 s (1.00 to 2.00)", "not decided"], ["b", "-", "not decided"], ["(control load)", "10 ms", ""]
    ]  # fmt: skip
    said = texts(made)
    assert "7.2/real, seed 1: 400 ms; repeated" in said
    assert "7.2+smp@8, seed 2: 500 ms, 600 ms, 400 ms; not counted" in said
    assert "Repeat what is not counted when the machine is less busy: wblab study --resume exp/x" in said


SPEC = replace(read_spec(SPECS.find("base")), clock=Clock(mode="real"))
CELL = Cell("0-7.2-smp-4", {AXIS: "7.2+smp@4"}, SPEC)


@pytest.fixture
def store(tmp_path):
    plan = Plan("base", (1, 2), (CELL,), control_bound_ns=BOUND_NS, design="witness")
    return Store.create(tmp_path, plan, {"": {"build_id": "a" * 64}})


def ended(store, seed, stall_ms, *, noisy):
    """Let a run end whose control load was stalled."""
    spec = CELL.with_seed(seed)
    spec = replace(spec, load={"c1": spec.load["c1"]})
    kept = write_run_of(spec, store.runs / ".partial-x", {"c1": [0, 50 * MS, (100 + stall_ms) * MS]})
    if noisy:
        store.name(CELL, seed, kept, NOISY_MARK)
    else:
        store.done(CELL, seed, kept)


def test_what_was_not_spoiled_is_not_named(store):
    ended(store, 1, 200, noisy=False)
    assert spoiled(store) == []


def test_a_spoiled_run_is_repeated_or_does_not_count(store):
    ended(store, 1, 400, noisy=True)
    ended(store, 1, 0, noisy=False)
    for stall_ms in (500, 600, 700):
        ended(store, 2, stall_ms, noisy=True)
    first, second = spoiled(store)
    assert (first.substrate, first.seed, first.is_replaced) == ("7.2+smp@4", 1, True)
    assert first.stalls_s == pytest.approx((0.4,), abs=0.06)
    assert (second.seed, second.is_replaced, len(second.stalls_s)) == (2, False, 3)
    assert second.to_json() == {
        "substrate": "7.2+smp@4",
        "seed": 2,
        "control_stall_s": list(second.stalls_s),
        "repeated": False,
    }


def test_a_spoiled_run_is_no_failure_but_a_failed_one_is(store):
    ended(store, 1, 500, noisy=True)
    failures = [(Attempt(CELL, 1, 3), "noisy 3 times"), (Attempt(CELL, 2), "the guest hangs")]
    assert without_spoiled(Tally(2, failures=failures), spoiled(store)).failures == failures[1:]
