"""A bisection of real runs. Building kernels takes minutes: one kernel with different disks represents all commits."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.midway import killed, made
from support.ratedkernels import FAST, SHORT, SLOW, make_kernel
from support.repository import make_repository

from wblab.cli import main
from wblab.host.sandbox import Sandbox
from wblab.study.designs.bisect import run


@pytest.fixture
def commits(tmp_path):
    """Make a repository of six commits, the fourth of which makes the disk slower; return their hashes."""
    made = make_repository(tmp_path / "linux", rate=FAST, comment="0")
    rates = [FAST] * 2 + [SLOW] * 3
    others = [made.commit(f"change {number}", rate=rate, comment=f"{number}") for number, rate in enumerate(rates, 1)]
    return made.path, [made.git("rev-parse", "HEAD~5"), *others]


@pytest.fixture
def built(kernel, tmp_path, monkeypatch):
    """Replace the build of a commit; return the list of built commits."""
    # These kernels are scripts, which execute a shell and the real one.
    monkeypatch.setattr("wblab.host.run.guest_sandbox", lambda *_, **__: Sandbox(runs=["/"], reads=["/"], calls=""))
    names = []

    def build(tree: Path, description: str, place: Path, *, options, report, say):
        names.append(description)
        texts = {key: (tree / key).read_text() for key in ("rate", "comment")}
        path = make_kernel(tmp_path / f"linux-{len(names)}", kernel.path, **texts)
        return replace(kernel, path=path, source=description)

    monkeypatch.setattr(run, "build_tree", build)
    monkeypatch.setattr(run, "check_patches", lambda *_: None)
    return names


def test_the_commit_that_changed_a_figure_is_found(lab, commits, built, capsys, monkeypatch):
    tree, hashes = commits
    settings = [word for setting in ("trace.events=[]", *SHORT) for word in ("--set", setting)]
    monkeypatch.chdir(tree)
    wanted = [hashes[0], "HEAD", "--metric", "l1.mean_cycle_s", "--spec", "base-device", *settings]
    assert main(["bisect", *wanted, "--exp", str(lab.results), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["first_bad"]["hash"] == hashes[3]
    assert answer["after"]["median"] > 2 * answer["before"]["median"]
    assert answer["change"]["low"] > 0
    directory = Path(answer["directory"])
    assert json.loads((directory / "bisect.json").read_text())["first_bad"]["subject"] == "change 3"
    runs = sorted(path.name for path in (directory / "runs").iterdir())
    assert {f"{hashes[0][:12]}-s{seed}" for seed in (1, 2, 3)} <= set(runs)
    assert len(runs) == 3 * len(built)
    compared = [str(directory / "runs" / name) for name in runs if name.startswith((hashes[0][:12], hashes[5][:12]))]
    assert main(["compare", *compared, "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)["groups"]) == {hashes[0][:12], hashes[5][:12]}

    times = {path: path.stat().st_mtime_ns for path in (directory / "runs").iterdir()}
    assert main(["bisect", "--resume", str(directory)]) == 0
    assert capsys.readouterr().out.startswith(f"First bad commit: {hashes[3]}\n")
    assert {path: path.stat().st_mtime_ns for path in (directory / "runs").iterdir()} == times


def test_a_killed_bisection_resumes_without_repeating_runs(lab, commits, built, capsys):
    tree, hashes = commits
    settings = [word for setting in ("trace.events=[]", *SHORT) for word in ("--set", setting)]
    wanted = ["bisect", hashes[0], hashes[5], "--metric", "l1.mean_cycle_s", "--spec", "base-device", *settings]
    place = ["--tree", str(tree), "--exp", str(lab.results), "--jobs", "1"]
    study = killed([*wanted, *place], lab.results, 4, lab.left_behind)
    before = made(study)
    assert main(["bisect", "--resume", str(study), "--tree", str(tree)]) == 0
    assert capsys.readouterr().out.startswith(f"First bad commit: {hashes[3]}\n")
    after = made(study)
    assert len(before) < len(after)  # killed midway, however late a busy machine noticed
    assert {name: after[name] for name in before} == before
    assert lab.left_behind() == []


def test_a_bisection_without_a_difference_stops(lab, commits, built, capsys):
    tree, hashes = commits
    settings = [word for setting in ("trace.events=[]", *SHORT) for word in ("--set", setting)]
    wanted = [hashes[0], hashes[1], "--metric", "l1.mean_cycle_s", "--spec", "base-device", *settings]
    wanted += ["--tree", str(tree), "--exp", str(lab.results), "--seeds", "3"]
    assert main(["bisect", *wanted]) == 1
    assert "does not differ between GOOD and BAD" in capsys.readouterr().err
    assert len(built) == 2
