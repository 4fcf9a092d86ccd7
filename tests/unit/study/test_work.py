from dataclasses import replace
from types import SimpleNamespace

import pytest

from wblab.analysis.runs.metrics import metric_rows
from wblab.analysis.runs.run import read_run
from wblab.core.errors import WblabError
from wblab.core.tables import to_table
from wblab.host.recorded import Finished, RunFailedError
from wblab.kernels import Kernel
from wblab.study import work

BUILD = "a" * 64


@pytest.fixture
def kernel(tmp_path):
    (tmp_path / "linux").write_text("an executable")
    return Kernel(tmp_path / "linux", None, "7.3", "7.3.0", "", ("x.patch",), BUILD, "a source", "gcc")


@pytest.fixture
def accept(kernel):
    """Return what accepts an order for that kernel, and checks nothing else of this machine."""
    return lambda order: work.accepted(order, {"": kernel}.__getitem__, check=lambda spec: None)


@pytest.fixture
def order(make_matrix):
    (cell,) = make_matrix().cells
    return work.Order(to_table(cell.with_seed(5)), BUILD, work.own_program())


def never(request, room, report):
    pytest.fail("it ran")


def test_a_run_is_returned_as_a_directory_with_its_metrics(tmp_path, pretended, accept, order):
    def run(request, room, report):
        assert (request.spec.seed, request.kernel.build_id) == (5, BUILD)
        report(None, "on the way")
        return Finished(pretended(room / "x", request.spec), {})

    result = work.run_in(tmp_path, order, accept=accept, make=run)
    assert (result.left, result.failure) == (tmp_path / "x", "")
    assert result.rows == metric_rows(read_run(tmp_path / "x"))


def test_metrics_that_cannot_be_computed_do_not_fail_a_run(tmp_path, accept, order):
    def run(request, room, report):
        (room / "x").mkdir()
        return Finished(room / "x", {})

    assert work.run_in(tmp_path, order, accept=accept, make=run) == work.WorkResult(tmp_path / "x", "", None)


def test_a_failed_run_is_returned_with_its_reason(tmp_path, accept, order):
    def run(request, room, report):
        staged = room / "_x"
        staged.mkdir()
        raise RunFailedError(f"it broke (see {staged})", staged)

    assert work.run_in(tmp_path, order, accept=accept, make=run) == work.WorkResult(tmp_path / "_x", "it broke")


def test_a_dask_worker_sends_an_archive_and_keeps_nothing(tmp_path, pretended, accept, order):
    def run(request, room, report):
        report(None, "on the way")
        return Finished(pretended(room / "x", request.spec), {})

    task = SimpleNamespace(state="executing")
    worker = SimpleNamespace(
        local_directory=str(tmp_path), get_current_task=lambda: "key", state=SimpleNamespace(tasks={"key": task})
    )
    result = work.run(order, worker, accept, run)
    assert b"experiment.json" in result.left
    assert result.rows
    task.state = "cancelled"
    assert work.run(order, worker, accept, run) == work.WorkResult(b"", "cancelled")
    assert not list(tmp_path.glob("wblab-*"))


def cancelled(share, text):
    raise WblabError("cancelled")


def test_a_cancelled_run_ends_at_its_next_message(tmp_path, accept, order):
    def run(request, room, report):
        report(0.5, "on the way")
        pytest.fail("it went on")

    assert work.run_in(tmp_path, order, cancelled, accept, run) == work.WorkResult(b"", "cancelled")


def test_a_run_with_the_real_clock_waits_until_it_is_alone(tmp_path, accept, make_matrix, monkeypatch):
    (cell,) = make_matrix({"clock.mode": ["real"]}).cells
    order = work.Order(to_table(cell.with_seed(5)), BUILD, work.own_program())
    monkeypatch.setenv("WBLAB_SHM", str(tmp_path))
    with work.machine_lock("virtual", lambda: None):
        assert work.run_in(tmp_path, order, cancelled, accept, never) == work.WorkResult(b"", "cancelled")


def test_another_build_of_the_kernel_is_refused(tmp_path, accept, order):
    other = replace(order, build_id="b" * 64)
    assert (
        "another build here (aaaaaaaaaaaa) than the caller's (bbbbbbbbbbbb)"
        in work.run_in(tmp_path, other, accept=accept, make=never).failure
    )
    assert "another build" in work.why_not([order, other], accept)
    assert work.why_not([order], accept) == ""


def test_another_version_of_the_lab_is_refused(tmp_path, accept, order):
    other = replace(order, program="c" * 64)
    failure = work.run_in(tmp_path, other, accept=accept, make=never).failure
    assert "differs from the caller's: install the same version" in failure
    assert "differs from the caller's" in work.why_not([order, other], accept)
