"""Fixtures for tests that boot kernels. Each test's runs have a shared-memory directory of their own to check."""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from wblab.data.run import Run, read_run
from wblab.host.bundle import bundle
from wblab.host.command import interpreter
from wblab.host.limits import Limits
from wblab.host.request import ready
from wblab.host.run import run_experiment
from wblab.kernels import Kernel, find_kernel
from wblab.lab.specfile import ROOT, find_spec, read_spec


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.uml)


@pytest.fixture(scope="session")
def kernel() -> Kernel:
    """The default kernel, or the one that $WBLAB_KERNEL names (a series or a path)."""
    built = find_kernel(os.environ.get("WBLAB_KERNEL"))
    assert built, "this kernel is not built: run 'make kernel' or 'wblab kernel build'"
    return built


@dataclass(frozen=True)
class Lab:
    """One place to run experiments in: results in `results`, shared memory in `shm`."""

    kernel: Kernel
    results: Path
    shm: Path

    def run(self, preset: str, *settings: str, readable: Sequence[str] = (), **limits: Any) -> Run:
        """Run a preset; `limits` are those of Limits, by name."""
        spec = read_spec(find_spec(preset), settings)
        request = ready(spec, lambda name: self.kernel)
        bounds = Limits(**limits)
        return read_run(run_experiment(request, self.results, limits=bounds, readable=readable).directory)

    def command(self, *arguments: str) -> list[str]:
        place = ("--exp", str(self.results), "--kernel", str(self.kernel.path))
        return [sys.executable, "-m", "wblab", "run", *place, *arguments]

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """Start the command, as the leader of a process group."""
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
        """Return what should not be there after a run: files in shared memory, processes that use it."""
        mark = f"TMPDIR={self.shm}/".encode()
        processes = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (process / "environ").read_bytes():
                    processes.append((process / "cmdline").read_text().replace("\0", " ")[:80])
            except OSError:
                continue
        return [*os.listdir(self.shm), *processes]


@pytest.fixture(scope="session")
def shared_lab(kernel: Kernel, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """For runs that several tests look at and none disturbs."""
    return Lab(kernel, tmp_path_factory.mktemp("exp"), Path("/dev/shm"))


@pytest.fixture
def lab(kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    shm = Path(tempfile.mkdtemp(prefix="wblab-test-", dir="/dev/shm"))
    monkeypatch.setenv("WBLAB_SHM", str(shm))
    yield Lab(kernel, tmp_path / "exp", shm)
    shutil.rmtree(shm)


@pytest.fixture
def guest_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return what makes the guests of this test run another main program, with the lab's packages beside it."""

    def replace(main: str) -> None:
        changed = tmp_path / "changed.pyz"
        with zipfile.ZipFile(bundle(interpreter())) as original, zipfile.ZipFile(changed, "w") as archive:
            for name in original.namelist():
                if name not in ("__main__.py", "__main__.pyc"):
                    archive.writestr(name, original.read(name))
            archive.writestr("__main__.py", main)
        monkeypatch.setattr("wblab.host.run.bundle", lambda interpreter: changed)

    return replace
