"""Which runs are made, and whose samples they are: nothing is booted. How they end: tests/unit/host/test_pool.py."""

import threading
import time
from pathlib import Path

import pytest

from wblab.claims import runs
from wblab.claims.cases import CASES, case_spec
from wblab.core.check import check_spec
from wblab.host.run import RunFailedError
from wblab.kernels import Kernel
from wblab.lab.progress import silent

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
    assert spec.trace.events


def test_openat_is_asked_for_where_a_claim_looks_at_it():
    asked = {name for name in CASES if "syscalls:sys_enter_openat" in case_spec(name, 1).trace.events}
    assert asked == {"ext2", "ext4", "device"}


def test_a_case_that_takes_long_has_fewer_seeds_and_comes_first(shelf, monkeypatch):
    monkeypatch.setattr("wblab.host.request.check_run", lambda spec: None)
    wanted = runs.jobs(["ext2", "sync"], 5, shelf)
    assert [name for name, _ in wanted] == ["sync"] * 3 + ["ext2"] * 5
    assert [request.spec.seed for name, request in wanted if name == "ext2"] == [1, 2, 3, 4, 5]


@pytest.fixture
def _seeds_for_samples(monkeypatch):
    """Let nothing boot: a run's directory is called as its seed, and so is its sample."""

    def run(request, results, *, report):
        return type("Finished", (), {"directory": Path(str(request.spec.seed))})

    monkeypatch.setattr(runs, "run_experiment", run)
    monkeypatch.setattr(runs, "read_run", lambda path: path.name)
    monkeypatch.setattr(runs, "Sample", lambda run: run)
    monkeypatch.setattr("wblab.host.request.check_run", lambda spec: None)


@pytest.mark.usefixtures("_seeds_for_samples")
def test_samples_come_back_by_case_in_the_cases_order(shelf):
    made = runs.make(runs.jobs(["ext4", "ext2"], 3, shelf), Path("x"), 2, silent)
    assert made == {"ext2": ["1", "2", "3"], "ext4": ["1", "2", "3"]}
    assert list(made) == ["ext2", "ext4"]


@pytest.mark.usefixtures("_seeds_for_samples")
def test_nothing_to_run(shelf):
    assert runs.make([], Path("x"), 2, silent) == {}


@pytest.mark.usefixtures("_seeds_for_samples")
def test_the_first_run_of_each_case_is_drawn_when_it_is_there(shelf):
    drawn, busy = [], threading.Lock()

    def draw(case, sample):
        assert busy.acquire(blocking=False), "two are drawn at a time"
        time.sleep(0.01)
        drawn.append((case, sample))
        busy.release()

    runs.make(runs.jobs(["ext2", "ext4", "ext4-bfq", "sync"], 3, shelf), Path("x"), 4, silent, draw)
    assert sorted(drawn) == [("ext2", "1"), ("ext4", "1"), ("ext4-bfq", "1"), ("sync", "1")]


class Failed(str):
    """A run, called as its seed, that failed."""

    failure = ""


@pytest.fixture
def _fails(_seeds_for_samples, monkeypatch, request):
    """Let all runs fail with this reason."""

    def run(wanted, results, *, report):
        raise RunFailedError(request.param, Path(str(wanted.spec.seed)))

    def read(path):
        found = Failed(path.name)
        found.failure = request.param
        return found

    monkeypatch.setattr(runs, "run_experiment", run)
    monkeypatch.setattr(runs, "read_run", read)
    monkeypatch.setattr("wblab.host.request.check_kernel", lambda spec, kernel: None)  # the model of a device


LOST = "the trace lost 12 events: raise trace.buffer or trace fewer events"


@pytest.mark.usefixtures("_fails")
@pytest.mark.parametrize("_fails", [LOST], indirect=True)
def test_a_case_that_may_lose_events_is_looked_at_all_the_same(shelf):
    assert runs.make(runs.jobs(["all-4k"], 2, shelf), Path("x"), 2, silent) == {"all-4k": ["1", "2"]}
    with pytest.raises(RunFailedError, match="lost 12 events"):
        runs.make(runs.jobs(["ext4"], 1, shelf), Path("x"), 1, silent)


@pytest.mark.usefixtures("_fails")
@pytest.mark.parametrize("_fails", ["the kernel panicked"], indirect=True)
def test_such_a_case_may_not_fail_otherwise(shelf):
    with pytest.raises(RunFailedError, match="panicked"):
        runs.make(runs.jobs(["all-4k"], 1, shelf), Path("x"), 1, silent)
