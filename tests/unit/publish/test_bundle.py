"""A run or a study goes into a file and comes out the same, to the bit; the same run gives the same file."""

import json
import os
import shutil
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from support.forge import pieces_of, sealed, spelt, written
from support.originals import guest_run, live_run, matrix, rows

from wblab.analysis.runs.digest import digest
from wblab.analysis.runs.run import read_run
from wblab.cli import main
from wblab.publish.bundle import members
from wblab.publish.bundle import pack as private
from wblab.publish.bundle.pack import pack
from wblab.study.store import Store

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture
def wblab(tmp_path, monkeypatch, capsys):
    """Run the command in a directory of its own; return its exit code and what it printed."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def run(*words):
        code = main([str(word) for word in words])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def run(tmp_path) -> Path:
    guest_run(tmp_path / "exp/2026-01-01_00-00-00_base")
    return tmp_path / "exp/2026-01-01_00-00-00_base"


@pytest.fixture
def study(tmp_path) -> Path:
    (tmp_path / "exp").mkdir(exist_ok=True)
    matrix(tmp_path / "exp/m")
    return tmp_path / "exp/m"


def contents(directory: Path, but=()) -> dict[str, bytes]:
    files = (path for path in directory.rglob("*") if path.is_file())
    return {name: path.read_bytes() for path in files if (name := str(path.relative_to(directory))) not in but}


def test_a_run_comes_out_as_it_went_in(run, tmp_path, wblab):
    code, output, errors = wblab("pack", run)
    assert (code, errors) == (0, "wblab: left out: console.log\n")
    file = f"{run.name}.wblab"
    assert output.split() == [subprocess.check_output(["sha256sum", file], text=True).split()[0], file]
    assert wblab("open", file, "--to", tmp_path / "new")[0] == 0
    assert contents(tmp_path / "new") == contents(run, but=["console.log"])
    assert digest(read_run(tmp_path / "new")) == digest(read_run(run))


def test_a_study_comes_out_with_its_rows(study, tmp_path, wblab):
    assert wblab("pack", study)[0] == 0
    assert wblab("open", "m.wblab", "--to", tmp_path / "new")[0] == 0
    assert contents(tmp_path / "new") == contents(study)  # its rows too, which are read from its directories
    assert wblab("compare", tmp_path / "new")[0] == 0


def test_a_study_of_rows_comes_out_with_all_of_them(tmp_path, wblab):
    (tmp_path / "exp").mkdir()
    rows(tmp_path / "exp/m")
    before = [row.name for row in Store.open(tmp_path / "exp/m").rows.all()]
    code, output, errors = wblab("pack", tmp_path / "exp/m")
    assert (code, errors) == (0, "")
    with zipfile.ZipFile("m.wblab") as archive:
        assert archive.namelist() == ["bundle.json", "cells.json.zst", "rows/0000.parquet", "study.json"]
        about = json.loads(archive.read("bundle.json"))
    assert (about["study"]["rows"], about["study"]["cells"], about["runs"]) == (4, [], [])
    code, output, errors = wblab("open", "m.wblab", "--keep", "--exp", tmp_path / "new")
    assert (code, errors) == (0, "")
    assert "a row of each of 4 runs" in output
    kept = Store.open(tmp_path / "new/m")
    assert [row.name for row in kept.rows.all()] == sorted(before)
    with kept.held():
        assert len(kept.missing()) == 2  # wblab study --resume can make them


def test_a_row_is_chosen_by_cell_and_seed(tmp_path, wblab, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rows(tmp_path / "m")
    wblab("pack", tmp_path / "m")
    _, output, _ = wblab("open", "m.wblab", "--run", "0-none/1")
    assert "wblab repeat m.wblab --run 0-none-s1" in output
    code, _, errors = wblab("open", "m.wblab", "--run", "0-none/9")
    assert (code, errors.count("\n")) == (2, 1)
    assert "has no run '0-none/9': it has 0-none-s1, " in errors
    code, _, errors = wblab("repeat", "m.wblab", "--exp", tmp_path / "new")
    assert (code, errors.count("\n")) == (2, 1)
    assert "it was made by Linux 7.3.0, build aaaaaaaaaaaa: " in errors
    assert list((tmp_path / "new").iterdir()) == []


def test_the_same_run_gives_the_same_file(run, tmp_path):
    copy = shutil.copytree(run, tmp_path / "elsewhere" / run.name)
    os.utime(copy / "trace.dat", (1, 1))
    (copy / "trace.dat").chmod(0o600)
    pack(run, tmp_path / "a.wblab")
    pack(copy, tmp_path / "b.wblab")
    assert (tmp_path / "a.wblab").read_bytes() == (tmp_path / "b.wblab").read_bytes()


def test_any_program_reads_the_file(run, tmp_path):
    pack(run, tmp_path / "a.wblab")
    with zipfile.ZipFile(tmp_path / "a.wblab") as archive:
        assert archive.testzip() is None
        assert archive.namelist()[0] == "bundle.json"
        about = json.loads(archive.read("bundle.json"))
        assert [item["name"] for item in about["files"]] == archive.namelist()[1:]
    assert about["digest"] == about["runs"][0]["digest"] == digest(read_run(run))
    assert about["runs"][0]["headline"] == "mw1 was stalled once, for 1.40 s; w1 had no pause over 300 ms."
    longest = {row["load"]: row["longest_pause_ns"] for row in about["runs"][0]["pauses"]}
    assert longest["mw1"] == 1_400_000_000


def test_what_does_not_belong_to_a_run_stays_out_and_is_named(run, tmp_path, wblab):
    (run / "left/deep").mkdir(parents=True)
    (run / "left/deep/answer.txt").write_text("42\n")
    (run / "timeline.png").write_bytes(b"png")
    (run / "why.html").write_text("<script>")
    (run / ".secret").write_text("secret")
    (run / "notes").mkdir()
    (run / "notes/experiment.json").write_text("{}")
    (run / "load.x.json").symlink_to("/etc/passwd")
    code, _, errors = wblab("pack", run)
    assert code == 0
    said = "wblab: left out: .secret, console.log, load.x.json, notes/experiment.json, timeline.png, why.html\n"
    assert errors == said
    with zipfile.ZipFile(f"{run.name}.wblab") as archive:
        assert "left/deep/answer.txt" in archive.namelist()
        assert not {"why.html", ".secret", "load.x.json"} & set(archive.namelist())


def test_a_failed_run_goes_with_its_console(tmp_path, wblab):
    guest_run(tmp_path / "run")
    path = tmp_path / "run/experiment.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"outcome": "failed", "reason": "it hung"}))
    (tmp_path / "run").rename(tmp_path / "_run")
    assert wblab("pack", tmp_path / "_run")[::2] == (0, "")
    code, output, _ = wblab("open", "_run.wblab", "--keep", "--exp", tmp_path / "exp")
    assert code == 0
    assert "outcome failed: it hung" in output
    assert (tmp_path / "exp/_run/console.log").read_text() == "the console\n"


def test_nothing_is_overwritten(run, tmp_path, wblab):
    assert wblab("pack", run, "-o", "a.wblab")[0] == 0
    assert wblab("pack", run, "-o", "a.wblab")[0] == 2
    (tmp_path / "there").mkdir()
    code, _, errors = wblab("open", "a.wblab", "--to", tmp_path / "there")
    assert (code, errors.count("\n")) == (2, 1)
    assert list((tmp_path / "there").iterdir()) == []


def test_one_that_is_kept_already_is_not_kept_twice(run, tmp_path, wblab):
    pack(run, tmp_path / "a.wblab")
    place = tmp_path / "results"
    for _ in range(2):
        assert wblab("open", tmp_path / "a.wblab", "--keep", "--exp", place)[0] == 0
    assert [path.name for path in place.iterdir()] == [run.name]
    (place / run.name / "load.mw1.json").unlink()
    assert wblab("open", tmp_path / "a.wblab", "--keep", "--exp", place)[0] == 0
    assert sorted(path.name for path in place.iterdir()) == [run.name, f"{run.name}-2"]


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (live_run, "is a live run"),
        (lambda path: path.mkdir(), "no run"),
        (lambda path: (guest_run(path), damage(path / "load.mw1.npy")), "damaged"),
        (lambda path: (guest_run(path), unfinished(path)), "has not ended"),
    ],
)
def test_what_cannot_be_packed_is_refused_in_one_line(make, reason, tmp_path, wblab):
    make(tmp_path / "x")
    code, _, errors = wblab("pack", tmp_path / "x")
    assert (code, errors.count("\n")) == (2, 1)
    assert reason in errors
    assert os.listdir() == []


def damage(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def unfinished(path: Path) -> None:
    record = json.loads((path / "experiment.json").read_text())
    (path / "experiment.json").write_text(json.dumps(record | {"outcome": "unfinished"}))


def test_a_run_that_is_not_of_its_cell_is_refused(study, tmp_path, wblab):
    shutil.rmtree(study / "runs/0-none-s1")
    (study / "runs/1-bfq-s1").rename(study / "runs/0-none-s1")
    code, _, errors = wblab("pack", study)
    assert (code, errors.count("\n")) == (2, 1)
    assert "has another spec than its cell" in errors


def test_runs_of_a_study_are_chosen_by_cell_and_seed(study, tmp_path, wblab):
    pack(study, tmp_path / "m.wblab")
    assert "study   matrix: 2 cells, 2 seeds, 3 runs\n" in wblab("open", tmp_path / "m.wblab")[1]
    code, output, _ = wblab("open", tmp_path / "m.wblab", "--run", "0-none/2")
    assert code == 0
    assert "seed 2" in output
    assert wblab("open", tmp_path / "m.wblab", "--run", "0-none-s2")[1] == output
    code, _, errors = wblab("open", tmp_path / "m.wblab", "--run", "x/1")
    assert (code, errors) == (
        2,
        f"wblab: '{tmp_path}/m.wblab' has no run 'x/1': it has 0-none-s1, 0-none-s2, 1-bfq-s1\n",
    )


def test_a_false_headline_is_not_shown(run, tmp_path, wblab):
    pack(run, tmp_path / "a.wblab")
    about, *rest = pieces_of((tmp_path / "a.wblab").read_bytes())
    told = json.loads(about.content)
    told["runs"][0]["headline"] = "Nothing was stalled."
    (tmp_path / "a.wblab").write_bytes(written(sealed([replace(about, content=spelt(told)), *rest])))
    code, output, errors = wblab("open", tmp_path / "a.wblab")
    assert code == 0
    assert "mw1 was stalled once, for 1.40 s" in output
    assert "Nothing" not in output
    assert errors.startswith("wblab: the file words what ")


def test_what_names_this_machine_is_said(run, tmp_path, wblab, monkeypatch):
    monkeypatch.setenv("HOME", "/home/annabel")
    private._facts.cache_clear()
    record = json.loads((run / "experiment.json").read_text())
    record["guest"] = {"python": "/home/annabel/bin/python3"}
    (run / "experiment.json").write_text(json.dumps(record))
    code, _, errors = wblab("pack", run)
    private._facts.cache_clear()
    assert code == 0
    assert "experiment.json has a path below your home /home/annabel: look at it before" in errors


def test_a_kernel_that_is_not_here_is_asked_for(run, tmp_path, wblab, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    pack(run, tmp_path / "a.wblab")
    code, _, errors = wblab("repeat", tmp_path / "a.wblab", "--exp", tmp_path / "results")
    assert (code, errors.count("\n")) == (2, 1)
    assert "it was made by Linux 7.3.0, build aaaaaaaaaaaa: " in errors
    assert "'wblab kernel build" in errors
    assert list((tmp_path / "results").iterdir()) == []


@pytest.mark.parametrize(
    "name",
    ["..", "../x", "/x", "a//b", "left", "left/", "left/..", "left/a/../b", "left/./a", "x.html", "table.parquet",
     "timeline.png", "load.x y.npy", "trace.dat\n", "runs/x/trace.dat", "", "left/" + "a/" * 12 + "a"],
)  # fmt: skip
def test_other_names_are_no_files_of_a_run(name):
    assert not members.is_member(name, "run")


@pytest.mark.parametrize("name", ["runs/a/b/trace.dat", "runs/../trace.dat", "runs/trace.dat", "trace.dat", "x.html"])
def test_other_names_are_no_files_of_a_study(name):
    assert not members.is_member(name, "study")


@pytest.mark.parametrize("title", ["..", ".x", "a/b", "", "a b", "-o", "x" * 200, None, "a\n"])
def test_other_texts_are_no_names(title):
    assert not members.is_title(title)


@pytest.mark.parametrize(
    ("kind", "found"), [("run", "c288829dc726"), ("study", "9da560bee0d0"), ("rows", "6ce37917cff0")]
)
def test_files_of_the_first_format_are_read(kind, found, wblab):
    code, output, errors = wblab("open", DATA / f"bundles/{kind}.wblab", "--json")
    assert (code, errors) == (0, "")
    assert json.loads(output)["digest"].startswith(found)
