"""What a run takes, as a whole command and part by part, and what `wblab --help` takes."""

import itertools
import json
import os
import statistics
import subprocess
import sys
import time

import pytest
from support.benchlog import report
from support.timing import REPEATS, Spent, cpu_s, piece_s, spent

from wblab.lab.places import ROOT

pytestmark = pytest.mark.bench
WBLAB = [sys.executable, "-m", "wblab"]
RUNS = {
    "base": ["base"],
    "base-device": ["base-device"],
    "base-ext2": ["base-ext2"],
    "base on xfs": ["base", "--set", "disk.filesystem=xfs", "--set", "disk.size=300MiB"],
    "two-disks": ["two-disks"],
}


def call(command):
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("name", RUNS)
def test_whole_command(tmp_path, on_kernel, name):
    command = [*WBLAB, "run", *RUNS[name], *on_kernel, "--exp", str(tmp_path)]
    call(command)  # what is cached is cached then
    report(f"run: {name}", [spent(lambda: call(command)) for _ in range(REPEATS)])


def test_where_the_time_goes(tmp_path, on_kernel):
    runs = [one_run("--exp", str(tmp_path), *on_kernel) for _ in range(REPEATS + 1)][1:]
    for part in runs[0]:
        report(f"base: {part}", [run[part] for run in runs])


def one_run(*options) -> dict[str, Spent]:
    """Return what each part of a run takes, in their order."""
    before_s, start_s, start_cpu_s = piece_s(), time.perf_counter(), cpu_s()
    # As JSON: without it, what explains a run is imported meanwhile, and the guest's words are heard late.
    command = [sys.executable, "-m", "support.phases", "run", "base", "--json", *options]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, env=environment)
    wall_s, used_s = time.perf_counter() - start_s, cpu_s() - start_cpu_s
    mean_s = statistics.mean([before_s, piece_s()])
    marks = json.loads(done.stdout.splitlines()[-1])
    marks.append({"wall_s": marks[0]["wall_s"] + wall_s, "cpu_s": used_s})
    return {
        mark["part"]: Spent(after["wall_s"] - mark["wall_s"], after["cpu_s"] - mark["cpu_s"], mean_s)
        for mark, after in itertools.pairwise(marks)
    }


def test_help():
    report("wblab --help", [spent(lambda: call([*WBLAB, "--help"])) for _ in range(REPEATS)])
