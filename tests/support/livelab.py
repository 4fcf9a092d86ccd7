"""Real runs of live_experiment.py, in directories of the test."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from wblab.analysis.runs.run import Run, read_run
from wblab.lab.places import ROOT
from wblab.machine.tracefs import Instance
from wblab.machine.undo import Undo

from .processes import bearing

PROGRAM = [sys.executable, "-I", "-S", str(ROOT / "live_experiment.py")]  # the standard library must be enough
QUICK = ("--wait", "200ms", "--tail", "200ms")


@dataclass
class Live:
    """Where runs are made: loads write to `disk`, run directories go to `exp`."""

    disk: Path
    exp: Path

    def command(self, *arguments: str) -> list[str]:
        return [*PROGRAM, "--dir", str(self.disk), "--exp", str(self.exp), *QUICK, *arguments]

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, check=False, timeout=600)

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
        """Return a run's live processes, found by the directory in their command lines: pid and name."""
        return bearing("cmdline", str(self.disk))


@pytest.fixture
def tracing() -> Iterator[Path]:
    """The directory of tracefs; skip if the host does not permit tracing."""
    if os.geteuid():
        pytest.skip("only root may trace")
    with Undo() as undo:
        try:
            probe = Instance("probe", undo)
        except OSError as error:
            pytest.skip(f"this host does not let us trace: {error}")
        yield probe.path.parents[1]
