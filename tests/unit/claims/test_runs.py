"""Which runs are made, and whose samples they are: nothing is booted. How they end: tests/unit/host/test_jobs.py."""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from wblab.claims import runs
from wblab.claims.base import REPRODUCED, UNTESTED, Claim, Verdict, untested
from wblab.claims.cases import CASES, case_spec
from wblab.claims.chopper_cases import CHOPPER_CASES
from wblab.core.check import check_spec
from wblab.core.errors import InputError
from wblab.host.run import RunFailedError
from wblab.kernels import Kernel

BY_HOSTS_CLOCK = {"sync-real", "all-4k", "all-1m", "all-1m-sized", "block-1m"}


@pytest.fixture
def shelf(tmp_path):
    """A shelf with one kernel, which has the events of all cases."""
    parts = {part for name in CASES for event in case_spec(name, 1).trace.events for part in event.split(":")}
    path = tmp_path / "linux"
    path.write_text("\0".join(["", *parts, ""]))
    return {"": Kernel(path, None, "7.3", "7.3.0", "", ("a.patch",), "f00", "source", "gcc")}.__getitem__


@pytest.mark.parametrize("name", CASES)
def test_cases_are_specs_that_can_run(name):
    spec = case_spec(name, 3, "6.12")
    check_spec(spec)
    clock = "real" if name in BY_HOSTS_CLOCK else "virtual"
    assert (spec.name, spec.seed, spec.kernel, spec.clock.mode) == (name, 3, "6.12", clock)
    assert bool(spec.trace.events) is (name not in CHOPPER_CASES)  # whose claims look at places alone


def test_openat_is_asked_for_where_a_claim_looks_at_it():
    asked = {name for name in CASES if "syscalls:sys_enter_openat" in case_spec(name, 1).trace.events}
    assert asked == {"ext2", "ext4", "device"}


def test_a_case_that_takes_long_has_fewer_seeds_and_comes_first(shelf, monkeypatch):
    monkeypatch.setattr("wblab.host.request.check_run", lambda spec: None)
    wanted = runs.jobs(["ext2", "sync"], 5, shelf)
    assert [name for name, _ in wanted] == ["sync"] * 3 + ["ext2"] * 5
    assert [request.spec.seed for name, request in wanted if name == "ext2"] == [1, 2, 3, 4, 5]


def test_runs_in_real_time_come_last(shelf, monkeypatch):
    monkeypatch.setattr("wblab.host.request.check_kernel", lambda spec, kernel: None)  # the model of a device
    monkeypatch.setattr("wblab.host.request.check_run", lambda spec: None)
    assert [name for name, _ in runs.jobs(["sync-real", "ext2"], 1, shelf)] == ["ext2", "sync-real"]


@dataclass(frozen=True)
class FakeRun:
    """A run: its directory is called as its case and seed."""

    path: Path
    failure: str = ""


@pytest.fixture
def _nothing_boots(monkeypatch):
    def run(request, results):
        return type("Finished", (), {"directory": results / f"{request.spec.name}-{request.spec.seed}"})

    monkeypatch.setattr(runs, "run_experiment", run)
    monkeypatch.setattr(runs, "read_run", FakeRun)
    monkeypatch.setattr("wblab.host.request.check_run", lambda spec: None)


def names_of(samples):
    return {case: [sample.run.path.name for sample in some] for case, some in samples.items()}


def claim(name, *cases):
    """Return a claim whose verdict says on which runs it was judged, and by which process."""
    return Claim(name, name, "here", cases, lambda samples: Verdict(REPRODUCED, repr((names_of(samples), os.getpid()))))


@pytest.mark.usefixtures("_nothing_boots")
def test_claims_are_judged_elsewhere_on_all_runs_of_their_cases(shelf):
    claims = [claim("both", "ext4", "ext2"), claim("none"), claim("one", "ext2"), claim("two", "ext2")]
    claims[1] = Claim("none", "", "", (), untested("nobody can"))
    found = runs.examine(claims, runs.jobs(["ext4", "ext2"], 3, shelf), Path("x"), 2)
    assert [each.name for each, _ in found.verdicts] == ["both", "none", "one", "two"]
    verdicts = {each.name: verdict for each, verdict in found.verdicts}
    assert verdicts.pop("none").why == "nobody can"
    told = {name: eval(verdict.why) for name, verdict in verdicts.items()}
    ext2, ext4 = ([f"{case}-{seed}" for seed in (1, 2, 3)] for case in ("ext2", "ext4"))
    assert {name: seen for name, (seen, _) in told.items()} == {
        "both": {"ext4": ext4, "ext2": ext2},
        "one": {"ext2": ext2},
        "two": {"ext2": ext2},
    }
    assert os.getpid() not in {pid for _, pid in told.values()}
    assert names_of(found.samples) == {"ext2": ext2, "ext4": ext4}
    assert list(found.samples) == ["ext2", "ext4"]


