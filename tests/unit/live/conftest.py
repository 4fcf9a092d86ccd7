"""Real runs of live_experiment.py, in directories of the test."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from wblab.data.run import Run, read_run
from wblab.lab.specfile import ROOT
from wblab.machine.tracefs import Instance
from wblab.machine.undo import Undo

PROGRAM = [sys.executable, "-I", "-S", str(ROOT / "live_experiment.py")]  # the standard library must do
QUICK = ("--wait", "200ms", "--tail", "200ms")


@dataclass
class Live:
    """Where runs are made: loads write to `disk`, run directories are in `exp`."""

    disk: Path
    exp: Path

    def command(self, *arguments: str) -> list[str]:
        return [*PROGRAM, "--dir", str(self.disk), "--exp", str(self.exp), *QUICK, *arguments]

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, check=False, timeout=200)

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            self.command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )

    def made(self) -> Run:
        (path,) = self.exp.iterdir()
        return read_run(path)

    def record(self) -> dict:
        (path,) = self.exp.iterdir()
        return json.loads((path / "experiment.json").read_text())

    def processes(self) -> dict[int, str]:
        """Return the processes of a run that are alive, by the directory in their command lines: pid and name."""
        found = {}
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if str(self.disk).encode() in (process / "cmdline").read_bytes():
                    found[int(process.name)] = (process / "comm").read_text().strip()
            except OSError:
                continue
        return found


def wait_until(condition, limit_s=60.0):
    deadline_s = time.monotonic() + limit_s
    while not (value := condition()):
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
    return value


@pytest.fixture
def live(tmp_path):
    (tmp_path / "disk").mkdir()
    return Live(tmp_path / "disk", tmp_path / "exp")


@pytest.fixture
def tracing():
    """The directory of tracefs, where this host lets us trace."""
    if os.geteuid():
        pytest.skip("only root may trace")
    with Undo() as undo:
        try:
            probe = Instance(f"wblab-probe-{os.getpid()}", undo)
        except OSError as error:
            pytest.skip(f"this host does not let us trace: {error}")
        yield probe.path.parents[1]
