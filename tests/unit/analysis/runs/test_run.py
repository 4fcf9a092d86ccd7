import json
import os
import pickle

import numpy as np
import pytest

from wblab.analysis.runs.run import find_run, read_run
from wblab.core.errors import InputError
from wblab.lab.formats import EXPERIMENT, RUN

MS = 1_000_000
LOADS = {
    "mw1": [5 * MS, 106 * MS, 1306 * MS, 1406 * MS],
    "c1": [0, 50 * MS, 101 * MS],
    "l1": [MS, 5002 * MS, 5003 * MS],
}


def test_cycles_and_pauses(make_run):
    run = read_run(make_run(LOADS))
    assert [load.name for load in run.loads] == ["c1", "mw1", "l1"]  # the spec's order
    mw1 = run.load("mw1")
    assert mw1.durations_ns.tolist() == [101 * MS, 1200 * MS, 100 * MS]
    assert mw1.idle_ns.tolist() == [100 * MS] * 3
    assert mw1.pauses_ns.tolist() == [1 * MS, 1100 * MS, 0]
    assert mw1.pauses_ns.dtype == np.int64


def test_an_offender_is_idle_in_its_first_cycle_only(make_run):
    l1 = read_run(make_run(LOADS)).load("l1")
    assert l1.idle_ns.tolist() == [5000 * MS, 0]
    assert l1.pauses_ns.tolist() == [1 * MS, 1 * MS]


def test_zero_is_the_first_boundary_of_any_load(make_run):
    assert read_run(make_run(LOADS)).zero_ns == 0


def test_offenders_start_after_their_wait(make_run):
    assert read_run(make_run(LOADS)).offender_starts_ns() == {"l1": 5001 * MS}


def test_unknown_load_is_named_with_the_nearest(make_run):
    with pytest.raises(InputError, match=r"no load .mw2. .*did you mean .mw1."):
        read_run(make_run(LOADS)).load("mw2")


def test_run_that_measured_nothing_says_why(make_run):
    with pytest.raises(InputError, match="the guest hangs"):
        read_run(make_run({}, outcome="failed", reason="the guest hangs"))


def damage(directory, name, action):
    action(directory / name)
    with pytest.raises(InputError) as error:
        read_run(directory)
    assert name in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["load.mw1.npy", "load.mw1.json", EXPERIMENT])
@pytest.mark.parametrize("size", [0, 10])
def test_a_truncated_file_is_refused(make_run, name, size):
    damage(make_run(LOADS), name, lambda path: os.truncate(path, size))


@pytest.mark.parametrize(
    "values",
    [
        np.array([1.0, 2.0, 3.0, 4.0]),
        np.array([[1, 2], [3, 4]]),
        np.array([4, 3, 2, 1]),
        np.array([1, 2, 3]),
        np.array([{"a": 1}], dtype=object),
    ],
    ids=["floats", "two dimensions", "time goes back", "too few", "pickled"],
)
def test_a_foreign_array_is_refused(make_run, values):
    damage(make_run(LOADS), "load.mw1.npy", lambda path: np.save(path, values))


@pytest.mark.parametrize(
    "content",
    [[], {}, *(RUN.head() | spec for spec in ({}, {"spec": {}}, {"spec": None}, {"spec": {"memory": "x"}}))],
)
def test_a_record_without_a_usable_spec_is_refused(make_run, content):
    damage(make_run(LOADS), EXPERIMENT, lambda path: path.write_text(json.dumps(content)))


def test_a_missing_run_directory_is_refused(tmp_path):
    with pytest.raises(InputError, match="is this a run directory"):
        read_run(tmp_path)


def test_find_run(make_run, tmp_path):
    path = make_run(LOADS)
    assert find_run(str(path), tmp_path / "elsewhere") == path
    assert find_run(path.name, tmp_path) == path
    assert find_run("latest", tmp_path) == path
    with pytest.raises(InputError, match=f"did you mean '{path.name}'"):
        find_run(path.name + "x", tmp_path)
    with pytest.raises(InputError, match="no finished run"):
        find_run("latest", tmp_path / "elsewhere")


