from pathlib import Path

import pytest

from wblab.host.collect import told
from wblab.lab.specfile import read_spec

CONSOLE = """Checking PROT_EXEC mmap...OK
[    0.000000] Linux version 7.2
[    5.000000] EXT4-fs (ubda): mounted filesystem
hello
ls: cannot access 'x': No such file or directory
Traceback (most recent call last):
  File "/lab/wblab/guest/init.py", line 52, in main
[   11.130000] reboot: Power down
"""
ENDED = "the command of load b1 ended with exit code 3"


@pytest.fixture
def failed(tmp_path):
    (tmp_path / "console.log").write_text(CONSOLE)
    spec = Path("experiments/base-device.toml")

    def said(reason, *argv, **keys):
        load = f"load.b1={{kind='command', wait='1s', argv={list(argv)}}}"
        return told(reason, read_spec(spec, [load]), tmp_path / "console.log", **keys)

    return said


def test_a_command_that_failed_is_quoted(failed):
    assert failed(ENDED, "ls", "x") == f"{ENDED}, and printed: ls: cannot access 'x': No such file or directory"


def test_a_program_that_was_not_found_is_named(failed):
    reason = "the load b1 failed: No such file or directory"
    assert (
        failed(reason, "/usr/bin/none") == "the load b1 failed: cannot start '/usr/bin/none': No such file or directory"
    )


def test_a_file_of_the_host_s_tmp_is_not_the_guest_s(failed, tmp_path):
    (script := tmp_path / "script").touch()
    said = failed(ENDED, "sh", str(script), hidden=[str(tmp_path)])
    assert f"The guest has a {tmp_path} of its own: put {str(script)!r} into another directory" in said
    assert f"only with --allow-read {script}" in failed(ENDED, "sh", str(script), hidden=[])


@pytest.mark.parametrize("reason", ["the load l1 failed: No space left on device", "the guest said nothing for 60 s"])
def test_other_reasons_stay(failed, reason):
    assert failed(reason, "ls") == reason
