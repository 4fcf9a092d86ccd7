import os
import resource
import subprocess
from pathlib import Path

import pytest

from wblab.core.child import fork_child
from wblab.host.sandbox import Sandbox
from wblab.host.sandbox.sandbox import drop_capabilities, loader


def sandboxed(sandbox, task):
    def confined():
        sandbox.enter()
        task()

    return os.waitpid(fork_child(confined), 0)[1] == 0


def test_all_capabilities_are_dropped_for_good():
    def task():
        lines = Path("/proc/self/status").read_text().splitlines()
        status = dict(line.split(":\t") for line in lines if line[:3] == "Cap")
        assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}
        if os.geteuid() == 0:
            assert int(status["CapBnd"], 16) == 0

    def dropped():
        drop_capabilities()
        task()

    assert os.waitpid(fork_child(dropped), 0)[1] == 0


def test_files_cannot_grow_past_the_limit(tmp_path):
    def task():
        with open(tmp_path / "file", "wb", buffering=0) as file:
            file.write(b"x" * 4096)
            with pytest.raises(OSError, match="File too large"):
                file.write(b"x")
        assert resource.getrlimit(resource.RLIMIT_CORE) == (0, 0)

    assert sandboxed(Sandbox(reads=["/"], keeps=[str(tmp_path)], largest_file_bytes=4096, calls=""), task)


def test_missing_paths_are_left_out(tmp_path):
    assert sandboxed(Sandbox(reads=["/nonexistent"], keeps=[str(tmp_path)]), lambda: None)


def test_the_loader_of_a_program_is_found(tmp_path):
    shell = os.path.realpath("/bin/sh")
    named = subprocess.run(["readelf", "-l", shell], capture_output=True, text=True, check=True).stdout
    assert f"interpreter: {loader(shell)}]" in named


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"\x7fELF\x02\x01" + b"\xff" * 100, b"#!/bin/sh\n" * 20])
def test_a_file_that_is_not_a_program_has_no_loader(tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    assert loader(tmp_path / "file") is None
    assert loader(tmp_path / "missing") is None