def npy_header(text):
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize(
    "content",
    [
        b"PK\x03\x04abc",
        pickle.dumps({}),
        npy_header(b"{{{{\n"),
        npy_header(b"{'descr': '<i8', 'fortran_order': False, 'shape': (999999999999999,), }\n"),
        npy_header(b"{'descr': '<i8', 'fortran_order': False, 'shape': (99999999999999999999999,), }\n"),
        npy_header(b"{'descr': '<i8', 'fortran_order': False, 'shape': (True,), }\n") + bytes(8),
    ],
    ids=["half a zip", "pickle", "unbalanced", "larger than memory", "larger than int64", "not a number"],
)
def test_a_damaged_array_is_refused(make_run, content):
    damage(make_run(LOADS), "load.mw1.npy", lambda path: path.write_bytes(content))


def test_a_missing_array_of_a_succeeded_run_is_damage(make_run):
    damage(make_run(LOADS), "load.mw1.npy", os.unlink)


@pytest.mark.parametrize("change", [{"pid": "x"}, {"pid": None}, {"kind": "write"}, {"unit": "us"}])
def test_a_load_record_that_does_not_match_is_refused(make_run, change):
    def edit(path):
        path.write_text(json.dumps(json.loads(path.read_text()) | change))

    damage(make_run(LOADS), "load.mw1.json", edit)


@pytest.mark.parametrize("idle", [-1, 10**30])
def test_an_impossible_idle_time_is_refused(make_run, idle):
    def edit(path):
        record = json.loads(path.read_text())
        record["spec"]["load"]["mw1"]["idle"] = idle
        path.write_text(json.dumps(record))

    damage(make_run(LOADS), EXPERIMENT, edit)


def test_a_record_of_another_format_is_refused(make_run):
    with pytest.raises(InputError, match="format 2, this lab reads 1"):
        read_run(make_run(LOADS, format=2))


def test_a_deeply_nested_record_is_refused(make_run):
    damage(make_run(LOADS), EXPERIMENT, lambda path: path.write_text("[" * 200_000))


def test_a_failed_run_is_read_as_far_as_possible(make_run):
    path = make_run(LOADS, outcome="failed", reason="disk full")
    (path / "load.mw1.npy").unlink()
    run = read_run(path)
    assert [load.name for load in run.loads] == ["c1", "l1"]
    assert run.failure == "disk full"


def test_find_run_says_that_a_file_is_no_run_and_a_directory_has_none(tmp_path):
    (spec := tmp_path / "spec.toml").touch()
    with pytest.raises(InputError, match="is a file, not the directory of a run: 'wblab run' makes a run of a spec"):
        find_run(str(spec), tmp_path)
    with pytest.raises(InputError, match=r"has no experiment\.json, so it is no run"):
        find_run(str(tmp_path), tmp_path)


def test_find_run_by_the_begin_or_end_of_its_name(make_run, tmp_path):
    path = make_run(LOADS)
    assert find_run("2026-01-01", tmp_path) == path
    assert find_run("base", tmp_path) == path
    path.with_name("_2026-01-02_00-00-00_base").mkdir()
    assert find_run("base", tmp_path) == path  # a directory without a record is no run
    (path.with_name("_2026-01-02_00-00-00_base") / EXPERIMENT).write_text("{}")
    with pytest.raises(InputError, match="2 runs begin or end with 'base'"):
        find_run("base", tmp_path)


@pytest.mark.parametrize("text", ["x" * 5000, "a\0b"])
def test_find_run_refuses_an_impossible_name(tmp_path, text):
    with pytest.raises(InputError, match="no run"):
        find_run(text, tmp_path)


def test_find_run_says_that_a_name_is_empty(make_run, tmp_path):
    make_run(LOADS)
    with pytest.raises(InputError, match="a run's name is empty: give a run directory"):
        find_run("", tmp_path)


def test_latest_is_never_a_failed_run(make_run, tmp_path):
    path = make_run(LOADS)
    path.rename(path.with_name("_staged"))
    with pytest.raises(InputError, match="no finished run"):
        find_run("latest", tmp_path)
