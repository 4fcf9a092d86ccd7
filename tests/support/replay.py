"""A run of a fixture by a copy of the lab, under a condition of the host."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from wblab.analysis.runs.difference import first_differences
from wblab.analysis.runs.digest import digest
from wblab.analysis.runs.run import Run, read_run
from wblab.host.command import interpreter
from wblab.kernels import Kernel

from .conditions import CONDITIONS, set_up_otherwise
from .quickruns import FIXTURES
from .witness import testimony

_EVENTS = '["block:block_rq_*", "jbd2", "sched:sched_switch", "writeback:balance_dirty_pages"]'


def replay(lab: Path, kernel: Kernel, fixture: str, name: str, place: Path, *more: str) -> Run:
    """Make a run under the condition of this name, in a new directory in `place`, with the settings in `more`.

    Skips the test if rights are missing.
    """
    condition = CONDITIONS[name]
    if os.geteuid() and (condition.user or condition.set_up):
        pytest.skip(f"needs root, for the condition {name!r}")
    if not condition.landlock and asks_the_host():
        pytest.skip("only Landlock hides the host's memory policy from this Python: the mimalloc in it asks for it")
    preset, settings = FIXTURES[fixture]
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="wblab-tests-") as home:  # other users can reach it
        shutil.copy2(kernel.path, Path(home, "linux"))
        set_up = set_up_otherwise(Path(home)) if condition.set_up else ()
        command = [*set_up, *condition.before, interpreter(), str(lab / "experiment.py"), preset]
        command += ["--kernel", f"{home}/linux", "--exp", f"{home}/exp"]
        command += [f"--set={setting}" for setting in (*settings, *more, f"trace.events={_EVENTS}")]
        environment = {"HOME": home, "PATH": os.defpath, **condition.environment}
        user = {}
        if condition.user:
            user = {"user": condition.user, "group": condition.user, "extra_groups": []}
            os.chown(home, condition.user, condition.user)
        with condition.beside():
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, **user)
        assert done.returncode == 0, done.stderr
        made = Path(done.stdout.strip())
        return read_run(shutil.copytree(made, Path(tempfile.mkdtemp(dir=place), made.name)))


def asks_the_host() -> bool:
    """Whether the guest's Python reads a file of /proc at its start, before the guest has mounted its own."""
    python = Path(interpreter())
    programs = (python, *python.parent.parent.glob("lib*/**/libpython3*.so*"))  # from Python 3.13 on
    return any(b"/proc/sys/vm/overcommit_memory" in program.read_bytes() for program in programs)


def measured(one: Run, other: Run) -> list[object]:
    """Return how the measurements of two runs differ."""
    return [*first_differences(one, other)] or ["the digest"] * (digest(one) != digest(other))


def seen(one: Run, other: Run) -> list[object]:
    """Return what programs of the two guests saw differently."""
    both = zip(testimony(one), testimony(other), strict=False)
    return [pair for pair in both if pair[0] != pair[1]]