@pytest.mark.usefixtures("_nothing_boots")
def test_nothing_to_run(shelf):
    found = runs.examine([Claim("none", "", "", (), untested("nobody can"))], [], Path("x"), 2)
    assert [verdict.why for _, verdict in found.verdicts] == ["nobody can"]
    assert (found.samples, found.shown) == ({}, {})


@pytest.mark.usefixtures("_nothing_boots")
def test_the_first_run_of_each_case_is_drawn_by_who_made_it(shelf):
    def draw(case, sample):
        return [(case, sample.run.path.name, os.getpid())]

    found = runs.examine([claim("x", "ext2")], runs.jobs(["ext2", "sync"], 3, shelf), Path("x"), 2, draw)
    assert {case: [name for _, name, _ in shown] for case, shown in found.shown.items()} == {
        "ext2": ["ext2-1"],
        "sync": ["sync-1"],
    }
    assert os.getpid() not in {pid for shown in found.shown.values() for *_, pid in shown}


@pytest.mark.usefixtures("_nothing_boots")
def test_a_claim_that_cannot_be_judged_is_the_users_to_hear_of(shelf):
    def check(samples):
        raise InputError("its trace is damaged")

    with pytest.raises(InputError, match="damaged"):
        runs.examine([Claim("x", "", "", ("ext2",), check)], runs.jobs(["ext2"], 2, shelf), Path("x"), 2)


@pytest.fixture
def _fails(_nothing_boots, monkeypatch, request):
    """Let all runs fail with this reason."""

    def run(wanted, results):
        raise RunFailedError(request.param, results / f"{wanted.spec.name}-{wanted.spec.seed}")

    monkeypatch.setattr(runs, "run_experiment", run)
    monkeypatch.setattr(runs, "read_run", lambda path: FakeRun(path, request.param))
    monkeypatch.setattr("wblab.host.request.check_kernel", lambda spec, kernel: None)  # the model of a device


LOST = "the trace lost 12 events: raise trace.buffer or trace fewer events"


@pytest.mark.usefixtures("_fails")
@pytest.mark.parametrize("_fails", [LOST], indirect=True)
def test_a_case_that_may_lose_events_is_looked_at_all_the_same(shelf):
    found = runs.examine([], runs.jobs(["all-4k"], 2, shelf), Path("x"), 2)
    assert names_of(found.samples) == {"all-4k": ["all-4k-1", "all-4k-2"]}
    with pytest.raises(RunFailedError, match="lost 12 events"):
        runs.examine([], runs.jobs(["ext4"], 1, shelf), Path("x"), 1)


@pytest.mark.usefixtures("_fails")
@pytest.mark.parametrize("_fails", ["the kernel panicked"], indirect=True)
def test_such_a_case_may_not_fail_otherwise(shelf):
    with pytest.raises(RunFailedError, match="panicked"):
        runs.examine([], runs.jobs(["all-4k"], 1, shelf), Path("x"), 1)


@pytest.mark.usefixtures("_nothing_boots")
def test_where_cases_may_be_impossible_each_claim_says_what_it_lacks(shelf, monkeypatch):
    def run(request, results):
        if request.spec.name == "sync" and request.spec.seed == 2:
            raise RunFailedError("it hung")
        return type("Finished", (), {"directory": results / f"{request.spec.name}-{request.spec.seed}"})

    def check(samples):
        raise KeyError("jbd2")

    monkeypatch.setattr(runs, "run_experiment", run)
    claims = [
        claim("good", "ext2"),
        claim("hung", "ext2", "sync"),
        claim("never", "mapped", "ext2"),
        Claim("odd", "", "", ("ext2",), check),
        Claim("none", "", "", (), untested("nobody can")),
    ]
    wanted = runs.jobs(["ext2", "sync"], 2, shelf)
    found = runs.examine(claims, wanted, Path("x"), 2, impossible={"mapped": "no room"})
    told = {each.name: (verdict.outcome, verdict.why) for each, verdict in found.verdicts}
    assert told.pop("good")[0] == REPRODUCED
    assert told == {
        "hung": (UNTESTED, "a run of the case sync failed: it hung"),
        "never": (UNTESTED, "no room"),
        "odd": (UNTESTED, "its check finds nothing to look at here (KeyError: 'jbd2')"),
        "none": (UNTESTED, "nobody can"),
    }
    assert names_of(found.samples) == {"ext2": ["ext2-1", "ext2-2"], "sync": ["sync-1"]}
    with pytest.raises(RunFailedError, match="hung"):
        runs.examine(claims[1:2], wanted, Path("x"), 2)
