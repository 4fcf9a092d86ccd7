"""How long each notebook takes to its first figure, in a Jupyter kernel that is up: imports, reading and drawing."""

import json
import os
import subprocess
import sys

import pytest
from support.benchlog import report
from support.timing import REPEATS, Spent, piece_s

from wblab.analysis.runs.flush import BACKGROUND, LIMIT
from wblab.host.request import ready
from wblab.host.run import run_experiment
from wblab.lab.named import MATRICES, SPECS
from wblab.lab.places import ROOT
from wblab.lab.specfile import read_spec
from wblab.notebook import RUN_VARIABLE, RUNS_VARIABLE
from wblab.study.designs.factorial import read_matrix

pytestmark = pytest.mark.bench
_SHORT = ("trace.events=[]", "load.l1.size=24MiB", "load.l1.wait=2s")
_BYTES = ("sysctl.vm.dirty_ratio=0", "sysctl.vm.dirty_background_ratio=0")
_LIMITS = [(f"sysctl.{BACKGROUND}={mib << 20}", f"sysctl.{LIMIT}={mib << 21}") for mib in (1, 2)]
# The runs that a notebook reads; "" reads those of the matrix of its own name, a seed each.
RUNS = {
    "timeline": [("base",)],
    "throttling": [("base",)],
    "why": [("base-device", "trace.lead=1s")],
    "layers": [("layers", "load.s1.count=12", "load.l1.wait=1s", "trace.lead=1s")],
    "compare": [("base", *_SHORT, f"disk.write_bps={rate}") for rate in ("1MiB/s", "2MiB/s")],
    "flush-time": [
        ("base-device", *_SHORT, *_BYTES, *limits, f"disk.write_bps={rate}")
        for limits in _LIMITS
        for rate in ("2MiB/s", "4MiB/s")
    ],
    "paradigms": [("loop", *_SHORT, f"load.s1.paradigm={way}") for way in ("sync", "threads")],
    "blocks": [],
}


@pytest.mark.parametrize("name", RUNS)
def test_first_figure(kernel, tmp_path, name):
    specs = [read_spec(SPECS.find(preset), settings) for preset, *settings in RUNS[name]]
    specs = specs or [cell.with_seed(1) for cell in read_matrix(MATRICES.find(name)).cells]
    runs = [run_experiment(ready(spec, lambda _: kernel), tmp_path / "exp").directory for spec in specs]
    environment = {
        RUN_VARIABLE: str(runs[0]),
        RUNS_VARIABLE: os.pathsep.join(map(str, runs)),
        "PYTHONPATH": str(ROOT / "tests"),
        "IPYTHONDIR": str(tmp_path / "ipython"),
    }

    def once() -> Spent:
        before_s = piece_s()
        command = [sys.executable, "-m", "support.firstfigure", str(ROOT / "analysis" / f"{name}.ipynb")]
        done = subprocess.run(command, env=os.environ | environment, check=True, capture_output=True, text=True)
        took = json.loads(done.stdout.splitlines()[-1])
        return Spent(took["wall_s"], took["cpu_s"], (before_s + piece_s()) / 2)

    once()
    report(f"notebook: {name}", [once() for _ in range(REPEATS)])
