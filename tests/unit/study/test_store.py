import io
import json
import os
import subprocess
import sys
import tarfile
from dataclasses import replace

import pytest
from support.studyrows import table_of

from wblab.analysis.groups.observations import matrix_notes
from wblab.analysis.runs.run import read_run
from wblab.core.errors import InputError, WblabError
from wblab.lab.formats import NOISY_MARK
from wblab.study.cells import run_name
from wblab.study.made import made_of
from wblab.study.store import Store, pack, unpack

AXES = {"disk.scheduler": ["none", "bfq"]}


def keep(store, cell, seed, archive, **keys):
    store.done(cell, seed, store.keep(cell, seed, archive), **keys)
    return store.runs / run_name(cell, seed)


def keep_noisy(store, cell, seed, archive):
    return store.name(cell, seed, store.keep(cell, seed, archive), NOISY_MARK)


def test_finished_runs_are_not_missing(make_store, archive):
    store = make_store(AXES, seeds=2)
    (cell, seed), *rest = store.missing()
    path = keep(store, cell, seed, archive(cell, seed))
    assert path.name == "0-none-s1"
    assert store.missing() == rest
    assert Store.open(store.path).missing() == rest
    assert read_run(path).spec.seed == 1


def test_cells_can_be_added_to_a_study(make_store, archive):
    store = make_store(AXES, seeds=2)
    (cell, seed), *rest = store.missing()
    keep(store, cell, seed, archive(cell, seed))
    further = replace(cell, name="2-more", levels={"disk.scheduler": "more"})
    store.add([further])
    again = Store.open(store.path)
    assert again.plan == store.plan
    assert again.kernels == store.kernels
    assert again.missing() == store.missing() == [rest[0], (further, 1), *rest[1:], (further, 2)]
    for bad in (further, replace(further, name="x", levels={"other": 1}), replace(further, name="../x")):
        with pytest.raises(InputError):
            store.add([bad])
    assert Store.open(store.path).plan == store.plan == again.plan


def test_failed_and_noisy_runs_are_still_missing(make_store, archive):
    store = make_store(AXES)
    (first, seed), (second, _) = missing = store.missing()
    failed = store.failed(first, seed, "it broke")
    assert failed.name == "_0-none-s1"
    assert json.loads((failed / "experiment.json").read_text())["reason"] == "it broke"
    assert store.failed(first, seed, "again").name == "_0-none-s1-2"
    assert keep_noisy(store, second, seed, archive(second, seed, stall_ms=90)).name == "1-bfq-s1.noisy"
    assert keep_noisy(store, second, seed, archive(second, seed, stall_ms=90)).name == "1-bfq-s1.noisy-2"
    assert store.missing() == missing


def test_the_record_of_a_failed_run_is_kept(make_store, archive):
    store = make_store()
    ((cell, seed),) = store.missing()
    path = store.failed(cell, seed, "a reason", archive(cell, seed, outcome="failed", reason="its own"))
    assert json.loads((path / "experiment.json").read_text())["reason"] == "its own"
    assert (path / "load.c1.npy").exists()


def test_a_run_of_another_spec_is_refused(make_store, archive):
    store = make_store(AXES)
    (cell, seed), (other, _) = store.missing()
    with pytest.raises(WblabError, match="a different spec"):
        store.keep(cell, seed, archive(other, seed))


def test_tables_are_written(make_store, archive):
    store = make_store({"disk.scheduler": ["none", "bfq"], "o": {"plain": {}}})
    (cell, seed), (other, _) = store.missing()
    keep(store, cell, seed, archive(cell, seed))
    keep_noisy(store, other, seed, archive(other, seed, stall_ms=90))
    store.failed(other, seed, "it broke")
    table = table_of(store)
    assert list(table.columns) == ["disk.scheduler", "o", "cell", "seed", "run", "load", "kind", "metric", "value"]
    assert set(table["run"]) == {"0-none-plain-s1"}
    assert set(table["load"]) == {"c1", "l1"}
    noisy, failed = matrix_notes(store.path)
    assert noisy.endswith(": 1")
    assert failed.endswith(": 1-bfq-plain-s1")
    assert not list(store.path.glob(".*"))


def test_a_matrix_that_requests_causes_has_them_in_its_table(make_store, archive, monkeypatch):
    monkeypatch.setattr("wblab.analysis.why.explanations.cause_metrics", lambda run: {"c1": {"paused_unknown_s": 0.25}})
    for metrics in (["causes"], []):
        store = make_store(set={"trace.events": ["block:block_rq_complete"]}, metrics=metrics)
        ((cell, seed),) = store.missing()
        keep(store, cell, seed, archive(cell, seed))
        table = table_of(Store.open(store.path))
        assert table[table["metric"] == "paused_unknown_s"]["value"].tolist() == [0.25] * len(metrics)


def test_a_run_with_known_metrics_is_not_read_again(make_store, archive):
    store = make_store(AXES)
    rows = [("l1", "dirty", "paused_s", 0.5), ("c1", "control", "paused_s", 0.0)]
    for cell, seed in store.missing():
        kept = keep(store, cell, seed, archive(cell, seed), rows=rows)
        for file in kept.glob("load.*"):
            file.unlink()
    table = table_of(store)
    assert list(zip(table["run"], table["value"], strict=True)) == [
        ("0-none-s1", 0.0), ("1-bfq-s1", 0.0), ("0-none-s1", 0.5), ("1-bfq-s1", 0.5),
    ]  # fmt: skip


