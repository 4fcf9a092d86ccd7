"""wblab rerun, as it is typed."""

import json

import pytest

from wblab.cli import main

SHORT = ("load.l1.size=30MiB", "load.l2.wait=15s", "load.l2.size=1MiB")


@pytest.fixture(scope="module")
def first(shared_lab):
    return shared_lab.run("base", *SHORT)


@pytest.fixture
def run(first, shared_lab, monkeypatch):
    """Return a run; what the verb makes is made on the tests' kernel."""
    monkeypatch.setattr("wblab.kernels.wanted.find_kernel", lambda name: shared_lab.kernel)
    return first


def verb(run, capsys, *arguments):
    code = main(["rerun", str(run.path), "--exp", str(run.path.parent), *arguments])
    return code, *capsys.readouterr()


def test_a_run_again_is_identical(run, capsys):
    code, output, errors = verb(run, capsys)
    assert code == 0, errors
    assert "identical: every boundary of every load, and every event" in output


def test_fully_traced_runs_are_identical_too(run, capsys):
    code, output, errors = verb(run, capsys, "--explain", "--json")
    assert code == 0, errors
    assert json.loads(output)["differences"] == []


def test_another_seed_differs_and_where_is_said(run, shared_lab, capsys):
    other = shared_lab.run("base", *SHORT, "seed=2")
    code, output, errors = verb(run, capsys, str(other.path))
    assert code == 1
    assert "load w1, boundary 0, at " in output
    assert errors.startswith("wblab: the runs differ, first at 10.0")


def test_explain_and_with_exclude_each_other(run, capsys):
    code, _, errors = verb(run, capsys, "--explain", "latest")
    assert (code, errors.count("\n")) == (2, 1)
