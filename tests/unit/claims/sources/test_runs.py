"""The runs that claims need, and the samples on which claims are judged. Nothing is booted."""

import os
from types import SimpleNamespace

import pytest
from support.runs import write_run_of

from wblab.analysis.statistics.decision import NOT_TESTABLE, REPRODUCED
from wblab.claims.sources.cases import CASES, case_spec
from wblab.claims.sources.chopper.claims import CHOPPER_CASES
from wblab.claims.sources.claim import Claim, untested
from wblab.claims.verify import runs
from wblab.core.check import check_spec
from wblab.core.errors import InputError
from wblab.lab.progress import silent
from wblab.study.cluster import forked
from wblab.study.following import UnforeseenError
from wblab.study.plan import Plan
from wblab.study.run import run_missing
from wblab.study.statement import Verdict
from wblab.study.store import Store
from wblab.study.work import WorkResult

BY_HOSTS_CLOCK = {"sync-real", "all-4k", "all-1m", "all-1m-sized", "block-1m", "readers", "readers-old"}
UNTRACED = {*CHOPPER_CASES, "readers", "readers-old"}  # claims look only at places on the disk, or at times


@pytest.mark.parametrize("name", CASES)
def test_cases_are_valid_specs(name):
    spec = case_spec(name, 3, "6.12")
    check_spec(spec)
    clock = "real" if name in BY_HOSTS_CLOCK else "virtual"
    kernel = f"6.12{CASES[name].kernel}"
    assert (spec.name, spec.seed, spec.kernel.build, spec.clock.mode) == (name, 3, kernel, clock)
    assert bool(spec.trace.events) is (name not in UNTRACED)


def test_openat_is_traced_if_a_claim_needs_it():
    asked = {name for name in CASES if "syscalls:sys_enter_openat" in case_spec(name, 1).trace.events}
    assert asked == {"ext2", "ext4", "device"}


def test_long_cases_come_first():
    claims = [claim("x", "ext2", "sync")]
    plan = runs.plan_of("v", {case: case_spec(case, 1) for case in runs.cases_of(claims)}, 5, {})
    made = [(cell.name, seed) for cell, seed in plan.runs()]
    assert made[:2] == [("sync", 1), ("ext2", 1)]
    assert [seed for name, seed in made if name == "sync"] == [1, 2, 3, 4, 5]
    assert Plan.from_json(plan.to_json()) == plan


@pytest.fixture
def examine(tmp_path):
    """Return a function that examines claims on runs without measurements. failures: reasons by run."""

    def run(claims, cases, seeds, failures=None, **keys):
        specs = {case: case_spec(case, 1) for case in cases}
        store = Store.create(tmp_path, runs.plan_of("v", specs, seeds, {}), {"": {"build_id": "b"}})

        def make(room, order):
            spec = order.unpacked()
            if reason := (failures or {}).get(spec.name):
                return WorkResult(failure=reason)
            return WorkResult(quiet_run(spec, room / spec.name), rows=[])

        return examined(claims, store, make, **keys)

    return run


def quiet_run(spec, directory):
    """Write a run in which each load made one cycle."""
    return write_run_of(spec, directory, {name: [0, 1] for name in spec.load})


def examined(claims, store, make, draw=None, impossible=None):
    """Make the missing runs with this function, and examine claims on all, in workers."""
    examination = runs.Examination(claims, store, draw, impossible)
    with store.held(), forked(2, store.room(), (), examination, make) as workers:
        return examination.found(run_missing(store, workers, silent, following=examination))


def names_of(samples):
    return {case: [sample.run.path.name for sample in some] for case, some in samples.items()}


def claim(name, *cases):
    """Return a claim whose verdict names the runs and the process that judged it."""
    return Claim(name, name, "here", cases, lambda samples: Verdict(REPRODUCED, repr((names_of(samples), os.getpid()))))


def test_claims_are_checked_in_workers_on_all_runs_of_their_cases(examine):
    claims = [claim("both", "ext4", "ext2"), claim("none"), claim("one", "ext2"), claim("two", "ext2")]
    claims[1] = Claim("none", "", "", (), untested("nobody can"))
    found = examine(claims, ["ext4", "ext2"], 3)
    assert [each.name for each, _ in found.verdicts] == ["both", "none", "one", "two"]
    verdicts = {each.name: verdict for each, verdict in found.verdicts}
    assert verdicts.pop("none").why == "nobody can"
    judged = {name: eval(verdict.why) for name, verdict in verdicts.items()}
    ext2, ext4 = ([f"{case}-s{seed}" for seed in (1, 2, 3)] for case in ("ext2", "ext4"))
    assert {name: seen for name, (seen, _) in judged.items()} == {
        "both": {"ext4": ext4, "ext2": ext2},
        "one": {"ext2": ext2},
        "two": {"ext2": ext2},
    }
    assert os.getpid() not in {pid for _, pid in judged.values()}
    assert names_of(found.samples) == {"ext2": ext2, "ext4": ext4}
    assert list(found.samples) == ["ext2", "ext4"]


def test_claims_without_runs_need_no_workers():
    found = runs.examine([Claim("none", "", "", (), untested("nobody can"))], None, 2)
    assert [verdict.why for _, verdict in found.verdicts] == ["nobody can"]
    assert (found.samples, found.shown) == ({}, {})


