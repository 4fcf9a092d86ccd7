"""Tables of runs, from files and from run directories, and the values that are left out."""

import json

import pandas as pd
import pytest
from support.runs import MS, write_run

from wblab.analysis.groups.observations import is_table, matrix_notes, observations, read_table, runs_table
from wblab.core.errors import InputError
from wblab.lab.formats import EXPERIMENT

BOUNDARIES = {"c1": [0, 50 * MS, 100 * MS], "mw1": [0, 100 * MS, 900 * MS]}


def row(value=1.0, seed=1, **levels):
    fixed = {"seed": seed, "run": f"{levels}-{seed}", "load": "mw1", "kind": "multiwrite", "metric": "longest_pause_s"}
    return {**levels, **fixed, "value": value}


@pytest.fixture
def table():
    return pd.DataFrame([row(seed + i, seed, **{"disk.scheduler": n}) for i, n in enumerate("ab") for seed in range(3)])


@pytest.fixture
def make(tmp_path):
    """Return a function that makes a run with changes of its spec, by dotted key."""

    def write(name, boundaries=BOUNDARIES, changes=(), **record):
        path = write_run(tmp_path / name, boundaries, **record)
        content = json.loads((path / EXPERIMENT).read_text())
        for key, value in dict(changes).items():
            *tables, last = key.split(".")
            node = content["spec"]
            for part in tables:
                node = node[part]
            node[last] = value
        (path / EXPERIMENT).write_text(json.dumps(content))
        return path

    return write


@pytest.mark.parametrize("name", ["table.parquet", "x.csv"])
def test_a_table_from_a_file(tmp_path, table, name):
    path = tmp_path / name
    table.to_csv(path, index=False) if path.suffix == ".csv" else table.to_parquet(path)
    read = read_table(path)
    pd.testing.assert_frame_equal(read, table, check_dtype=False)
    assert is_table(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, "cannot read"),
        ("empty.csv", "", "is not a table"),
        ("damaged.parquet", "PAR1", "is not a table"),
        ("other.csv", "a,b\n1,2\n", "has no column 'seed'"),
        ("text.csv", "seed,run,load,kind,metric,value\n1,r,l,k,m,much\n", "values that are not numbers"),
        ("seed.csv", "seed,run,load,kind,metric,value\nx,r,l,k,m,1\n", "seeds that are not whole"),
    ],
)
def test_other_files_are_not_tables(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message):
        read_table(tmp_path / name)


def test_notes_of_a_study_are_read(tmp_path):
    assert matrix_notes(tmp_path) == ()
    for name in ("_a-s1", "_b-s1", "b-s1", "b-s1.noisy", "c-s1.noisy-2"):
        (tmp_path / "runs" / name).mkdir(parents=True)
    noisy, failed = matrix_notes(tmp_path)
    assert "noisy runs, not in the table" in noisy
    assert noisy.endswith(": 2")
    assert failed == "runs that failed and are missing: a-s1"


def test_a_table_without_runs(tmp_path, table):
    table.iloc[:0].to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match="has no runs"):
        read_table(tmp_path / "t.parquet")


def test_columns_that_differ_become_axes(table):
    data = observations(table.assign(**{"disk.filesystem": "ext4", "cell": table["disk.scheduler"] + "-x"}))
    assert data.levels == {"disk.scheduler": ("a", "b")}
    assert data.by == ("disk.scheduler",)


def test_another_baseline(table):
    assert observations(table, baseline={"disk.scheduler": "b"}).levels == {"disk.scheduler": ("b", "a")}
    with pytest.raises(InputError, match="it is one of a, b"):
        observations(table, baseline={"disk.scheduler": "c"})


def test_levels_are_texts_for_any_column_type(table):
    numbers = table.assign(**{"sysctl.vm.dirty_bytes": [1.0] * 3 + [float("nan")] * 3})
    levels = observations(numbers, by=["sysctl.vm.dirty_bytes"]).levels
    assert levels["sysctl.vm.dirty_bytes"] == ("1", "-")


def test_noisy_runs_are_left_out_with_a_note(table):
    data = observations(table.assign(noisy=[False, False, True, False, False, False]))
    assert len(data.table) == 5
    assert any("noisy runs, left out" in note and note.endswith(": 1") for note in data.notes)
    with pytest.raises(InputError, match="every run is noisy"):
        observations(table.assign(noisy=True))


def test_values_that_are_not_numbers_are_left_out_with_a_note(table):
    table.loc[0, "value"] = float("nan")
    table.loc[1, "value"] = float("inf")
    assert any(note.endswith("not numbers: 2") for note in observations(table).notes)


