import os
from dataclasses import replace

import pytest

from wblab.core.errors import InputError, WblabError
from wblab.core.tables import to_table
from wblab.host.run import Finished
from wblab.kernels import Kernel
from wblab.matrix import work

BUILD = "a" * 64


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    built = Kernel(tmp_path / "linux", None, "7.3", "7.3.0", "", ("x.patch",), BUILD, "a source", "gcc")
    found = {None: built, "7.3": built}
    monkeypatch.setattr("wblab.kernels.wanted.find_kernel", found.get)
    monkeypatch.setattr(work, "check_run", lambda spec: None)
    work.same_kernel.cache_clear()
    yield built
    work.same_kernel.cache_clear()


@pytest.fixture
def order(make_matrix):
    (cell,) = make_matrix().cells
    return work.Order(to_table(cell.with_seed(5)), BUILD, work.own_program())


def pretend(monkeypatch, run):
    monkeypatch.setattr(work, "run_experiment", run)


def test_a_run_comes_back_as_an_archive_and_leaves_nothing(tmp_path, kernel, order, monkeypatch):
    def run(spec, given, place, *, report):
        assert (spec.seed, given) == (5, kernel)
        report(None, "on the way")
        (place / "x").mkdir()
        (place / "x" / "experiment.json").write_text("{}")
        return Finished(place / "x", {})

    pretend(monkeypatch, run)
    room = tmp_path / "room"
    room.mkdir()
    result = work.run_in(room, order)
    assert result.failure == ""
    assert b"experiment.json" in result.archive
    assert os.listdir(room) == []


def test_a_failed_run_comes_back_with_its_reason(tmp_path, kernel, order, monkeypatch):
    def run(spec, given, place, *, report):
        staged = place / "_x"
        staged.mkdir()
        (staged / "console.log").write_text("last words")
        raise WblabError(f"it broke (see {staged})")

    pretend(monkeypatch, run)
    result = work.run_in(tmp_path, order)
    assert result.failure == "it broke"
    assert b"last words" in result.archive


def test_a_run_that_is_cancelled_ends_at_its_next_word(tmp_path, kernel, order, monkeypatch):
    def run(spec, given, place, *, report):
        report(0.5, "on the way")
        pytest.fail("it went on")

    pretend(monkeypatch, run)
    assert work.run_in(tmp_path, order, lambda: True) == work.Result(b"", "cancelled")


def test_a_run_in_real_time_waits_until_it_is_alone(tmp_path, kernel, make_matrix, monkeypatch):
    pretend(monkeypatch, lambda *arguments, **keys: pytest.fail("it ran beside another"))
    (cell,) = make_matrix({"clock.mode": ["real"]}).cells
    order = work.Order(to_table(cell.with_seed(5)), BUILD, work.own_program())
    monkeypatch.setenv("WBLAB_SHM", str(tmp_path))
    with work.turn("virtual", lambda: None):
        assert work.run_in(tmp_path, order, lambda: True) == work.Result(b"", "cancelled")


def test_another_build_of_the_kernel_is_refused(tmp_path, kernel, order, monkeypatch):
    pretend(monkeypatch, lambda *arguments, **keys: pytest.fail("it ran"))
    other = replace(order, build_id="b" * 64)
    assert "another build here (aaaaaaaaaaaa) than the caller's (bbbbbbbbbbbb)" in work.run_in(tmp_path, other).failure
    assert "another build" in work.why_not([order, other])
    assert work.why_not([order]) == ""


def test_another_version_of_the_lab_is_refused(tmp_path, kernel, order, monkeypatch):
    pretend(monkeypatch, lambda *arguments, **keys: pytest.fail("it ran"))
    other = replace(order, program="c" * 64)
    assert "another than the caller's: install the same version" in work.run_in(tmp_path, other).failure
    assert "another than the caller's" in work.why_not([order, other])


def test_a_kernel_that_is_not_built_is_named_with_the_next_step(kernel):
    with pytest.raises(InputError, match=r"the kernel 6\.1 is not built yet: run 'wblab kernel build 6\.1'"):
        work.built_kernel("6.1")
