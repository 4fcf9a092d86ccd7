"""Parts of a study, put together."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pyarrow.parquet import read_table, write_table
from support.reports import cells, tables, texts

from wblab.analysis.runs.digest import digest
from wblab.analysis.runs.run import read_run
from wblab.core.errors import InputError
from wblab.lab.formats import DESIGN
from wblab.study.designs.audit.audit import audit_plan, chosen, judged
from wblab.study.designs.audit.report import of_share
from wblab.study.made import made_of, seal
from wblab.study.merge import DifferError, merge
from wblab.study.plan import Shard
from wblab.study.rowfile import run_rows
from wblab.study.store import Store

AXES = {"disk.scheduler": ["none", "bfq"], "load.l1.ioclass": ["none", "idle"]}
KERNELS = {"": {"build_id": "a" * 64, "release": "7.3.0"}}


@pytest.fixture(params=["traces", "digests"])
def make_part(request, make_matrix, archive, tmp_path):
    """Return a function that makes a part with all its runs. odd: the name of one that differs."""

    def make(number=1, of=1, *, odd="", left_out=(), plan=None, beside=None, **record) -> Store:
        plan = plan or make_matrix(AXES, seeds=3)
        plan = replace(plan, keep=request.param, shard=Shard(number, of) if of > 1 else None)
        store = Store.create(tmp_path / "parts", plan, KERNELS, beside or {})
        for cell, seed in store.missing():
            name = f"{cell.name}-s{seed}"
            if name in left_out:
                continue
            kept = store.keep(cell, seed, archive(cell, seed, stall_ms=99 if name == odd else seed, **record))
            known = "" if store.keeps_directories else digest(read_run(kept))
            store.done(cell, seed, kept, run_rows(kept, ()), known)
        store.settle()
        return store

    return make


def names(store):
    return sorted(made.name for made in made_of(store))


def test_parts_make_the_whole(make_part, tmp_path):
    whole, parts = make_part(), [make_part(number, 5) for number in range(1, 6)]
    merged = merge([part.path for part in reversed(parts)], tmp_path / "out")
    assert merged.missing() == []
    assert Store.open(merged.path).plan == whole.plan
    assert names(merged) == names(whole)
    assert {one.name: one.digest for one in made_of(merged)} == {one.name: one.digest for one in made_of(whole)}
    assert (merged.path / "rows/0000.parquet").read_bytes() == (whole.path / "rows/0000.parquet").read_bytes()


def test_a_part_that_was_made_twice_counts_once(make_part, tmp_path):
    parts = [make_part(1, 2, left_out=["0-none-none-s1", "3-bfq-idle-s2"]), make_part(1, 2), make_part(2, 2)]
    merged = merge([part.path for part in parts], tmp_path / "out")
    assert len(names(merged)) == len(set(names(merged))) == 12


def test_what_no_part_has_is_missing(make_part, tmp_path):
    merged = merge([make_part(1, 3).path, make_part(3, 3).path], tmp_path / "out")
    assert {(cell.name, seed) for cell, seed in merged.missing()} == {
        (cell.name, seed) for cell, seed in make_part(2, 3).plan.runs()
    }


def test_a_difference_is_named_and_nothing_merged(make_part, tmp_path):
    odd = make_part(odd="2-bfq-none-s3", host={"cpu": "another"})
    with pytest.raises(DifferError, match="1 of 12 runs") as error:
        merge([make_part().path, odd.path], tmp_path / "out")
    (difference,) = error.value.differences
    assert "2-bfq-none-s3" in str(difference)
    assert "other processors" in str(difference)
    assert not (tmp_path / "out").exists()


def test_a_run_that_was_changed_is_not_merged(make_part, tmp_path, monkeypatch):
    """Also if it is the only one of its name: a part carries its digests."""
    parts = [make_part(number, 2) for number in (1, 2)]
    for part in parts:
        seal(part)
    name = next(made_of(parts[1])).name
    merge([part.path for part in parts], tmp_path / "merged")
    if not parts[1].keeps_directories:
        path = next((parts[1].path / "rows").glob("*.parquet"))
        table = read_table(path)
        column = table.column_names.index("wall_s")
        write_table(table.set_column(column, "wall_s", [[wall_s + 1 for wall_s in table["wall_s"].to_pylist()]]), path)
    else:
        path = next((parts[1].runs / name).glob("load.*.npy"))
        times = np.load(path)
        np.save(path, times + np.arange(len(times)))
    with pytest.raises(InputError, match=f"{name} of {parts[1].path} was changed after it was made"):
        merge([part.path for part in parts], tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_a_run_of_another_spec_is_named(make_part, tmp_path):
    part = make_part()
    if not part.keeps_directories:
        return
    name = "0-none-s1" if (part.runs / "0-none-s1").exists() else sorted(path.name for path in part.runs.iterdir())[0]
    record = part.runs / name / "experiment.json"
    content = json.loads(record.read_text())
    content["spec"]["memory"] = content["spec"]["memory"] + (1 << 20)
    record.write_text(json.dumps(content))
    with pytest.raises(InputError, match=f"{name} of {part.path} cannot be merged: it has another spec"):
        merge([part.path], tmp_path / "again")


def test_parts_stay_as_they_are(make_part, tmp_path):
    part = make_part(1, 2)
    before = {path: path.stat().st_mtime_ns for path in part.path.rglob("*")}
    merge([part.path], tmp_path / "out")
    assert {path: path.stat().st_mtime_ns for path in part.path.rglob("*")} == before


def test_other_studies_are_refused(make_part, make_matrix, tmp_path):
    first = make_part()
    seeds, axes = make_part(plan=make_matrix(AXES, seeds=2)), make_part(plan=make_matrix({"o": {"a": {}}}, seeds=3))
    for other, word in (
        (seeds, "differ in seeds"),
        (axes, "differ in cells"),
        (make_part(beside={DESIGN: b"x"}), "design"),
    ):
        with pytest.raises(InputError, match=word):
            merge([first.path, other.path], tmp_path / "out")
    with pytest.raises(InputError, match="no parts"):
        merge([make_part(plan=replace(first.plan, design="ab")).path], tmp_path / "out")


def test_another_build_of_the_kernel_is_refused(make_part, tmp_path):
    first, other = make_part(1, 2), make_part(2, 2)
    study = other.path / "study.json"
    study.write_text(study.read_text().replace("a" * 64, "b" * 64))
    with pytest.raises(InputError, match="another build of the kernel"):
        merge([first.path, other.path], tmp_path / "out")


def test_an_audit_says_how_many_are_the_same(make_part):
    store = make_part()
    plan = audit_plan(store, 0.5, seed=1)
    assert len(chosen(plan)) == 6
    assert chosen(plan) == chosen(audit_plan(store, 0.5, seed=1)) != chosen(audit_plan(store, 0.5, seed=2))
    found = judged(store, make_part(plan=plan), {})
    assert (len(found.same), found.differing, found.runs) == (6, {}, 12)
    rate, low, high = found.rate
    assert rate == high == 1
    assert 0.5 < low < 0.7
    odd = judged(store, make_part(plan=plan, odd=chosen(plan)[0]), {chosen(plan)[1]: "broke"})
    assert list(odd.differing) == [chosen(plan)[0]]
    told = of_share(store.path, Path("audits/1"), odd)
    assert told.headline == "6 of 12 runs made again: 5 identical, 1 different."
    assert texts(told)[0].startswith("83.3 % of such runs are identical to the bit (")
    assert cells(tables(told)[0]) == [
        [chosen(plan)[0], "differs", "all recorded inputs are the same: that should not be"],
        [chosen(plan)[1], "failed", "broke"],
    ]
    said = told.to_json()
    assert (said["directory"], said["identical"], said["failed"]) == ("audits/1", 5, {chosen(plan)[1]: "broke"})


def test_what_cannot_be_audited_is_refused(make_part, make_matrix):
    real = make_part(plan=make_matrix({"clock.mode": ["real"]}))
    with pytest.raises(InputError, match="real time"):
        audit_plan(real, 1, seed=0)
    with pytest.raises(InputError, match="no runs yet"):
        audit_plan(
            make_part(
                plan=make_matrix(AXES),
                left_out=[f"{n}-s1" for n in ("0-none-none", "1-none-idle", "2-bfq-none", "3-bfq-idle")],
            ),
            1,
            seed=0,
        )


def test_parts_with_the_same_file_of_cells_share_them(make_part):
    first, second = make_part(1, 2), make_part(2, 2)
    part = Store.open_part(second.path, first)
    assert part.plan == Store.open(second.path).plan
    assert (part.plan.cells is first.plan.cells) != first.keeps_directories


def test_a_part_with_other_cells_has_its_own(make_part, make_matrix):
    first, other = make_part(1, 2), make_part(2, 2, plan=make_matrix({"disk.scheduler": ["none", "bfq"]}, seeds=3))
    assert Store.open_part(other.path, first).plan == Store.open(other.path).plan