def test_the_first_run_of_each_case_is_drawn_in_a_worker(examine):
    def draw(case, sample):
        return [(case, sample.run.path.name, os.getpid())]

    found = examine([claim("x", "ext2")], ["ext2", "sync"], 3, draw=draw)
    assert {case: [name for _, name, _ in shown] for case, shown in found.shown.items()} == {
        "ext2": ["ext2-s1"],
        "sync": ["sync-s1"],
    }
    assert os.getpid() not in {pid for shown in found.shown.values() for *_, pid in shown}


def test_a_claim_that_cannot_be_checked_is_reported(examine):
    def check(samples):
        raise InputError("its trace is damaged")

    with pytest.raises(InputError, match="damaged"):
        examine([Claim("x", "", "", ("ext2",), check)], ["ext2"], 2)


def test_an_exception_in_a_check_keeps_its_traceback(examine):
    def check(samples):
        raise KeyError("jbd2")

    with pytest.raises(UnforeseenError, match=r"in check(.|\n)*jbd2"):
        examine([Claim("x", "", "", ("ext2",), check)], ["ext2"], 2)


def test_a_claim_on_a_failed_run_is_not_testable(examine):
    claims = [claim("good", "ext2"), claim("hung", "ext2", "sync")]
    found = examine(claims, ["ext2", "sync"], 2, {"sync-s2": "it hung"})
    verdicts = {each.name: (verdict.outcome, verdict.why) for each, verdict in found.verdicts}
    assert verdicts["good"][0] == REPRODUCED
    assert verdicts["hung"] == (NOT_TESTABLE, "a run of the case sync failed: it hung")
    assert [str(attempt) for attempt, _ in found.tally.failures] == ["case sync, seed 2"]
    assert names_of(found.samples) == {"ext2": ["ext2-s1", "ext2-s2"], "sync": ["sync-s1"]}


def test_if_cases_may_be_impossible_each_claim_names_what_it_lacks(examine):
    def check(samples):
        raise KeyError("jbd2")

    claims = [
        claim("good", "ext2"),
        claim("never", "mapped", "ext2"),
        Claim("odd", "", "", ("ext2",), check),
        Claim("none", "", "", (), untested("nobody can")),
    ]
    found = examine(claims, ["ext2"], 2, impossible={"mapped": "no room"})
    verdicts = {each.name: (verdict.outcome, verdict.why) for each, verdict in found.verdicts}
    assert verdicts.pop("good")[0] == REPRODUCED
    assert verdicts == {
        "never": (NOT_TESTABLE, "no room"),
        "odd": (NOT_TESTABLE, "its check found no data in these runs (KeyError: 'jbd2')"),
        "none": (NOT_TESTABLE, "nobody can"),
    }


def test_a_case_that_cannot_run_leaves_the_others():
    def ready(spec, resolve):
        if any(disk.model in absent for disk in spec.disk.values()):
            raise InputError("no such disk")

    absent = {"raid1"}
    claims = [claim("m", "mirror"), claim("l", "linear", "ext4")]
    specs, impossible = runs.possible(claims, "", None, ready)
    assert list(specs) == ["linear", "ext4"]
    assert impossible == {"mirror": "the case mirror cannot run here: no such disk"}
    plan = runs.plan_of("v", specs, 2, {})
    runs.check_plan(plan, claims, impossible)
    with pytest.raises(InputError, match="do not match its claims"):
        runs.check_plan(plan, claims)
    assert runs.possible([], "", None) == ({}, {})
    with pytest.raises(runs.NoCaseError, match="the case mirror cannot run here: no such disk"):
        runs.possible(claims[:1], "", None, ready)


def test_a_case_may_need_a_kernel_of_its_own():
    def fine(spec, resolve):
        """Check nothing of this machine."""

    claims = [claim("x", "mirror", "mirror-locks", "readers-old")]
    for name in ("", "7.2"):
        specs, impossible = runs.possible(claims, name, lambda name: SimpleNamespace(series="7.2"), fine)
        kernels = [spec.kernel.build for spec in specs.values()]
        assert (kernels, impossible) == ([name, "7.2+lock-stat", "7.2+smp+resync-lock@2"], {})
    specs, impossible = runs.possible(claims, "stock:7.2@4", None, fine)
    assert list(specs) == ["mirror"]
    assert impossible["mirror-locks"] == (
        "the case mirror-locks cannot run here: it needs a kernel of the lab with +lock-stat, such as 7.2+lock-stat, "
        "and stock:7.2@4 takes no variants"
    )


def test_existing_runs_are_checked_and_not_repeated(tmp_path):
    spec = case_spec("ext2", 1)
    store = Store.create(tmp_path, runs.plan_of("v", {"ext2": spec}, 2, {}), {"": {"build_id": "b"}})
    for seed in (1, 2):
        quiet_run(spec, store.runs / f"ext2-s{seed}")
    found = examined([claim("x", "ext2")], store, lambda room, order: WorkResult(failure="none is to be run"))
    assert [eval(verdict.why)[0] for _, verdict in found.verdicts] == [{"ext2": ["ext2-s1", "ext2-s2"]}]
    assert found.tally.total == 0
