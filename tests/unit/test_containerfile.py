"""The container for lessons, misc/container: it has what runs call, and its profile allows one call more."""

import json
import subprocess
import sys

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
