"""A run, its picture and its explanation need NumPy and Matplotlib, and no module of an extra."""

import os
import subprocess

import pytest
from support.corealone import command
from support.lottery import some

from wblab.lab.places import ROOT

SHORT = ("load.l1.size=8MiB", "load.l1.wait=1s", "load.l2.size=1MiB", "load.l2.wait=2s")


def core_alone(place, *arguments):
    own = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "misc")]), "WBLAB_EXP": str(place)}
    return subprocess.run(command(*arguments), env=os.environ | own, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def place(kernel, tmp_path_factory):
    """A results directory with a latest run that has pauses."""
    place = tmp_path_factory.mktemp("core")
    settings = [word for setting in SHORT for word in ("--set", setting)]
    done = core_alone(place, "run", "base-device", "--kernel", kernel.path, *settings)
    assert done.returncode == 0, done.stderr
    return place


@pytest.mark.parametrize("verb", ["timeline", "why", "pauses", "pauses --causes"])
def test_a_run_is_drawn_and_explained_without_extras(place, verb):
    done = core_alone(place, *verb.split(), "latest")
    assert done.returncode == 0, done.stderr
    assert done.stdout


WAYS = {
    "tried": (("--try-for", "600s"), "Tried on this run: without l1, "),
    "proved": (("--prove", "--suspect", "w1"), "without w1: "),
}


@pytest.mark.parametrize("way", some(WAYS, 1))
def test_a_cause_is_tried_and_proved_without_extras(tmp_path, kernel, way):
    settings = ("load.l1.size=16MiB", "load.l1.wait=1s", "load.l2.size=4KiB", "load.l2.wait=20s")
    options = [f"--set={setting}" for setting in settings]
    assert core_alone(tmp_path, "run", "base-device", "--kernel", kernel.path, *options).returncode == 0
    words, said = WAYS[way]
    done = core_alone(tmp_path, "why", "latest", "--kernel", kernel.path, *words)
    assert (done.returncode, said in done.stdout) == (0, True), done.stderr


def test_layers_of_a_write_are_shown_without_extras(tmp_path, kernel):
    assert core_alone(tmp_path, "run", "layers", "--kernel", kernel.path).returncode == 0
    done = core_alone(tmp_path, "why", "--layers", "latest")
    assert (done.returncode, "flush" in done.stdout) == (0, True), done.stderr
