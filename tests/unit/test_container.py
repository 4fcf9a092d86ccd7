"""experiment.py as process 1: of a container it is the command, and only of a guest the guest."""

import os
import shutil
import subprocess
import sys

import pytest

from wblab.core.syscalls import on_hostfs
from wblab.host.bundle import bundle
from wblab.host.command import interpreter
from wblab.lab.places import ROOT

CONTAINER = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]


@pytest.fixture
def container():
    """Return what makes a command process 1 of a container."""
    if (
        shutil.which("unshare") is None
        or subprocess.run([*CONTAINER, "true"], check=False, capture_output=True).returncode
    ):
        pytest.skip("this machine has no user namespaces")
    return lambda *command: subprocess.run([*CONTAINER, *command], capture_output=True, text=True, check=False)


def test_it_is_the_command(container):
    done = container(sys.executable, str(ROOT / "experiment.py"), "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "an experiment" in done.stdout
    done = container(sys.executable, str(ROOT / "experiment.py"), "nosuchspec")
    assert done.returncode == 2
    assert "nosuchspec" in done.stderr


def test_the_guests_program_does_nothing_there(container):
    before = os.listdir("/")
    done = container(interpreter(), "-S", "-B", str(bundle(interpreter())))
    assert done.returncode == 1
    assert done.stderr == "wblab: this is no guest, as its root is not hostfs: use wblab run\n"
    assert os.listdir("/") == before


def test_a_host_is_no_hostfs():
    assert not on_hostfs("/")
    with pytest.raises(FileNotFoundError):
        on_hostfs("/nonexistent")
