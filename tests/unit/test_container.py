"""The container for lessons, misc/container: it has what runs call, and its profile allows one call more."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from wblab.core.syscalls import on_hostfs
from wblab.host.bundle import bundle
from wblab.host.command import interpreter
from wblab.lab.packages import PROGRAMS, only_build
from wblab.lab.places import ROOT

PLACE = ROOT / "misc/container"


def test_it_installs_what_runs_call():
    installed = set((PLACE / "Containerfile").read_text().split())
    needed = {package for package in PROGRAMS.values() if not only_build([package])}
    assert needed
    assert needed <= installed


def test_the_profile_allows_fixed_addresses_and_nothing_else(tmp_path):
    podmans = {"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": ["read"], "action": "SCMP_ACT_ALLOW"}]}
    (tmp_path / "seccomp.json").write_text(json.dumps(podmans))
    command = [sys.executable, str(PLACE / "profile.py"), str(tmp_path / "seccomp.json")]
    profile = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    added = profile["syscalls"].pop()
    assert profile == podmans
    assert (added["names"], added["action"]) == (["personality"], "SCMP_ACT_ALLOW")
    assert added["args"] == [{"index": 0, "value": 0x0040000, "op": "SCMP_CMP_EQ"}]


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
