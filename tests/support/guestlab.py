"""A directory for running guests and checking what they leave behind."""

import fcntl
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from wblab.analysis.runs.run import Run, read_run
from wblab.core.tables import to_table
from wblab.host.bundle import sources_sha256
from wblab.host.process.limits import Limits
from wblab.host.request import ready
from wblab.host.run import run_experiment
from wblab.kernels import Kernel
from wblab.lab.places import ROOT
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec

from .processes import bearing


@dataclass(frozen=True)
class Lab:
    """One place to run experiments in: results in `results`, shared memory in `shm`."""

    kernel: Kernel
    results: Path
    shm: Path
    kept: Path | None = None  # of all processes of a test session: runs that any of them made

    def run(self, preset: str, *settings: str, readable: Sequence[str] = (), **limits: Any) -> Run:
        """Run a preset; `limits` are fields of Limits, by name."""
        spec = read_spec(SPECS.find(preset), settings)
        request = ready(spec, lambda name: self.kernel)
        bounds = Limits(**limits)
        return read_run(run_experiment(request, self.results, limits=bounds, readable=readable).directory)

    def once(self, preset: str, *settings: str) -> Run:
        """Return the run of a preset that this test session has made, or make it: for tests that only read it.

        It is the same to the bit whoever makes it. What proves that uses `run`, which always makes one.
        """
        assert self.kept
        spec = read_spec(SPECS.find(preset), settings)
        inputs = repr((to_table(spec), self.kernel.build_id, sources_sha256()))
        place = self.kept / sha256(inputs.encode()).hexdigest()
        place.mkdir(parents=True, exist_ok=True)
        with (place / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            made = next(place.glob("[0-9]*"), None)
            return read_run(made) if made else replace(self, results=place).run(preset, *settings)

    def command(self, *arguments: str) -> list[str]:
        place = ("--exp", str(self.results), "--kernel", str(self.kernel.path))
        return [sys.executable, "-m", "wblab", "run", *place, *arguments]

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """Start the command as the leader of a process group."""
        return subprocess.Popen(
            self.command(*arguments),
            cwd=ROOT,
            env=os.environ | {"WBLAB_SHM": str(self.shm)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
        )

    def left_behind(self) -> list[str]:
        """Return what must not exist after a run: files in shared memory, processes that use it."""
        left = bearing("environ", f"TMPDIR={self.shm}/")
        return [*os.listdir(self.shm), *(f"{name} ({pid})" for pid, name in left.items())]
