"""Which runs the notebooks speak of."""

import json
import sys
from dataclasses import replace

import pytest
from support.runs import MS, write_run_of

from wblab import notebook
from wblab.core.errors import InputError, WblabError
from wblab.core.spec import GuestKernel
from wblab.lab.formats import DESIGN, EXPERIMENT, TABLE
from wblab.lab.named import SPECS
from wblab.lab.specfile import read_spec

TIMES = {"c1": [0, 50 * MS], "mw1": [0, 100 * MS]}


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    monkeypatch.delenv(notebook.RUN_VARIABLE, raising=False)
    monkeypatch.delenv(notebook.RUNS_VARIABLE, raising=False)
    monkeypatch.setattr(notebook, "RESULTS", tmp_path)
    return tmp_path


@pytest.fixture
def made(results, monkeypatch):
    """Return what a notebook asked to be made; a run is, by a program that speaks as the lab does."""
    asked = []

    def make(verb, name):
        asked.append((verb, name))
        return a_run(results / "2026-12-31_23-00-00_made")

    monkeypatch.setattr(notebook, "_made", make)
    return asked


def a_run(path, preset="base", outcome="succeeded", **changed):
    spec = replace(read_spec(SPECS.find(preset)), **changed)
    write_run_of(replace(spec, load={name: spec.load[name] for name in TIMES}), path, TIMES)
    content = json.loads((path / EXPERIMENT).read_text())
    whole = json.loads(json.dumps(content["spec"]))
    (path / EXPERIMENT).write_text(json.dumps({**content, "spec": whole, "outcome": outcome}))
    return path


def test_a_run_of_the_preset_as_it_stands_is_taken_and_no_other(results, made, monkeypatch):
    monkeypatch.setattr(notebook, "changes", lambda spec: ["memory=1GiB"] if spec.memory == 1 << 30 else [])
    plain = a_run(results / "2026-01-01_10-00-00_base")
    a_run(results / "2026-01-02_10-00-00_base", memory=1 << 30)
    a_run(results / "2026-01-03_10-00-00_base", kernel=GuestKernel(name="6.12"))
    a_run(results / "2026-01-04_10-00-00_base", seed=2)
    a_run(results / "2026-01-05_10-00-00_base", outcome="failed")
    a_run(results / "2026-01-06_10-00-00_base-device", preset="base-device")
    assert notebook.run_of("base").path == plain
    assert made == []


def test_where_there_is_none_it_is_made(results, made):
    assert notebook.run_of("base").path.name == "2026-12-31_23-00-00_made"
    assert notebook.matrix_of("blocks").name == "2026-12-31_23-00-00_made"
    assert made == [("run", "base"), ("matrix", "blocks")]


def test_what_is_named_comes_first(results, made, monkeypatch):
    named = a_run(results / "2026-01-02_10-00-00_base", seed=2)
    monkeypatch.setenv(notebook.RUN_VARIABLE, named.name)
    monkeypatch.setenv(notebook.RUNS_VARIABLE, f"{named}:{named.name}")
    assert notebook.run_of("layers").path == named
    assert [run.path.name for run in notebook.runs_of("layers")] == [named.name, named.name]
    assert notebook.groups_of("mitigation") == [str(named), named.name]
    with pytest.raises(InputError, match="is no exploration: 'wblab study writeback' makes one"):
        notebook.exploration_of("writeback")
    assert made == []


def test_a_matrix_and_an_exploration_of_the_name_are_found(results, made):
    for name, file in (("2026-01-01_blocks", TABLE), ("2026-01-02_other", TABLE), ("2026-01-01_writeback", DESIGN)):
        (results / name).mkdir()
        (results / name / file).write_text("")
    assert notebook.matrix_of("blocks").name == "2026-01-01_blocks"
    assert notebook.exploration_of("writeback").name == "2026-01-01_writeback"
    with pytest.raises(InputError, match="'chopper-xfs' was not made here"):
        notebook.exploration_of("chopper-xfs")
    assert made == []


def test_what_cannot_be_made_is_said(results, monkeypatch, capsys):
    with pytest.raises(WblabError, match=r"wblab run no-such failed: .*no-such"):
        notebook._made("run", "no-such")
    assert "no-such" in capsys.readouterr().out
    monkeypatch.setattr(sys, "executable", "/bin/echo")
    assert notebook._made("run", "base").name == results.name  # the last line is the directory
