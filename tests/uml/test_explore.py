"""Explorations of a few real runs: analysed, resumed, and one row repeated."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.midway import made
from support.progress import without_progress

from wblab.lab.formats import RUNS
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
    def run(*arguments: object, verb: str = "study") -> "subprocess.Popen[str]":
        place = ("--exp", str(lab.results), "--kernel", str(lab.kernel.path))
        command = [sys.executable, "-m", "wblab", verb, *map(str, arguments), *place]
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


def test_a_lost_row_is_made_again_and_a_row_is_reproducible(lab, design, start):
    code, output, errors = finished(start(design(8), "--json"))
    assert (code, errors) == (0, "")
    first = json.loads(output)
    (directory,) = lab.results.iterdir()
    before = made(directory)
    assert before.keys() == {f"{number}-s1" for number in range(8)}
    shutil.rmtree(directory / RUNS / "7-s1")
    code, output, errors = finished(start("--resume", "latest", "--json"))
    assert (code, errors) == (0, "")
    found = json.loads(output)
    assert (found["runs"], found["failures"], found["made_now"]) == (8, [], 1)
    assert found["analysis"] == first["analysis"]
    assert dict(before.items() - made(directory).items()).keys() == {"7-s1"}
    factors = [factor["name"] for factor in found["analysis"]["factors"]]
    assert factors == ["limit", "disk.scheduler", "dummy"]
    code, output, errors = finished(start(directory / RUNS / "3-s1", verb="repeat"))
    assert (code, errors) == (0, "")
    assert "Identical: every cycle of every load, and every event." in output
    assert lab.left_behind() == []


def test_an_invalid_row_is_refused_before_anything_boots(lab, design, start):
    path = design(8)
    path.write_text(path.read_text().replace('"limit / 2"', '"limit / (limit - limit)"'))
    code, output, errors = finished(start(path))
    assert (code, output) == (2, "")
    assert errors.startswith(f"wblab: {path}: row 0: derived.sysctl.vm.dirty_background_bytes: ")
    assert len(errors.splitlines()) == 1
    assert not lab.results.exists() or not list(lab.results.iterdir())
