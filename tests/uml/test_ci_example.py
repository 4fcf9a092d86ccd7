"""The example for a CI service: its steps' scripts, read from the file, run in a project of a user's."""

import os
import re
import subprocess
from xml.etree import ElementTree

import pytest
import yaml
from support.userproject import make_project

from wblab.kernels import find_kernel
from wblab.lab.extras import MODULES
from wblab.lab.places import ROOT
from wblab.on.world import KERNEL

STEPS = yaml.safe_load((ROOT / "misc/ci/slow-disk.yml").read_text())["jobs"]["slow-disk"]["steps"]
SCRIPTS = {step["name"]: step["run"] for step in STEPS if "run" in step}
TESTS = """
import os, pytest
def save(path):
    with open(path, "wb") as file:
        file.write(bytes(1 << 20))
        os.fsync(file.fileno())
def test_all(tmp_path): save(tmp_path / "made")
@pytest.mark.slow_disk("sd-card", limit="30s")
def test_marked(tmp_path): save(tmp_path / "made")
"""


def test_it_installs_what_the_lab_has():
    """The steps that fetch are read here and not run."""
    extras = re.search(r"wblab\[(.*)\]", SCRIPTS["install"])[1].split(",")
    assert set(extras) <= set(MODULES)
    assert {"e2fsprogs", "trace-cmd"} <= set(SCRIPTS["packages"].split())


def test_its_steps_run_as_they_stand(tmp_path, kernel):
    if not find_kernel(KERNEL):
        pytest.skip(f"the kernel {KERNEL} is not built: wblab kernel build {KERNEL}")
    place = tmp_path / "project"
    place.mkdir()
    programs = make_project(place)
    (place / "test_save.py").write_text(TESTS)
    for words in (("init", "-q"), ("add", "-f", "test_save.py", "venv")):
        subprocess.run(["git", "-C", place, *words], check=True)
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "WBLAB"))}
    # What is installed for the tests of the lab only stays out; the plugin is asked for by name instead.
    own |= {"PATH": f"{programs}:{os.environ['PATH']}", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    own |= {"PYTEST_ADDOPTS": f"-p wblab.on.pytest_plugin --basetemp={tmp_path / 'temporary'}"}
    own |= {"WBLAB_EXP": str(tmp_path / "exp")}
    for name in ("marked tests", "a command"):
        command = ["bash", "-e", "-c", SCRIPTS[name]]
        done = subprocess.run(command, cwd=place, env=own, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "2 passed" in done.stdout
    for file in ("tests.xml", "slow-disk.xml"):
        suite = ElementTree.parse(place / file).getroot()[0]
        assert (suite.get("failures"), suite.get("errors")) == ("0", "0")
