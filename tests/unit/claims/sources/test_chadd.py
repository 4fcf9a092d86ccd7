"""Chadd's claims: each check accepts what he observed and rejects the opposite."""

import json
from collections import namedtuple
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from wblab.analysis.runs.run import LoadCycles, Run
from wblab.analysis.statistics.decision import NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED
from wblab.claims.sources import figures
from wblab.claims.sources.cases import CASES, case_spec
from wblab.claims.sources.chadd import claims as chadd
from wblab.claims.sources.chadd.claims import chadd_claims
from wblab.claims.sources.chadd.programs import advice, cancel, later, msync
from wblab.claims.sources.figures import RequestsMoved
from wblab.claims.sources.registry import chosen
from wblab.core.check import check_spec
from wblab.core.errors import InputError

S = 10**9
CLAIMS = {claim.name: claim for claim in chadd_claims()}
SEEDS = 8  # enough seeds to decide a share
Made = namedtuple("Made", "run traced longest_s moved")


@pytest.fixture(autouse=True)
def _requests(monkeypatch):
    for module in (chadd, figures):
        monkeypatch.setattr(module, "moved", lambda sample, way, since_ns=0: sample.moved)


def made(case, pauses_s=(0.0,), *, cycles=400, dropped=0, moved=(0, 0), dirty=50, name="s1"):
    """Return a sample of a case whose load has these pauses from its 10th cycle on, with so much dirty memory."""
    spec = case_spec(case, 1)
    loads = []
    for each, load in spec.load.items():
        lengths = np.full(cycles, max(load.idle_ns(1), S // 1000), np.int64)
        lengths[0] = max(load.idle_ns(0), S // 1000)
        if each == name:
            lengths[10 : 10 + len(pauses_s)] += (np.array(pauses_s) * S).astype(np.int64)
        times = np.concatenate([[0], np.cumsum(lengths)])
        loads.append(LoadCycles(each, load, 9, "stopped", "", times, dropped if each == name else 0))
    run = Run(None, {}, spec, tuple(loads))
    state = namedtuple("State", "ts_ns dirty background")(np.array([0]), np.array([dirty]), np.array([100]))
    return Made(
        run, SimpleNamespace(state=state), lambda load: run.load(load).pauses_ns.max() / S, RequestsMoved(*moved)
    )


def outcome(name, *samples):
    claim = CLAIMS[name]
    return claim.check({case: [sample] * SEEDS for case, sample in zip(claim.cases, samples, strict=True)}).outcome


ONE = {
    "c1-sync": (made("loop-sync", [1]), made("loop-sync")),
    "c2-threads": (made("loop-threads"), made("loop-threads", [1])),
    "c6-log": (made("loop-sync", [1], name="g1"), made("loop-sync", [1], name="g1", dirty=150)),
    "c7-pipe": (made("loop-sendfile", name="g1"), made("loop-sendfile", [1], name="g1")),
    "c7-drops": (made("pipe-small", dropped=3, name="g1"), made("pipe-small", name="g1")),
    "c9-cold": (made("cold-all", moved=(7 * 399, 0)), made("cold-all", moved=(399, 0))),
    "c18-sendfile": (made("loop-sendfile", [0.002] * 390), made("loop-sendfile")),
    "c20-cached": (made("raw"), made("raw", moved=(399, 0))),
    "c20-direct": (made("raw-direct", moved=(3990, 0)), made("raw-direct")),
    "c22-atime": (made("gets", moved=(399, 0)), made("gets")),
    "c27-ram": (made("map-ram"), made("map-ram", [0.01] * 390)),
    "c27-beyond": (made("map-beyond", [0.01] * 390), made("map-beyond")),
}


@pytest.mark.parametrize("name", ONE)
def test_a_claim_on_one_case_is_judged(name):
    yes, no = ONE[name]
    assert (outcome(name, yes), outcome(name, no)) == (REPRODUCED, NOT_REPRODUCED)


def test_a_log_that_never_blocked_its_loop_refutes_the_claim():
    assert outcome("c6-log", made("loop-sync")) == NOT_REPRODUCED


TWO = {
    "c3-aio": [made("aio-one", dropped=300), made("aio-many"), made("aio-many", dropped=300)],
    "c5-close": [made("loop-some", [1]), made("loop-threads"), made("loop-threads", [1])],
    "c10-metadata": [made("cold-data", moved=(399, 0)), *(made("cold-all", moved=(count, 0)) for count in (2793, 399))],
    "c12-requests": [made("put-cyclic", moved=(9, 9)), *(made("put-files", moved=(count, 9)) for count in (90, 9))],
    "c15-merge": [made("mapped-order", moved=(9, 90)), *(made("mapped-random", moved=(9, size)) for size in (9, 90))],
}


@pytest.mark.parametrize("name", TWO)
def test_a_claim_on_two_cases_is_judged(name):
    one, yes, no = TWO[name]
    assert (outcome(name, one, yes), outcome(name, one, no)) == (REPRODUCED, NOT_REPRODUCED)


def test_a_disk_serves_a_seventh_fewer_large_reads():
    def reads(case, pause_s):
        return made(case, [pause_s] * 390, name="r1")

    assert outcome("c8-sizes", reads("reads-64k", 0.0097), reads("reads-512", 0.0082)) == REPRODUCED
    assert outcome("c8-sizes", reads("reads-64k", 0.0082), reads("reads-512", 0.0082)) == NOT_REPRODUCED


def test_each_claim_exists_and_untested_ones_have_a_reason():
    numbers = [int(name.partition("-")[0][1:]) for name in CLAIMS]
    assert (set(numbers), numbers) == (set(range(1, 28)), sorted(numbers))
    for claim in CLAIMS.values():
        if not claim.cases:
            verdict = claim.check({})
            assert verdict.outcome == NOT_TESTABLE
            assert len(verdict.why) > 20


def test_each_case_is_valid():
    for case in {case for claim in CLAIMS.values() for case in claim.cases}:
        spec = case_spec(case, 1)
        check_spec(replace(spec, name="x"))
        assert CASES[case].preset in ("loop", "linear")


def test_claims_have_names_within_their_source():
    assert [claim.name for claim in chosen(["c1-sync"], "chadd")] == ["c1-sync"]
    with pytest.raises(InputError, match="claim 'fills-ext4' belongs to another work: wblab study fills-ext4"):
        chosen(["fills-ext4"], "chadd")


def waits(case, name, pause_s, **more):
    """Return a sample of a case in which each cycle of a load lasts this long."""
    return made(case, [pause_s] * 390, name=name, **more)


THREE = {
    "c13-requests": ("r1", [{"moved": (399, 0)}, {"moved": (3990, 0)}, {"moved": (399, 0)}]),
    "c13-time": ("r1", [0.02, 0.2, 0.02]),
    "c16-size": ("r1", [0.5, 0.5, 0.1]),
    "c16-dirty": ("r1", [0.5, 0.2, 0.5]),
    "c17-random": ("r1", [0.5, 0.8, 0.5]),
    "c17-willneed": ("r1", [0.1, 0.8, 0.1]),
    "c17-sequential": ("r1", [0.1, 0.2, 0.1]),
    "c24-writes": ("l1", [0.02, 0.02, 0.01]),
    "c25-writers": ("mw1", [0.3, 1.6, 0.4]),
    "c25-commits": ("k1", [0.3, 1.6, 0.4]),
}


@pytest.mark.parametrize("name", THREE)
def test_a_claim_compares_the_times_of_two_cases(name):
    load, wanted = THREE[name]
    case, other = CLAIMS[name].cases
    one, yes, no = (
        waits(each, load, 0, **figure) if isinstance(figure, dict) else waits(each, load, figure)
        for each, figure in zip((case, other, other), wanted, strict=True)
    )
    assert (outcome(name, one, yes), outcome(name, one, no)) == (REPRODUCED, NOT_REPRODUCED)


def test_a_mirror_reads_as_fast_as_two_disks():
    def reads(case, idle_s):
        sample = made(case)
        for item in sample.run.loads:
            item.boundaries_ns[:] = np.arange(401) * int(idle_s * S)
        return sample

    assert outcome("c24-reads", reads("reads-mirror", 0.01), reads("reads-one", 0.02)) == REPRODUCED
    assert outcome("c24-reads", reads("reads-mirror", 0.02), reads("reads-one", 0.02)) == NOT_REPRODUCED


@pytest.mark.parametrize("name", ["c21-often", "c21-once"])
def test_a_hot_set_evicted_by_a_scan(name):
    case = CLAIMS[name].cases[0]
    assert outcome(name, waits(case, "h1", 0.01)) == REPRODUCED
    assert outcome(name, waits(case, "h1", 0.0001)) == NOT_REPRODUCED


@pytest.fixture
def left(tmp_path):
    """Return a function that makes a sample of a case with this output of a program."""

    def make(case, name, found):
        sample = made(case)
        (tmp_path / "left").mkdir(exist_ok=True)
        (tmp_path / "left" / name).write_text(json.dumps(found))
        return sample._replace(run=replace(sample.run, path=tmp_path))

    return make


def test_readers_that_saw_later_writes(left):
    sample = left("later", later.RESULT, {"sendfile": True, "mmap": True, "read": False})
    assert (outcome("c19-later", sample), outcome("c19-read", sample)) == (REPRODUCED, REPRODUCED)
    sample = left("later", later.RESULT, {"sendfile": False, "mmap": True, "read": True})
    assert (outcome("c19-later", sample), outcome("c19-read", sample)) == (NOT_REPRODUCED, NOT_REPRODUCED)


def test_cancelled_reads_that_completed(left):
    assert outcome("c23-cancel", left("cancel", cancel.RESULT, {"begun": 8, "aio": 8, "io_uring": 8})) == REPRODUCED
    sample = left("cancel", cancel.RESULT, {"begun": 8, "aio": 8, "io_uring": 1})
    assert outcome("c23-cancel", sample) == NOT_REPRODUCED


def test_the_programs_behave_on_this_machine_as_in_a_guest(tmp_path):
    path = tmp_path / "f1"
    path.write_bytes(bytes(1 << 20))
    msync.main(str(path), 16)
    pages = [path.read_bytes()[page * 65536] for page in range(16)]
    assert pages == list(range(16))
    for order in ("random", "sequential"):
        for given in ("none", "random", "sequential", "willneed"):
            advice.main(str(path), 8, order, given)


def test_read_data_are_stable_and_mapped_data_change(tmp_path):
    seen = later.main(str(tmp_path / "f1"))
    assert (seen["mmap"], seen["read"]) == (True, False)
