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
def kernel(tmp_path, monkeypatch):
    monkeypatch.setattr("wblab.host.request.check_run", lambda spec: None)
    (tmp_path / "linux").write_text("an executable")
    return Kernel(tmp_path / "linux", None, "7.3", "7.3.0", "", ("x.patch",), BUILD, "a source", "gcc")


@pytest.fixture
def resolve(kernel):
    return {"": kernel}.__getitem__


@pytest.fixture
def order(make_matrix):
    (cell,) = make_matrix().cells
    return work.Order(to_table(cell.with_seed(5)), BUILD, work.own_program())


def pretend(monkeypatch, run):
    monkeypatch.setattr(work, "run_anywhere", run)


def test_a_run_is_returned_as_a_directory_with_its_metrics(tmp_path, pretended, resolve, order, monkeypatch):
    def run(request, room, *, report):
        assert (request.spec.seed, request.kernel.build_id) == (5, BUILD)
        report(None, "on the way")
        return Finished(pretended(room / "x", request.spec), {})

    pretend(monkeypatch, run)
    result = work.run_in(tmp_path, order, resolve=resolve)
    assert (result.left, result.failure) == (tmp_path / "x", "")
    assert result.rows == metric_rows(read_run(tmp_path / "x"))


def test_metrics_that_cannot_be_computed_do_not_fail_a_run(tmp_path, resolve, order, monkeypatch):
    def run(request, room, *, report):
        (room / "x").mkdir()
        return Finished(room / "x", {})

    pretend(monkeypatch, run)
    assert work.run_in(tmp_path, order, resolve=resolve) == work.Result(tmp_path / "x", "", None)


def test_a_failed_run_is_returned_with_its_reason(tmp_path, resolve, order, monkeypatch):
    def run(request, room, *, report):
        staged = room / "_x"
        staged.mkdir()
        raise RunFailedError(f"it broke (see {staged})", staged)

    pretend(monkeypatch, run)
    assert work.run_in(tmp_path, order, resolve=resolve) == work.Result(tmp_path / "_x", "it broke")


def test_a_dask_worker_sends_an_archive_and_keeps_nothing(tmp_path, pretended, kernel, order, monkeypatch):
    def run(request, room, *, report):
        report(None, "on the way")
        return Finished(pretended(room / "x", request.spec), {})

    pretend(monkeypatch, run)
    monkeypatch.setattr(work, "own_kernel", {"": kernel}.__getitem__)
    task = SimpleNamespace(state="executing")
    worker = SimpleNamespace(
        local_directory=str(tmp_path), get_current_task=lambda: "key", state=SimpleNamespace(tasks={"key": task})
    )
    monkeypatch.setattr("distributed.get_worker", lambda: worker)
    result = work.run(order)
    assert b"experiment.json" in result.left
    assert result.rows
    task.state = "cancelled"
    assert work.run(order) == work.Result(b"", "cancelled")
    assert not list(tmp_path.glob("wblab-*"))


def cancelled(share, text):
    raise WblabError("cancelled")


def test_a_cancelled_run_ends_at_its_next_message(tmp_path, resolve, order, monkeypatch):
    def run(request, room, *, report):
        report(0.5, "on the way")
        pytest.fail("it went on")

    pretend(monkeypatch, run)
    assert work.run_in(tmp_path, order, cancelled, resolve) == work.Result(b"", "cancelled")


def test_a_run_with_the_real_clock_waits_until_it_is_alone(tmp_path, resolve, make_matrix, monkeypatch):
    pretend(monkeypatch, lambda *arguments, **keys: pytest.fail("it ran beside another"))
    (cell,) = make_matrix({"clock.mode": ["real"]}).cells
    order = work.Order(to_table(cell.with_seed(5)), BUILD, work.own_program())
    monkeypatch.setenv("WBLAB_SHM", str(tmp_path))
    with work.machine_lock("virtual", lambda: None):
        assert work.run_in(tmp_path, order, cancelled, resolve) == work.Result(b"", "cancelled")


def test_another_build_of_the_kernel_is_refused(tmp_path, resolve, order, monkeypatch):
    pretend(monkeypatch, lambda *arguments, **keys: pytest.fail("it ran"))
    other = replace(order, build_id="b" * 64)
    assert (
        "another build here (aaaaaaaaaaaa) than the caller's (bbbbbbbbbbbb)"
        in work.run_in(tmp_path, other, resolve=resolve).failure
    )
    assert "another build" in work.why_not([order, other], resolve)
    assert work.why_not([order], resolve) == ""


def test_another_version_of_the_lab_is_refused(tmp_path, resolve, order, monkeypatch):
    pretend(monkeypatch, lambda *arguments, **keys: pytest.fail("it ran"))
    other = replace(order, program="c" * 64)
    assert (
        "differs from the caller's: install the same version" in work.run_in(tmp_path, other, resolve=resolve).failure
    )
    assert "differs from the caller's" in work.why_not([order, other], resolve)
