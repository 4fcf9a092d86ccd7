import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wblab.core.errors import InputError
from wblab.lab.results import MATRICES, SPECS
from wblab.study.cells import Cell, run_name
from wblab.study.designs.matrix.factorial import expand, read_matrix
from wblab.study.plan import Plan, Shard, shard_of

IDLE = {"load.l1.ioclass": "idle"}


def test_every_combination_is_a_cell(make_matrix):
    matrix = make_matrix({"disk.scheduler": ["none", "bfq"], "offender": {"plain": {}, "idle": IDLE}}, seeds=3)
    assert [cell.levels for cell in matrix.cells] == [
        {"disk.scheduler": "none", "offender": "plain"},
        {"disk.scheduler": "none", "offender": "idle"},
        {"disk.scheduler": "bfq", "offender": "plain"},
        {"disk.scheduler": "bfq", "offender": "idle"},
    ]
    assert [cell.spec.disk["disk"].scheduler for cell in matrix.cells] == ["none", "none", "bfq", "bfq"]
    assert [cell.spec.load["l1"].ioclass for cell in matrix.cells] == ["none", "idle", "none", "idle"]
    assert matrix.seeds == (1, 2, 3)
    assert len({run_name(cell, seed) for cell, seed in matrix.runs()}) == 12


def test_runs_go_seed_by_seed(make_matrix):
    matrix = make_matrix({"disk.scheduler": ["none", "bfq"]}, seeds=[7, 9])
    assert [(cell.levels["disk.scheduler"], seed) for cell, seed in matrix.runs()] == [
        ("none", 7), ("bfq", 7), ("none", 9), ("bfq", 9),
    ]  # fmt: skip
    cell, seed = matrix.runs()[3]
    assert cell.with_seed(seed).seed == 9
    assert cell.with_seed(seed).name == "1-bfq-s9"


def test_options_and_parameters_of_the_kernel_are_axes(make_matrix):
    axes = {"kernel.config.X": ["n", "y"], "kernel": ["7.3", "6.1"], "kernel.parameters.printk.devkmsg": ["on"]}
    matrix = make_matrix(axes)
    builds = ["7.3+X=n", "6.1+X=n", "7.3+X=y", "6.1+X=y"]
    assert [cell.spec.kernel.build for cell in matrix.cells] == builds
    assert {cell.spec.kernel.parameters["printk.devkmsg"] for cell in matrix.cells} == {"on"}
    assert str(matrix.cells[0]) == "kernel.config.X n, kernel 7.3, kernel.parameters.printk.devkmsg on"
    assert [Cell.from_json(json.loads(json.dumps(cell.to_json()))) for cell in matrix.cells] == [*matrix.cells]


def test_common_keys_can_be_overridden_by_a_level(make_matrix):
    axes = {"sysctl.vm.dirty_bytes": [1 << 20, 1 << 21], "mount": {"sync": {"disk.mount_options": ["sync"]}}}
    matrix = make_matrix(axes, set={"disk.write_bps": "2MiB/s", "sysctl.vm.dirty_ratio": 0})
    assert [cell.spec.sysctl["vm.dirty_bytes"] for cell in matrix.cells] == [1 << 20, 1 << 21]
    assert {cell.spec.disk["disk"].write_bps for cell in matrix.cells} == {2 << 20}
    assert {cell.spec.disk["disk"].mount_options for cell in matrix.cells} == {("sync",)}


def test_a_matrix_without_axes_has_one_cell(make_matrix):
    matrix = make_matrix(seeds=2)
    assert [cell.levels for cell in matrix.cells] == [{}]
    assert len(matrix.runs()) == 2


def test_names_of_cells_are_valid_for_any_level(make_matrix):
    matrix = make_matrix({"odd": {"a b/c": {}, "é" * 90: {}, "x" * 90: {}, "--": {}}})
    assert matrix.cells[0].name == "0-a-b-c"
    assert all(len(run_name(cell, 2**63 - 1)) <= 64 for cell in matrix.cells)


def test_built_kernels_are_used(folder):
    matrix = expand({"name": "m", "base": "small.toml", "axes": {"kernel": "built"}}, folder, built=["7.3", "6.1"])
    assert [cell.spec.kernel.build for cell in matrix.cells] == ["7.3", "6.1"]
    with pytest.raises(InputError, match="no kernel is built"):
        expand({"name": "m", "base": "small.toml", "axes": {"kernel": "built"}}, folder)


def test_the_path_of_a_kernel_becomes_absolute(make_matrix, monkeypatch):
    monkeypatch.chdir("/usr")
    matrix = make_matrix({"kernel": ["./lib/linux", "7.3", "/a/linux"]})
    assert [cell.spec.kernel.build for cell in matrix.cells] == ["/usr/lib/linux", "7.3", "/a/linux"]
    assert [cell.levels["kernel"] for cell in matrix.cells] == ["./lib/linux", "7.3", "/a/linux"]


