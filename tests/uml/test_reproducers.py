"""A finding is shown on a stock kernel by someone who has nothing but the directory that is handed on."""

import os
import re
import subprocess

import pytest
from support.reproducers import missing

from wblab.cli import main
from wblab.kernels.stock.kernel import find
from wblab.lab.packages import tool_path
from wblab.substrates.qemu.run import EMULATOR

NAME = "stock:7.2"

pytestmark = [
    pytest.mark.skipif(tool_path(EMULATOR) is None, reason=f"QEMU is not installed: {EMULATOR}"),
    pytest.mark.skipif(find(NAME) is None, reason=f"the kernel {NAME} is not here: wblab kernel build --stock 7.2"),
    pytest.mark.skipif(bool(missing()), reason=f"in-qemu.sh needs {missing()}"),
]


def test_the_flusher_at_the_limit_is_shown(tmp_path):
    scratch, kernel = tmp_path / "scratch", find(NAME)
    scratch.mkdir()
    assert main(["finding", "export", "flusher-at-the-limit", str(tmp_path / "mailed")]) == 0
    command = [tmp_path / "mailed" / "in-qemu.sh", kernel.path, kernel.modules, "1"]
    done = subprocess.run(
        command, env=os.environ | {"TMPDIR": str(scratch)}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("flusher-at-the-limit: Linux 7.2.")
    assert done.stdout.endswith("result: shown\n")
    longest = re.search(r"the longest took (\d+\.\d\d) s\n", done.stdout)
    assert longest
    assert 0.5 < float(longest[1]) < 30
    assert list(scratch.iterdir()) == []
