"""Studies whose command is killed: each goes on, no run is made twice, and nothing is left behind."""

import os
import signal
import subprocess
import sys

import pytest
from support.waiting import LIMIT_S, wait_until

from wblab.lab.formats import RUNS
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


def times(study):
    return {path.name: path.stat().st_mtime_ns for path in (study / RUNS).glob("[!_.]*")}


@pytest.mark.parametrize("verb", STUDIES)
def test_a_study_that_is_killed_goes_on_and_makes_no_run_twice(lab, tmp_path, verb):
    (tmp_path / "matrix.toml").write_text(MATRIX)
    (tmp_path / "design.toml").write_text(DESIGN)
    command = [sys.executable, "-m", "wblab", verb]
    place = ["--exp", str(lab.results), "--kernel", str(lab.kernel.path), "--jobs", "1"]
    options = {"cwd": tmp_path, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}

    with subprocess.Popen([*command, *STUDIES[verb], *place], **options) as process:
        wait_until(lambda: [path for path in lab.results.glob(f"*/{RUNS}/[!_.]*") if not process.poll()])
        os.killpg(process.pid, signal.SIGKILL)
    wait_until(lambda: lab.left_behind() == [])
    (study,) = lab.results.iterdir()
    before, store = times(study), Store.open(study, verb)
    assert store.missing()

    again = subprocess.run([*command, "--resume", "latest", *place], **options, timeout=LIMIT_S * 4, check=False)
    assert again.returncode == 0
    after = times(study)
    assert {name: after[name] for name in before} == before
    assert len(after) == len(store.plan.runs())
    assert Store.open(study).missing() == []
    assert lab.left_behind() == []