def test_a_directory_is_accepted_like_an_archive(make_store, pretended, tmp_path):
    store = make_store()
    ((cell, seed),) = store.missing()
    path = keep(store, cell, seed, pretended(tmp_path / "left", cell.with_seed(seed)))
    assert path.stat().st_mode & 0o777 == 0o755
    assert read_run(path).spec.seed == 1
    assert not (tmp_path / "left").exists()


def test_levels_of_one_type_keep_their_type(make_store, archive):
    store = make_store({"disk.write_bps": [1048576, 2097152]})
    for cell, seed in store.missing():
        keep(store, cell, seed, archive(cell, seed))
    table = table_of(store)
    assert sorted(set(table["disk.write_bps"])) == [1048576, 2097152]
    assert table.dtypes[["seed", "value"]].tolist() == ["int64", "float64"]


def test_a_study_without_runs_has_no_table(make_store):
    store = make_store(AXES)
    with pytest.raises(InputError, match="no rows of runs yet: 'wblab study --resume"):
        table_of(store)


def test_levels_of_mixed_types_become_text(make_store, archive):
    store = make_store({"disk.write_bps": [1048576, "2MiB/s"]})
    for cell, seed in store.missing():
        keep(store, cell, seed, archive(cell, seed))
    assert sorted(set(table_of(store)["disk.write_bps"])) == ["1048576", "2MiB/s"]


def test_noise_of_seed_1_is_not_that_of_seed_10(make_store, archive):
    store = make_store(seeds=[1, 10])
    (cell, _), _ = store.missing()
    for seed in (1, 10):
        keep_noisy(store, cell, seed, archive(cell, seed, stall_ms=90))
    assert [[path.name for path in store.noisy(cell, seed)] for seed in (1, 10)] == [["0-s1.noisy"], ["0-s10.noisy"]]


def test_only_one_process_may_use_a_store_and_remains_are_removed(make_store):
    store = make_store()
    (store.runs / ".partial-x").mkdir()
    with store.held():
        assert list(store.runs.iterdir()) == []
        with pytest.raises(InputError, match="another wblab"), Store.open(store.path).held():
            pass
    with Store.open(store.path).held():
        pass


def test_directories_of_matrices_have_unique_names(make_store):
    assert make_store().path != make_store().path


def test_a_study_of_another_kind_is_refused_with_its_verb(make_store):
    store = make_store()
    assert Store.open(store.path, "matrix").plan == store.plan
    with pytest.raises(InputError, match=rf"is another study, of matrix: wblab study --resume {store.path}"):
        Store.open(store.path, "trial")


def test_other_directories_are_refused(tmp_path, make_store):
    with pytest.raises(InputError, match="is this the directory of a study"):
        Store.open(tmp_path)
    for text, word in (
        ("{", "damaged"),
        ("{}", "format None"),
        ('{"format": 1, "kind": "study"}', "no study of"),
    ):
        (tmp_path / "study.json").write_text(text)
        with pytest.raises(InputError, match=word):
            Store.open(tmp_path)
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(InputError, match="cannot make"):
        Store.create(blocked, make_store().plan, {})


@pytest.mark.parametrize(
    ("name", "kind"),
    [("../out", tarfile.REGTYPE), ("/out", tarfile.REGTYPE), ("link", tarfile.SYMTYPE), ("dir", tarfile.DIRTYPE)],
)
def test_archives_with_paths_outside_are_refused(tmp_path, name, kind):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = kind, "/etc/passwd"
        archive.addfile(member)
    room = tmp_path / "room"
    room.mkdir()
    with pytest.raises(WblabError, match="not a file of a run"):
        unpack(buffer.getvalue(), room)
    assert os.listdir(tmp_path) == ["room"]
    assert os.listdir(room) == []


def test_archives_are_unpacked_and_damaged_ones_refused(tmp_path):
    for name in ("from", "to", "rest"):
        (tmp_path / name).mkdir()
    (tmp_path / "from" / "a").write_bytes(bytes(100_000))
    packed = pack(tmp_path / "from")
    unpack(packed, tmp_path / "to")
    assert (tmp_path / "to" / "a").read_bytes() == bytes(100_000)
    with pytest.raises(WblabError, match="cannot be unpacked"):
        unpack(packed[:50_000], tmp_path / "rest")
    with pytest.raises(WblabError, match="cannot be unpacked"):
        unpack(b"no archive", tmp_path / "rest")


def test_the_plan_and_store_need_no_dask():
    code = "import sys, wblab.cli, wblab.study.cluster, wblab.study.run; wblab.cli.build_parser()"
    late = ("dask", "distributed", "pandas", "numpy", "pyarrow")
    check = f"{code}; sys.exit(any(name in sys.modules for name in {late}))"
    subprocess.run([sys.executable, "-c", check], check=True)


def test_metrics_and_tables_need_no_pandas(make_store, archive):
    store = make_store()
    ((cell, seed),) = store.missing()
    keep(store, cell, seed, archive(cell, seed))
    code = "import sys; from pathlib import Path; from wblab.study.store import Store"
    check = f"{code}; Store.open(Path(sys.argv[1])).settle(); sys.exit('pandas' in sys.modules)"
    subprocess.run([sys.executable, "-c", check, store.path], check=True)
    assert [made.row.cell for made in made_of(store)] == [cell.name]