def test_exact_repeats_of_a_seed_count_once(table):
    again = table.assign(run=table["run"] + "-again")
    data = observations(pd.concat([table, again]))
    assert len(data.table) == len(table)
    assert any("exact repeats" in note and note.endswith(": 6") for note in data.notes)
    other = observations(pd.concat([table, again.assign(value=again["value"] + 0.5)]))
    assert len(other.table) == 2 * len(table)


def test_axes_that_change_together_are_merged(table):
    data = observations(table.assign(other=table["disk.scheduler"] + "x"))
    assert list(data.levels) == ["disk.scheduler"]
    assert any("disk.scheduler always changes together with other" in note for note in data.notes)
    assert list(observations(table.assign(other=table["disk.scheduler"] + "x"), by=["other"]).levels) == ["other"]


@pytest.mark.parametrize(
    ("by", "message"),
    [
        (["disk.sheduler"], r"no key 'disk.sheduler' \(did you mean 'disk.scheduler'\?\)"),
        (["fs"], "all runs have fs = x"),
    ],
)
def test_unknown_keys_to_group_by_are_refused(table, by, message):
    with pytest.raises(InputError, match=message):
        observations(table.assign(fs="x"), by=by)


def test_a_single_group_is_refused(table):
    with pytest.raises(InputError, match="same spec except for the seed"):
        observations(table[table["disk.scheduler"] == "a"])


def test_runs_with_the_keys_of_their_specs(make):
    paths = [make(f"r{s}{n}", changes={"seed": s, "disk.scheduler": n}) for n in ("none", "bfq") for s in (1, 2)]
    table, notes = runs_table(paths)
    assert notes == ()
    assert set(table["seed"]) == {1, 2}
    assert not table["noisy"].any()
    assert observations(table).levels == {"disk.scheduler": ("none", "bfq")}


def test_a_run_given_twice_counts_once(make):
    path = make("r")
    assert runs_table([path, path])[0]["run"].nunique() == 1


def test_failed_runs_are_left_out_and_named(make):
    good, bad = make("good"), make("_bad", outcome="failed", reason="no disk")
    table, notes = runs_table([good, bad])
    assert set(table["run"]) == {"good"}
    assert notes == ("failed runs, left out: _bad",)
    with pytest.raises(InputError, match="none of these runs succeeded"):
        runs_table([bad])


def test_noisy_runs_are_marked(make):
    stalled = make("stalled", {**BOUNDARIES, "c1": [0, 50 * MS, 300 * MS]}, clock="real")
    table, _ = runs_table([make("calm"), stalled])
    assert set(table[table["noisy"]]["run"]) == {"stalled"}


def test_the_kernel_is_the_one_that_ran(make):
    def kernel(release, build):
        return {"release": release, "build_id": build * 8}

    runs = [make(f"r{i}", kernel=kernel(*of)) for i, of in enumerate([("7.3", "ab"), ("7.3", "cd"), ("6.1", "ef")])]
    table, _ = runs_table(runs)
    assert list(dict.fromkeys(table["kernel"])) == ["7.3 (abababab)", "7.3 (cdcdcdcd)", "6.1"]
    table, _ = runs_table(runs[1:])
    assert list(dict.fromkeys(table["kernel"])) == ["7.3", "6.1"]


def test_options_and_parameters_of_the_kernel_are_keys(make):
    kernels = [
        {"name": "7.3+one", "config": {"X": "y"}, "parameters": {"um_cycles": 0}},
        {"name": "7.3+one", "config": {"X": "n"}, "parameters": {}},
        "7.3+one+X=n",
        "7.3+one",
    ]
    runs = [
        make(f"r{i}", changes={"kernel": kernel}, kernel={"release": "7.3.1", "build_id": build * 8})
        for i, (kernel, build) in enumerate(zip(kernels, ("ab", "cd", "cd", "ef"), strict=True))
    ]
    table = runs_table(runs)[0].drop_duplicates("run")
    assert [*table["kernel"]] == ["7.3.1+one"] * 4
    assert [*table["kernel.config.X"]] == ["y", "n", "n", "-"]
    assert [*table["kernel.parameters.um_cycles"]] == ["0", "-", "-", "-"]
    assert "kernel.name" not in table.columns


def test_the_name_of_a_variant_is_kept(make):
    runs = [
        make(f"v{i}", changes={"kernel": name}, kernel={"release": "7.3.1", "build_id": build * 8})
        for i, (name, build) in enumerate([("7.3", "ab"), ("7.3+hz-1000", "cd"), ("/a/tree+b/linux", "ef")])
    ]
    table, _ = runs_table(runs[:2])
    assert list(dict.fromkeys(table["kernel"])) == ["7.3.1", "7.3.1+hz-1000"]
    table, _ = runs_table(runs[2:])
    assert list(dict.fromkeys(table["kernel"])) == ["7.3.1"]
