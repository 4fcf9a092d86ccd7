"""The lab stands without its wings: each is taken out of a copy of the lab, which then runs, explains and compares."""

import os
import shutil
import subprocess
import sys

import pytest
from support.labcopy import copy_lab
from support.lottery import some

from wblab.cli import VERBS
from wblab.lab.places import ROOT
from wblab.lab.wings import WINGS

SHORT = ("load.l1.size=16MiB", "load.l1.wait=1s", "load.l2.size=4KiB", "load.l2.wait=20s")
IMPORT_ALL = """
import importlib, pkgutil, wblab
for found in pkgutil.walk_packages(wblab.__path__, "wblab."):
    if found.name != "wblab.__main__" and ".programs." not in found.name and ".qemu.guest." not in found.name:
        importlib.import_module(found.name)
"""
# Tests of the lab's own rooms. Those that use a wing as a user would have it say so by an import.
ROOMS = ("core", "guest", "lab", "machine", "kernels", "analysis", "report", "host", "plot", "study", "api")


class Copy:
    """A copy of the lab without some of its wings."""

    def __init__(self, place, wings):
        copy_lab(place)
        for wing in wings:
            shutil.rmtree(place / "wblab" / wing)
        self.place, self.wings = place, wings

    def python(self, *words):
        own = {"PYTHONPATH": f"{self.place}:{self.place / 'misc'}", "WBLAB_EXP": str(self.place / "exp")}
        command = [sys.executable, "-P", *words]
        return subprocess.run(
            command, cwd=self.place, env=os.environ | own, capture_output=True, text=True, check=False
        )

    def wblab(self, *words):
        return self.python("-m", "wblab", *words)


# With all of them out the lab stands alone every day; an import contract keeps each wing from the others meanwhile.
@pytest.fixture(scope="module", params=[*some(WINGS, 0), "all"])
def copy(request, tmp_path_factory):
    place = tmp_path_factory.mktemp("lab")
    yield Copy(place, tuple(WINGS) if request.param == "all" else (request.param,))
    shutil.rmtree(place)


def test_every_other_module_can_be_imported(copy):
    done = copy.python("-c", IMPORT_ALL)
    assert (done.returncode, done.stderr) == (0, "")


def test_only_the_verbs_of_the_wing_are_gone(copy):
    gone = {verb.name for verb in VERBS if verb.wing in copy.wings}
    shown = copy.wblab("--help").stdout
    assert {verb.name for verb in VERBS if f" {verb.name}" in shown.replace(",", " ")} == {
        verb.name for verb in VERBS if verb.name not in gone
    }
    for verb in gone:
        done = copy.wblab(verb)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert f"no verb '{verb}'" in done.stderr


def test_a_run_is_made_explained_drawn_and_repeated(copy, kernel):
    settings = [word for setting in SHORT for word in ("--set", setting)]
    made = copy.wblab("run", "base-device", "--kernel", str(kernel.path), *settings)
    assert made.returncode == 0, made.stderr
    for words in (("why", "--no-try", "latest"), ("why", "--pauses", "latest"), ("timeline", "latest"), ("runs",)):
        done = copy.wblab(*words)
        assert (done.returncode, bool(done.stdout)) == (0, True), done.stderr
    done = copy.wblab("repeat", "latest", "--kernel", str(kernel.path))
    assert done.returncode == 0, done.stderr


def test_a_matrix_is_made_and_compared(copy, kernel):
    (copy.place / "small.toml").write_text(
        'base = "base-device"\nseeds = 1\naxes = {"load.l1.size" = ["1MiB", "2MiB"]}\nset = {"load.l2.wait" = "1s"}\n'
    )
    made = copy.wblab("study", "small.toml", "--kernel", str(kernel.path))
    assert made.returncode == 0, made.stderr
    assert copy.wblab("compare", made.stdout.split()[-1]).returncode == 0


def test_what_a_wing_would_do_is_refused_in_one_line(copy):
    refused = {
        "publish": ("repeat", "some.wblab"),
        "claims": ("study", "base", "--on", "7.2"),
        "live": ("study", "here:/"),
    }
    for wing, words in refused.items():
        if wing in copy.wings:
            done = copy.wblab(*words)
            assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr


@pytest.mark.soak
def test_the_lab_s_own_tests_pass_without_any_wing(tmp_path):
    copy = Copy(tmp_path, tuple(WINGS))
    for name in ("tests", "docs", "pyproject.toml", "constraints.txt", "Makefile", "README.md", "lessons", "analysis"):
        copied = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copied(ROOT / name, tmp_path / name)
    (tmp_path / "tests/uml").rename(tmp_path / "uml")
    tests = [tmp_path / "tests/unit" / room for room in ROOMS if (tmp_path / "tests/unit" / room).is_dir()]
    of_wings = [path for folder in tests for path in folder.rglob("*.py") if _uses_a_wing(path)]
    for path in of_wings:
        path.unlink()
    done = copy.python("-m", "pytest", "-q", "-n", "auto", "-p", "no:cacheprovider", "-m", "not soak", *map(str, tests))
    assert done.returncode == 0, done.stdout[-5000:]


def _uses_a_wing(path):
    text = path.read_text()
    return any(f"wblab.{wing}" in text or f"wblab import {wing}" in text for wing in WINGS)
