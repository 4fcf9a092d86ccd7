"""Runs that the machine spoiled are named, repeated and not counted."""

from dataclasses import replace

import pytest
from support.runs import MS, write_run_of

from wblab.core.spec import Clock
from wblab.lab.formats import NOISY_MARK
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.study.cells import Cell
from wblab.study.designs.witness.result import BOUND_NS, spoiled, without_spoiled
from wblab.study.designs.witness.substrates import AXIS
from wblab.study.plan import Plan
from wblab.study.run import Attempt, Tally
from wblab.study.store import Store

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
