import os
from dataclasses import replace

import pytest

from wblab.core.errors import WblabError
from wblab.core.tables import to_table
from wblab.host.run import Finished
from wblab.kernels import Kernel
from wblab.matrix import work

BUILD = "a" * 64


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    monkeypatch.setattr("wblab.host.request.check_run", lambda spec: None)
    (tmp_path / "linux").write_text("an executable")
    return Kernel(tmp_path / "linux", None, "7.3", "7.3.0", "", ("x.patch",), BUILD, "a source", "gcc")


@pytest.fixture
def shelf(kernel):
    return {"": kernel}.__getitem__


@pytest.fixture
def order(make_matrix):
    (cell,) = make_matrix().cells
    return work.Order(to_table(cell.with_seed(5)), BUILD, work.own_program())


def pretend(monkeypatch, run):
    monkeypatch.setattr(work, "run_experiment", run)


def test_a_run_comes_back_as_an_archive_and_leaves_nothing(tmp_path, kernel, shelf, order, monkeypatch):
    def run(request, place, *, report):
        assert (request.spec.seed, request.kernel) == (5, kernel)
        report(None, "on the way")
        (place / "x").mkdir()
        (place / "x" / "experiment.json").write_text("{}")
        return Finished(place / "x", {})

    pretend(monkeypatch, run)
    room = tmp_path / "room"
    room.mkdir()
    result = work.run_in(room, order, shelf=shelf)
    assert result.failure == ""
    assert b"experiment.json" in result.archive
    assert os.listdir(room) == []


def test_a_failed_run_comes_back_with_its_reason(tmp_path, shelf, order, monkeypatch):
    def run(request, place, *, report):
        staged = place / "_x"
        staged.mkdir()
        (staged / "console.log").write_text("last words")
        raise WblabError(f"it broke (see {staged})")

    pretend(monkeypatch, run)
    result = work.run_in(tmp_path, order, shelf=shelf)
    assert result.failure == "it broke"
    assert b"last words" in result.archive


def test_a_run_that_is_cancelled_ends_at_its_next_word(tmp_path, shelf, order, monkeypatch):
    def run(request, place, *, report):
        report(0.5, "on the way")
        pytest.fail("it went on")

    pretend(monkeypatch, run)
    assert work.run_in(tmp_path, order, lambda: True, shelf) == work.Result(b"", "cancelled")


def test_a_run_in_real_time_waits_until_it_is_alone(tmp_path, shelf, make_matrix, monkeypatch):
    pretend(monkeypatch, lambda *arguments, **keys: pytest.fail("it ran beside another"))
    (cell,) = make_matrix({"clock.mode": ["real"]}).cells
    order = work.Order(to_table(cell.with_seed(5)), BUILD, work.own_program())
    monkeypatch.setenv("WBLAB_SHM", str(tmp_path))
    with work.turn("virtual", lambda: None):
        assert work.run_in(tmp_path, order, lambda: True, shelf) == work.Result(b"", "cancelled")


def test_another_build_of_the_kernel_is_refused(tmp_path, shelf, order, monkeypatch):
    pretend(monkeypatch, lambda *arguments, **keys: pytest.fail("it ran"))
    other = replace(order, build_id="b" * 64)
    assert (
        "another build here (aaaaaaaaaaaa) than the caller's (bbbbbbbbbbbb)"
        in work.run_in(tmp_path, other, shelf=shelf).failure
    )
    assert "another build" in work.why_not([order, other], shelf)
    assert work.why_not([order], shelf) == ""


def test_another_version_of_the_lab_is_refused(tmp_path, shelf, order, monkeypatch):
    pretend(monkeypatch, lambda *arguments, **keys: pytest.fail("it ran"))
    other = replace(order, program="c" * 64)
    assert "another than the caller's: install the same version" in work.run_in(tmp_path, other, shelf=shelf).failure
    assert "another than the caller's" in work.why_not([order, other], shelf)