@pytest.mark.parametrize(
    ("axes", "word"),
    [
        ({"disk.schedular": ["none"]}, "did you mean 'scheduler'"),
        ({"disk.scheduler": ["none", "bqf"]}, r"did you mean 'bfq'.*in the cell disk.scheduler = bqf"),
        ({"disk.scheduler": []}, "has no level"),
        ({"disk.scheduler": ["none", "none"]}, "the same level twice"),
        ({"disk.scheduler": "none"}, "must be a list"),
        ({"disk": {"scheduler": ["none"]}}, "quoted"),
        ({"a": {"x": IDLE}, "b": {"y": IDLE}}, r"both a and b set 'load.l1.ioclass'"),
        ({"seed": [1, 2]}, "'seed' cannot be set: give seeds"),
        ({"a": {"x": {"name": "y"}}}, "'name' cannot be set"),
        ({"load.l1.size": ["8MiB", "1GiB"]}, "disk.size"),
        ({"load": {"x": {}}}, "column"),
        ({"memory.x": [1]}, "is not a table"),
        ({"kernel": [7]}, "kernel must be a string"),
        ({"kernel": [["a/b"]]}, "kernel must be a string"),
        ({f"sysctl.vm.k{number}": list(range(10)) for number in range(6)}, "too many"),
        ([], "axes must be a table"),
    ],
)
def test_invalid_axes_are_refused(folder, axes, word):
    with pytest.raises(InputError, match=word) as raised:
        expand({"name": "m", "base": "small.toml", "axes": axes}, folder)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("keys", "word"),
    [
        ({"seeds": 0}, "seeds"),
        ({"seeds": []}, "seeds: none"),
        ({"seeds": [1, 1]}, "twice"),
        ({"seeds": [-1]}, "-1"),
        ({"seeds": "many"}, "seeds must be a list"),
        ({"seeds": True}, "seeds must be a list"),
        ({"base": "nosuch"}, "no spec 'nosuch'"),
        ({"name": "a/b"}, "a/b"),
        ({"bace": "x"}, "unknown key 'bace'"),
        ({"set": []}, "set must be a table"),
        ({"set": {"seed": 3}}, "give seeds"),
        ({"repeats": -1}, "repeats"),
        ({"control_bound": "0s"}, "control_bound"),
        ({"metrics": ["cause"]}, "did you mean 'causes'"),
        ({"metrics": ["causes"], "set": {"trace.events": []}}, "no run would record why it is paused"),
        ({"metrics": ["requests"]}, "give all cells block:block_rq_issue in trace.events"),
        ({"metrics": ["causes"], "set": {"trace.blame": "never"}}, "no run would record why it is paused"),
    ],
)
def test_invalid_keys_are_refused(make_matrix, keys, word):
    with pytest.raises(InputError, match=word):
        make_matrix(**keys)


def test_a_matrix_survives_its_record(make_matrix):
    matrix = make_matrix({"disk.latency": ["0s"], "o": {"plain": {}, "idle": IDLE}}, seeds=[3], repeats=1)
    assert Plan.from_json(json.loads(json.dumps(matrix.to_json()))) == matrix


def test_the_requested_metrics_are_in_the_record(make_matrix):
    matrix = make_matrix(metrics=["causes"], set={"trace.events": ["block:block_rq_complete"]})
    assert matrix.metrics == ("causes",)
    assert Plan.from_json(json.loads(json.dumps(matrix.to_json()))) == matrix


@pytest.mark.parametrize("value", [{}, {"cells": 3}, {"cells": [{}], "seeds": []}, {"cells": [3], "seeds": [1]}])
def test_invalid_records_are_refused(value):
    with pytest.raises(InputError):
        Plan.from_json(value)


@pytest.mark.parametrize("name", MATRICES.names())
def test_the_lab_s_matrices_are_valid(name):
    path = MATRICES.find(name)
    assert path.read_text().startswith("# ")
    matrix = read_matrix(path, built=["7.3", "6.12"])
    assert matrix.name == name
    assert len(matrix.cells) > 1
    assert {cell.spec.clock.mode for cell in matrix.cells} == ({"virtual", "real"} if name == "clocks" else {"virtual"})
    assert tomllib.loads(path.read_text())["base"] in SPECS.names()


def test_unreadable_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="mitigation"):
        MATRICES.find("mitigatoin")
    (tmp_path / "bad.toml").write_text("a = = b")
    with pytest.raises(InputError, match=r"bad.toml.*is not a TOML file"):
        read_matrix(tmp_path / "bad.toml")
    with pytest.raises(InputError, match="No such file"):
        read_matrix(tmp_path / "none.toml")


@given(st.integers(0, 200), st.integers(1, 60))
def test_each_item_is_in_one_part(count, of):
    items = list(range(count))
    parts = [Shard(number, of).part(items, str) for number in range(1, of + 1)]
    assert sorted(item for part in parts for item in part) == items
    assert all(part == sorted(part) for part in parts)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_a_part_has_some_of_all_kinds():
    items = [(seed, cell) for seed in range(50) for cell in "abcd"]
    part = Shard(1, 4).part(items, str)
    assert {cell for _, cell in part} == set("abcd")


def test_parts_are_read():
    assert shard_of("3/64") == Shard(3, 64)
    assert str(Shard(3, 64)) == "3/64"
    for text in ("", "3", "0/4", "5/4", "3/64/1", "-1/4", "1/1000000", "a/b", "1/٣", " 1/2", "1/2\n"):
        with pytest.raises(InputError, match="no part"):
            shard_of(text)
