"""How long each notebook takes to its first figure, in a Jupyter kernel that is up: imports, reading and drawing."""

import json
import os
import subprocess
import sys

import pytest
from flush_time import BACKGROUND, LIMIT_BYTES
from support.benchlog import report
from support.timing import REPEATS, Spent, piece_s

from wblab.lab.places import ROOT
from wblab.lab.results import MATRICES

pytestmark = pytest.mark.bench
_SHORT = '[set]\n"trace.events" = []\n"load.l1.size" = "24MiB"\n"load.l1.wait" = "2s"\n'
_LIMITS = ", ".join(
    f'{{ "sysctl.{BACKGROUND}" = {mib << 20}, "sysctl.{LIMIT_BYTES}" = {mib << 21}, '
    '"sysctl.vm.dirty_ratio" = 0, "sysctl.vm.dirty_background_ratio" = 0 }'
    for mib in (1, 2)
)
# What a notebook finds: the run of a preset, or a small study of the name of the one that it asks for.
RUNS = {"timeline": "base", "throttling": "base", "why": "base-device", "layers": "layers"}
STUDIES = {
    "compare": f'name = "mitigation"\nbase = "base"\n{_SHORT}[axes]\n"disk.write_bps" = ["1MiB/s", "2MiB/s"]\n',
    "flush-time": f'name = "flush-time"\nbase = "base-device"\n{_SHORT}[axes]\nlimits = [{_LIMITS}]\n'
    '"disk.write_bps" = ["2MiB/s", "4MiB/s"]\n',
    "paradigms": f'name = "loops"\nbase = "loop"\n{_SHORT}[axes]\n"load.s1.paradigm" = ["sync", "threads"]\n',
    "blocks": MATRICES.find("blocks").read_text(),
}


@pytest.mark.parametrize("name", [*RUNS, *STUDIES])
def test_first_figure(kernel, tmp_path, name):
    environment = os.environ | {
        "WBLAB_EXP": str(tmp_path / "exp"),
        "PYTHONPATH": f"{ROOT / 'tests'}:{ROOT / 'analysis'}",
        "IPYTHONDIR": str(tmp_path / "ipython"),
    }
    made = ["run", RUNS[name]] if name in RUNS else ["matrix", str(tmp_path / "study.toml"), "--seeds", "1"]
    (tmp_path / "study.toml").write_text(STUDIES.get(name, ""))
    subprocess.run([sys.executable, "-m", "wblab", *made], cwd=ROOT, env=environment, check=True)

    def once() -> Spent:
        before_s = piece_s()
        command = [sys.executable, "-m", "support.firstfigure", str(ROOT / "analysis" / f"{name}.ipynb")]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        took = json.loads(done.stdout.splitlines()[-1])
        return Spent(took["wall_s"], took["cpu_s"], (before_s + piece_s()) / 2)

    once()
    report(f"notebook: {name}", [once() for _ in range(REPEATS)])
