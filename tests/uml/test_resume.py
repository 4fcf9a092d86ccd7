"""Studies whose command is killed: each can be resumed, no run is repeated, and nothing is left behind."""

import pytest
from support.midway import killed, made

from wblab.cli import main
from wblab.study.store import Store

MATRIX = """
base = "base"
seeds = 3
[set]
"trace.events" = []
"load.l1.size" = "4MiB"
"load.l2.size" = "4KiB"
[axes]
"disk.scheduler" = ["none", "bfq"]
"""
DESIGN = """
base = "base"
runs = 6
[set]
"trace.events" = []
"load.l1.size" = "4MiB"
"load.l2.size" = "4KiB"
[factors."disk.scheduler"]
levels = ["none", "bfq"]
[responses.longest]
metric = "longest_pause_s"
of = "innocent"
"""
STUDIES = {
    "matrix": ("matrix.toml",),
    "explore": ("design.toml",),
    "verify": ("openat-ext4", "fills-ext4", "bfq-throttled", "--seeds", "3"),
    "twin": ("--from-host", ".", "--disk", "usb-stick", "--seeds", "4"),
}


@pytest.mark.parametrize("verb", STUDIES)
def test_a_killed_study_resumes_without_repeating_runs(lab, tmp_path, monkeypatch, verb):
    (tmp_path / "matrix.toml").write_text(MATRIX)
    (tmp_path / "design.toml").write_text(DESIGN)
    monkeypatch.chdir(tmp_path)
    place = ["--exp", str(lab.results), "--kernel", str(lab.kernel.path), "--jobs", "1"]
    study = killed([verb, *STUDIES[verb], *place], lab.results, 1, lab.left_behind)
    before, store = made(study), Store.open(study, verb)
    assert store.missing()

    assert main([verb, "--resume", "latest", *place]) == 0
    after = made(study)
    assert {name: after[name] for name in before} == before
    assert len(after) == len(store.plan.runs())
    assert Store.open(study).missing() == []
    assert lab.left_behind() == []


def test_a_killed_proof_resumes_without_repeating_runs(lab):
    run, kernel = lab.run("base", "trace.lead=1s"), str(lab.kernel.path)
    arguments = ["why", str(run.path), "--prove", "--suspect", "l1", "--kernel", kernel]
    study = killed(arguments, run.path / "proof", 2, lab.left_behind)
    before = made(study)
    assert main(arguments) == 0
    after = made(study)
    assert len(after) > len(before)
    assert {name: after[name] for name in before} == before
    assert main(arguments) == 0
    assert made(study) == after
    assert lab.left_behind() == []
