"""Which runs are made, and that they end together: nothing is booted."""

import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from wblab.claims import runs
from wblab.claims.cases import CASES, case_spec
from wblab.core.check import check_spec
from wblab.core.errors import WblabError
from wblab.host import pool
from wblab.kernels import Kernel
from wblab.lab.progress import silent


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
    assert (spec.name, spec.seed, spec.kernel, spec.clock.mode) == (name, 3, "6.12", "virtual")
    assert "writeback:balance_dirty_pages" in spec.trace.events


def test_openat_is_asked_for_where_a_claim_looks_at_it():
    asked = {name for name in CASES if "syscalls:sys_enter_openat" in case_spec(name, 1).trace.events}
    assert asked == {"ext2", "ext4", "device"}


def test_a_case_that_takes_long_has_fewer_seeds_and_comes_first(shelf, monkeypatch):
    monkeypatch.setattr("wblab.host.request.check_run", lambda spec: None)
    wanted = runs.jobs(["ext2", "sync"], 5, shelf)
    assert [name for name, _ in wanted] == ["sync"] * 3 + ["ext2"] * 5
    assert [request.spec.seed for name, request in wanted if name == "ext2"] == [1, 2, 3, 4, 5]


@dataclass
class Host:
    """Stands for run_experiment: a run takes some time, and seed `fails` fails."""

    fails: int = 0
    now: int = 0
    most: int = 0
    ended: int = 0
    started: int = 0

    def __post_init__(self):
        self.lock = threading.Lock()

    def run(self, request, results, *, report):
        spec = request.spec
        with self.lock:
            self.now, self.started = self.now + 1, self.started + 1
            self.most = max(self.most, self.now)
        try:
            for _ in range(1 if spec.seed == self.fails else 10):
                time.sleep(0.01)
                report(None, "running")
            if spec.seed == self.fails:
                raise WblabError("it failed")
            self.ended += 1
        finally:
            self.now -= 1
        return type("Finished", (), {"directory": Path(str(spec.seed))})


@pytest.fixture
def host(monkeypatch):
    stand_in = Host()
    monkeypatch.setattr(runs, "run_experiment", stand_in.run)
    monkeypatch.setattr(runs, "read_run", lambda path: path.name)
    monkeypatch.setattr(runs, "sample_of", lambda run: run)
    monkeypatch.setattr("wblab.host.request.check_run", lambda spec: None)
    return stand_in


def test_runs_are_made_side_by_side_and_come_back_in_order(host, shelf):
    said = []
    wanted = runs.jobs(["ext4", "ext2"], 3, shelf)
    made = runs.make(wanted, Path("x"), 2, lambda share, text: said.append(text))
    assert made == {"ext2": ["1", "2", "3"], "ext4": ["1", "2", "3"]}
    assert list(made) == ["ext2", "ext4"]
    assert host.most == 2
    assert said[-1] == "6 of 6 runs"


def test_a_failure_ends_the_others(host, shelf):
    host.fails = 2
    wanted = runs.jobs(["ext2"], 20, shelf)
    with pytest.raises(WblabError, match="it failed"):
        runs.make(wanted, Path("x"), 2, silent)
    assert host.now == 0
    assert host.started < 6


def test_an_interrupt_ends_all(host, shelf, monkeypatch):
    def interrupted(futures, return_when):
        time.sleep(0.03)
        raise KeyboardInterrupt

    monkeypatch.setattr(pool, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        runs.make(runs.jobs(["ext2"], 20, shelf), Path("x"), 2, silent)
    assert (host.now, host.ended) == (0, 0)
    assert host.started == 2


def test_nothing_to_run(host, shelf):
    assert runs.make([], Path("x"), 2, silent) == {}
