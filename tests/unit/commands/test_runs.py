"""Results are listed, and removed only if they are selected and not in use."""

import fcntl
import json
import os
import time

import pytest
from support.runs import MS, S, write_run_of

from wblab.analysis.groups.resultlist import latest_study
from wblab.cli import main
from wblab.lab.designs import designs
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Results: a run of a preset with two changed keys, a failed one, a study, and a foreign directory."""
    results = tmp_path / "exp"
    spec = read_spec(SPECS.find("base"), ["disk.write_bps=2MiB/s", "seed=3"])
    times = {name: [0, 50 * MS, 3 * S] for name in ("c1", "w1", "mw1")} | {"l1": [0, S], "l2": [0, S]}
    write_run_of(spec, results / "first_base", times)
    os.utime(results / "first_base/experiment.json", (S // S, 1000))
    write_run_of(spec, results / "_second_base", times, outcome="failed", reason="it was made to")
    (results / "study/runs/a-s1").mkdir(parents=True)
    (results / "study/study.json").write_text('{"format": 1, "kind": "study", "design": "matrix"}')
    (results / "mine").mkdir()
    (results / "mine/notes.txt").write_text("of mine")
    return results


def listed(place, capsys, *options):
    assert main(["runs", "--json", "--exp", str(place), *options]) == 0
    return {os.path.basename(item["path"]): item for item in json.loads(capsys.readouterr().out)}


def test_the_table_shows_changes_and_longest_pauses(place, capsys):
    found = listed(place, capsys)
    assert set(found) == {"first_base", "_second_base", "study"}
    first = found["first_base"]
    assert (first["what"], first["state"]) == ("run", "succeeded")
    assert first["summary"] == "base, seed 3, disk.disk.write_bps=2MiB/s"
    assert first["longest_ns"] == 2900 * MS
    assert first["size"] > 0
    assert found["_second_base"]["state"] == "failed"
    assert (found["study"]["what"], found["study"]["summary"]) == ("matrix", "1 run")


def test_the_table_ends_with_the_number_of_runs(place, capsys):
    assert main(["runs", "--exp", str(place), "--last", "1"]) == 0
    out = capsys.readouterr().out
    assert "3 runs and studies" in out
    assert "these are the last 1, --all lists all" in out


def test_nothing_is_removed_by_default(place, capsys):
    assert main(["runs", "--clean", "--failed", "--exp", str(place)]) == 0
    assert "_second_base" in capsys.readouterr().out
    assert (place / "_second_base").is_dir()
    assert main(["runs", "--clean", "--failed", "--yes", "--exp", str(place)]) == 0
    assert sorted(item.name for item in place.iterdir()) == ["first_base", "mine", "study"]


def test_entries_are_removed_by_name_or_age(place):
    assert main(["runs", "--clean", "--older", "1d", "--yes", "--exp", str(place)]) == 0
    assert not (place / "first_base").exists()
    assert main(["runs", "--clean", "study", "--yes", "--exp", str(place)]) == 0
    assert sorted(item.name for item in place.iterdir()) == ["_second_base", "mine"]


@pytest.mark.parametrize("name", ["mine", "..", "no-such", "link"])
def test_foreign_files_are_never_removed(place, capsys, name):
    (place / "link").symlink_to(place / "first_base")
    assert main(["runs", "--clean", name, "--yes", "--exp", str(place)]) == 2
    assert "no run or study" in capsys.readouterr().err
    assert (place / "mine/notes.txt").exists()
    assert (place / "first_base/experiment.json").exists()


def test_a_study_in_use_is_kept(place, capsys):
    descriptor = os.open(place / "study", os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    assert main(["runs", "--clean", "study", "--yes", "--exp", str(place)]) == 2
    assert "is in use" in capsys.readouterr().err
    os.close(descriptor)
    assert (place / "study").is_dir()


def test_an_unfinished_run_of_today_is_kept(place, capsys):
    record = json.loads((place / "_second_base/experiment.json").read_text()) | {"outcome": "unfinished"}
    (place / "_second_base/experiment.json").write_text(json.dumps(record))
    assert main(["runs", "--clean", "--failed", "--yes", "--exp", str(place)]) == 0
    assert (place / "_second_base").is_dir()
    long_ago = time.time() - 2 * 86400
    os.utime(place / "_second_base/experiment.json", (long_ago, long_ago))
    assert main(["runs", "--clean", "--failed", "--yes", "--exp", str(place)]) == 0
    assert not (place / "_second_base").exists()


def test_running_builds_are_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    builds = tmp_path / "wblab/builds"
    for name in ("a", "b"):
        (builds / f"{name}.work/objects").mkdir(parents=True)
        (builds / f"{name}.work.lock").touch()
    descriptor = os.open(builds / "a.work.lock", os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    assert main(["runs", "--clean", "--builds", "--yes"]) == 0
    os.close(descriptor)
    assert sorted(item.name for item in builds.glob("*.work")) == ["a.work"]


@pytest.mark.parametrize("options", [[], ["--older", "soon"]])
def test_removal_needs_a_selection(options, capsys):
    assert main(["runs", "--clean", *options]) == 2


@pytest.mark.parametrize("design", designs())
def test_the_latest_study_of_each_design_is_found(place, design):
    (place / "later").mkdir()
    (place / "later/study.json").write_text(f'{{"format": 1, "kind": "study", "design": "{design}"}}')
    assert latest_study(place, design) == place / "later"


def test_latest_warns_about_a_newer_failed_run(place, capsys):
    main(["why", "--pauses", "latest", "--exp", str(place)])
    assert "the latest run that succeeded; _second_base after it failed" in capsys.readouterr().err
