"""Studies that keep rows in place of run directories."""

import re
import shutil
from dataclasses import replace

import duckdb
import pandas as pd
import pytest

from wblab.analysis.groups.observations import read_table
from wblab.analysis.runs.digest import digest
from wblab.analysis.runs.run import read_run
from wblab.core.errors import InputError
from wblab.lab.places import DOCS
from wblab.study.begin import ROWS_FROM, with_part
from wblab.study.made import made_at, made_of, one_of
from wblab.study.rows import Rows
from wblab.study.store import Store

AXES = {"disk.scheduler": ["none", "bfq"], "load.l1.ioclass": ["none", "idle"]}
KERNELS = {"": {"build_id": "a" * 64, "release": "7.3.0"}}


@pytest.fixture
def make_rows(make_matrix, tmp_path):
    """Return a function that makes the store of a study that keeps rows."""

    def make(axes=None, keep="digests", **keys) -> Store:
        return Store.create(tmp_path / "rows", replace(make_matrix(axes, **keys), keep=keep), KERNELS)

    return make


def finish(store, cell, seed, archive) -> str:
    kept = store.keep(cell, seed, archive(cell, seed, stall_ms=seed))
    found = digest(read_run(kept))
    store.done(cell, seed, kept, digest="" if store.keeps_directories else found)
    return found


def test_rows_say_what_directories_say(make_rows, make_store, archive):
    small, large = make_store(AXES, seeds=2), make_rows(AXES, seeds=2)
    digests = {}
    for cell, seed in small.missing():
        digests[f"{cell.name}-s{seed}"] = finish(small, cell, seed, archive)
        assert finish(large, cell, seed, archive) == digests[f"{cell.name}-s{seed}"]
    small.settle()
    large.settle()
    columns = sorted(read_table(small.path).columns)
    first, second = (
        read_table(store.path)[columns].sort_values(columns).reset_index(drop=True) for store in (small, large)
    )
    pd.testing.assert_frame_equal(first, second, check_dtype=False)
    assert {row.name: row.digest for row in large.rows.all()} == digests
    assert not list(large.runs.iterdir())


def test_a_killed_study_loses_no_finished_run(make_rows, archive):
    store = make_rows(AXES, seeds=2)
    runs = store.missing()
    for cell, seed in runs[:3]:
        finish(store, cell, seed, archive)
    journal = store.rows.path / "journal.jsonl"
    journal.write_bytes(journal.read_bytes() + b'{"cell": "0-none-no')  # killed while it wrote
    again = Store.open(store.path)
    assert again.missing() == runs[3:]
    with again.held():
        for cell, seed in again.missing():
            finish(again, cell, seed, archive)
        again.settle()
    assert not journal.exists()
    whole = Store.open(store.path)
    assert whole.missing() == []
    assert sorted(row.name for row in whole.rows.all()) == sorted(f"{cell.name}-s{seed}" for cell, seed in runs)


def test_a_part_that_was_written_before_a_kill_is_not_read_twice(make_rows, archive):
    store = make_rows(AXES)
    for cell, seed in store.missing():
        finish(store, cell, seed, archive)
    journal = store.rows.path / "journal.jsonl"
    saved = journal.read_bytes()
    store.rows.pack()
    journal.write_bytes(saved)
    again = Store.open(store.path)
    assert len(list(again.rows.all())) == 4
    again.rows.pack()
    assert not journal.exists()
    assert len(list(Store.open(store.path).rows.all())) == 4


def test_full_parts_are_not_written_again(make_rows, archive):
    store = make_rows(AXES, seeds=2)
    store.rows = Rows(store.path, store.plan.cells, part_rows=3)
    runs = store.missing()
    for count, (cell, seed) in enumerate(runs, 1):
        finish(store, cell, seed, archive)
        if count in (4, 8):
            store.rows.pack()
        if count == 4:
            first = (store.rows.path / "0000.parquet").stat().st_mtime_ns
    assert [path.name for path in sorted(store.rows.path.iterdir())] == ["0000.parquet", "0001.parquet", "0002.parquet"]
    assert (store.rows.path / "0000.parquet").stat().st_mtime_ns == first
    assert len({row.name for row in store.rows.all()}) == len(runs)
    assert read_table(store.path)["run"].nunique() == len(runs)


def test_rows_in_parts_or_at_once_are_the_same_bytes(make_rows, archive, tmp_path):
    stores = [make_rows(AXES, seeds=2) for _ in range(2)]
    for store, order in zip(stores, (1, -1), strict=True):
        for cell, seed in store.missing()[::order]:
            finish(store, cell, seed, archive)
            if order == 1:
                store.rows.pack()
        store.settle()
    files = [(store.rows.path / "0000.parquet").read_bytes() for store in stores]
    assert files[0] == files[1]


