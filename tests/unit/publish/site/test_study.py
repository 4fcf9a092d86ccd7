"""A study of which only rows were kept has the same pages, without pictures; a large one is bounded."""

from dataclasses import replace

import pytest

from wblab.lab.progress import silent
from wblab.publish.site.studypages import Most, Study, study_files
from wblab.study.cells import run_name
from wblab.study.designs.audit.report import read_record
from wblab.study.rowfile import RunRow
from wblab.study.store import Store

MADE_WITH = {"kernel builds": "b" * 64, "processors": "some"}


@pytest.fixture
def rows(study, tmp_path):
    """A study that has rows in place of run directories."""
    plan = replace(study.plan, keep="digests", name="rows")
    (tmp_path / "rows").mkdir()
    store = Store.begin(tmp_path / "rows", plan, study.kernels)
    for cell, seed in plan.runs():
        metrics = [("w1", "write", "longest_pause_s", seed / 2), ("l1", "load", "longest_pause_s", 9.0)]
        store.rows.add(RunRow(cell.name, seed, f"{seed:064}", "b" * 64, "some", MADE_WITH, 1.0, metrics))
    return Store.open(store.path)


def found(store, pages=2, **most):
    files = study_files(Study(store, "studies/x"), pages, silent, Most(**most))
    return {file.address: file.content.decode() for file in files}


def test_rows_stand_for_runs(rows, tmp_path):
    made = found(rows)
    cell = made["studies/x/0-cell/index.html"]
    assert "Seed 2: 1 s</h3>" in cell
    assert f"{2:064}" in cell
    assert "timeline and causes" not in cell
    (tmp_path / "repeat.json").write_text(made["studies/x/0-cell/seed-2/repeat.json"])
    record = read_record(tmp_path / "repeat.json")
    assert (record.spec.seed, record.digest, record.made_with) == (2, f"{2:064}", MADE_WITH)


def test_a_large_study_has_files_for_the_first_seeds_only(rows):
    made = found(rows, pages=0, cells=1, records=2)
    files = [address for address in made if address.endswith("repeat.json")]
    assert files == ["studies/x/0-cell/seed-1/repeat.json", "studies/x/1-cell/seed-1/repeat.json"]
    assert made["studies/x/0-cell/index.html"].count("data-line") == 1
    assert "0-cell" in made["studies/x/index.html"]
    assert "1-cell/index.html" in made["studies/x/cells-2.html"]
    assert "1-cell/index.html" not in made["studies/x/index.html"]


def test_a_study_without_runs_says_so(study, tmp_path):
    (tmp_path / "none").mkdir()
    store = Store.begin(tmp_path / "none", study.plan, study.kernels)
    made = found(store)
    assert "No run of this cell succeeded." in made["studies/x/0-cell/index.html"]
    assert "2 cells, 0 of up to 4 runs." in made["studies/x/index.html"]
    assert str(tmp_path) not in made["studies/x/index.html"]
    assert run_name(study.plan.cells[0], 1) not in made
