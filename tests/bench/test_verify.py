"""What it takes to check the thesis's claims: about sixty runs, their reading, and the report."""

import subprocess
import sys

import pytest
from support.benchlog import report
from support.timing import spent

from wblab.lab.places import ROOT

pytestmark = pytest.mark.bench
REPEATS = 2


def test_verify(tmp_path, on_kernel):
    def verify():
        command = [sys.executable, "-m", "wblab", "verify", *on_kernel, "--exp", str(tmp_path)]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)

    report("wblab study", [spent(verify) for _ in range(REPEATS)])