def test_large_studies_keep_rows_by_default(make_matrix):
    few, many = make_matrix(AXES), make_matrix(AXES, seeds=ROWS_FROM // 4 + 1)
    assert [with_part(plan, None, None).keep for plan in (few, many)] == ["traces", "failing"]
    assert with_part(many, "traces", None).keep == "traces"
    real = make_matrix({"clock.mode": ["real"]}, seeds=ROWS_FROM + 1)
    assert with_part(real, None, None).keep == "traces"
    with pytest.raises(InputError, match="real time cannot be repeated"):
        with_part(real, "digests", None)


def test_a_row_is_found_by_the_path_of_its_run(make_rows, archive, tmp_path):
    store = make_rows(AXES)
    (cell, seed), *_ = store.missing()
    finish(store, cell, seed, archive)
    name = f"runs/{cell.name}-s{seed}"
    for results, path in ((tmp_path, store.path / name), (store.path.parent, f"{store.path.name}/{name}")):
        found = made_at(results, str(path))
        assert found
        assert (found.cell, found.seed, found.row.cell) == (cell, seed, cell.name)
    assert made_at(tmp_path, str(store.path / "runs/other-s1")) is None
    assert made_at(tmp_path, "latest") is None


def test_damaged_rows_are_refused_in_one_line(make_rows, archive, tmp_path):
    store = make_rows(AXES)
    for cell, seed in store.missing():
        finish(store, cell, seed, archive)
    store.rows.pack()
    part = store.rows.path / "0000.parquet"
    whole = part.read_bytes()
    for bad in (b"", whole[:100], whole[:-8], b"PAR1" + whole[4:-4] + b"XXXX", whole.replace(b"digest", b"DIGEST")):
        part.write_bytes(bad)
        for read in (lambda: read_table(store.path), lambda: list(Store.open(store.path).rows.all())):
            with pytest.raises(InputError) as error:
                read()
            assert "\n" not in str(error.value)
    part.unlink()
    journal = store.rows.path / "journal.jsonl"
    for line in (b"{}", b"[]", b"x", b'{"cell": 1}', b'{"metrics": [[1]]}'):
        journal.write_bytes(line + b"\n")
        with pytest.raises(InputError, match="damaged"):
            Store.open(store.path).missing()
    shutil.copy(__file__, store.path / "cells.json.zst")
    with pytest.raises(InputError, match="damaged"):
        Store.open(store.path)


def test_failing_runs_keep_their_traces_where_asked(make_rows, archive):
    for keep, there in (("failing", True), ("digests", False)):
        store = make_rows(AXES, keep=keep)
        (cell, seed), *_ = store.missing()
        path = store.failed(cell, seed, "it broke", archive(cell, seed, outcome="failed", reason="its own"))
        assert (path / "load.c1.npy").exists() == there
        assert (path / "experiment.json").exists()
        assert (cell, seed) in store.missing()


def test_one_row_is_found_in_a_file_and_in_the_journal(make_rows, archive):
    store = make_rows(AXES, seeds=2)
    missing = store.missing()
    digests = [finish(store, cell, seed, archive) for cell, seed in missing[:3]]
    store.settle()
    digests.append(finish(store, *missing[3], archive))
    assert [one_of(store, *run).digest for run in missing[:4]] == digests
    assert one_of(store, *missing[4]) is None


def test_pandas_reads_the_directory_of_rows(make_rows, archive):
    store = make_rows(AXES, seeds=1)
    digests = [finish(store, cell, seed, archive) for cell, seed in store.missing()]
    store.settle()
    table = pd.read_parquet(store.rows.path)
    assert sorted(table["digest"]) == sorted(digests)
    assert {"cell", "seed", "disk.scheduler", "l1:throughput_bps"} <= set(table.columns)


def test_duckdb_reads_the_directory_of_rows_as_the_page_says(make_rows, archive):
    store = make_rows(AXES, seeds=3)
    for cell, seed in store.missing():
        finish(store, cell, seed, archive)
    store.settle()
    page = (DOCS / "how-to" / "large-studies.md").read_text()
    (sql,) = re.findall(r'^    duckdb -c "(.*)"$', page, re.MULTILINE)
    sql = sql.replace('\\"', '"').replace("exp/2026-…_writeback/rows", str(store.rows.path))
    table = pd.read_parquet(store.rows.path)[["cell", "l1:throughput_bps"]]
    assert len(table) > 10
    found = duckdb.sql(sql).fetchall()
    assert sorted(value for _, value in found) == sorted(table["l1:throughput_bps"])[:10]


def test_rows_and_directories_agree_again(make_store, archive):
    """A row whose directory was removed is forgotten, and a directory without a row is read."""
    store = make_store(AXES, seeds=2)
    runs = store.missing()
    for cell, seed in runs:
        finish(store, cell, seed, archive)
    store.settle()
    gone, *others = [f"{cell.name}-s{seed}" for cell, seed in runs]
    shutil.rmtree(store.runs / gone)
    again = Store.open(store.path)
    assert (again.missing(), [made.name for made in made_of(again)]) == ([runs[0]], others)
    with again.held():
        assert {row.name for row in again.rows.all()} == set(others)
        finish(again, *runs[0], archive)
        again.settle()
    whole = {row.name: row for row in again.rows.all()}
    shutil.rmtree(store.path / "rows")
    with (last := Store.open(store.path)).held():
        last.settle()
    assert {row.name: row for row in last.rows.all()} == whole
