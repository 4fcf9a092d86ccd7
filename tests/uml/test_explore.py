"""Explorations of a few real runs: killed and resumed, analysed, and one row repeated."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.progress import without_progress
from support.waiting import wait_until

from wblab.lab.places import ROOT

LIMIT_S = 250.0
DESIGN = """
base = "base-device"
runs = {runs}
[set]
kernel = "{kernel}"
"trace.events" = []
"sysctl.vm.dirty_ratio" = 0
"sysctl.vm.dirty_background_ratio" = 0
"load.l1.wait" = "1s"
"load.l1.size" = "4MiB"
"load.l2.wait" = "1s"
"load.l2.size" = "1MiB"
[factors.limit]
key = "sysctl.vm.dirty_bytes"
low = "1MiB"
high = "8MiB"
scale = "log"
step = "4KiB"
[factors."disk.scheduler"]
levels = ["none", "bfq"]
[derived]
"sysctl.vm.dirty_background_bytes" = "limit / 2"
"""


@pytest.fixture
def start(lab):
    def run(*arguments: object) -> "subprocess.Popen[str]":
        place = ("--exp", str(lab.results), "--kernel", str(lab.kernel.path))
        command = [sys.executable, "-m", "wblab", "explore", *map(str, arguments), *place]
        return subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )

    return run


@pytest.fixture
def design(lab, tmp_path):
    def write(runs: int) -> Path:
        path = tmp_path / "short.toml"
        path.write_text(DESIGN.format(runs=runs, kernel=lab.kernel.path))
        return path

    return write


def finished(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    output, errors = process.communicate(timeout=LIMIT_S)
    return process.returncode, output, without_progress(errors)


def done(lab) -> dict[str, int]:
    """Return the time at which each finished run got its name, in ns, by that name."""
    return {path.name: path.stat().st_ctime_ns for path in lab.results.glob("*/runs/[!_.]*")}


def test_a_killed_exploration_resumes_and_its_rows_are_reproducible(lab, design, start):
    process = start(design(16), "--jobs", "1")
    wait_until(lambda: len(done(lab)) >= 3, LIMIT_S)
    os.killpg(process.pid, signal.SIGKILL)
    finished(process)
    before = done(lab)
    assert 3 <= len(before) < 16
    (directory,) = lab.results.iterdir()
    code, output, errors = finished(start("--resume", directory, "--json"))
    assert (code, errors) == (0, "")
    found = json.loads(output)
    assert (found["runs"], found["failures"], found["made_now"]) == (16, [], 16 - len(before))
    after = done(lab)
    assert set(after) == {f"{number:02}-s1" for number in range(16)}
    assert {name: after[name] for name in before} == before
    factors = [factor["name"] for factor in found["analysis"]["factors"]]
    assert factors == ["limit", "disk.scheduler", "dummy"]
    code, output, errors = finished(start(directory, "--row", "3"))
    assert (code, errors) == (0, "")
    assert "identical: every cycle of every load, and every event" in output
    assert lab.left_behind() == []


def test_an_invalid_row_is_refused_before_anything_boots(lab, design, start):
    path = design(16)
    path.write_text(path.read_text().replace('"limit / 2"', '"limit / (limit - limit)"'))
    code, output, errors = finished(start(path))
    assert (code, output) == (2, "")
    assert errors.startswith(f"wblab: {path}: row 0: derived.sysctl.vm.dirty_background_bytes: ")
    assert len(errors.splitlines()) == 1
    assert not lab.results.exists() or not list(lab.results.iterdir())
