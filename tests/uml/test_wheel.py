"""A wheel in a fresh environment, far from any checkout, runs experiments for an ordinary user."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.installed import install

from wblab.analysis.runs.digest import digest
from wblab.analysis.runs.run import Run, read_run

NOBODY = 65534


@pytest.fixture(scope="module")
def run_installed(kernel) -> Iterator[Callable[..., Run]]:
    """Return a function that runs an experiment with an installed lab and the system's Python."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="wblab-tests-") as place:  # every user gets there
        installed = install(Path(place))
        linux = shutil.copytree(kernel.path.parent, Path(place, "kernel")) / kernel.path.name
        for path in (Path(place), *Path(place).rglob("*")):  # whatever our umask is
            if not path.is_symlink():
                path.chmod(0o755)
        before, user = installed.files(), {}
        if os.geteuid() == 0:
            os.chown(installed.place, NOBODY, NOBODY)
            user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}

        def run(*arguments: str) -> Run:
            done = installed.run("wblab", "run", "--kernel", linux, *arguments, **user)
            assert done.returncode == 0, done.stderr
            assert installed.files() == before, "something was written beside site-packages"
            made = read_run(installed.place / done.stdout.strip())
            assert made.path.parent == installed.place / "exp"
            assert made.path.stat().st_uid == (NOBODY if user else os.geteuid())
            return made

        yield run


def test_an_installed_wheel_gives_the_same_base_run_as_a_checkout(run_installed, shared_lab):
    assert digest(run_installed("base")) == digest(shared_lab.run("base"))


def test_programs_in_a_guest_can_import_the_lab(run_installed):
    script = "wblab --version; load.py --help | head -1; trap 'exit 0' TERM; while true; do sleep 0.1; done"
    settings = (f"agent.a.argv={json.dumps(['sh', '-c', script])}", "load={c1={kind='control', idle='50ms'}}")
    brief = "load.go={kind='command', wait='2s', argv=['true']}"
    run = run_installed("base", *(word for setting in (*settings, brief) for word in ("--set", setting)))
    assert (run.path / "agent.a.log").read_text().startswith("wblab 0.2.0\nusage: wblab load ")
