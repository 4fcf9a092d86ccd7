"""A user's mistake, or a full disk, is reported on one line with the next step."""

import errno
import subprocess
import sys

import pytest

from wblab.cli import main
from wblab.lab import progress


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("rum", "wblab: no verb 'rum' (did you mean 'run'?): see wblab --help"),
        ("kernel pack 7.2+programs", "wblab: 7.2+programs names a kernel: write as well where it goes: wblab"),
        ("kernel info --source 7.2", "wblab: 7.2 names a kernel: write as well where it goes: wblab kernel info"),
        ("kernel bild", "wblab: no verb 'bild' (did you mean 'build'?): see wblab kernel --help"),
        ("run mitigation", "wblab: no spec 'mitigation': it is a matrix: wblab study mitigation"),
        ("run writeback", "wblab: no spec 'writeback': it is a design: wblab study writeback"),
        ("run hdd", "wblab: no spec 'hdd': it is a disk: wblab run --disk hdd"),
        ("study comit", "wblab: nothing to study is called 'comit' (did you mean 'commit'?): see wblab study --list"),
    ],
)
def test_a_mistake_gets_a_suggestion(command, said, capsys):
    assert main(command.split()) == 2
    assert capsys.readouterr().err.startswith(said)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_reported_on_one_line(number, capsys):
    def full(arguments):
        raise OSError(number, "No space left", "/exp/a")

    assert main(["doctor"], full) == 1
    assert capsys.readouterr().err == "wblab: /exp/a: No space left: make room, or give --exp another directory\n"


def test_an_unforeseen_error_of_the_system_is_not_hidden():
    def broken(arguments):
        raise OSError(errno.EIO, "Input/output error")

    with pytest.raises(OSError, match="Input/output"):
        main(["doctor"], broken)


def test_long_work_prints_lines_without_a_terminal(monkeypatch, capsys):
    now_s = iter([0.0, 1.0, 11.0, 11.0, 12.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now_s))
    with progress.bar("remedies") as report:
        report(0.1, "1 of 10 runs")
        report(0.5, "5 of 10 runs")
        report(0.6, "6 of 10 runs")
    assert capsys.readouterr().err == "wblab: remedies: 50%, 5 of 10 runs\n"


def test_a_run_on_a_full_disk_has_no_traceback(tmp_path):
    """A filesystem of a few KiB in a separate mount namespace, too small for the run's record."""
    small = f"mount -t tmpfs -o size=16k,nr_inodes=20 tmpfs {tmp_path}"
    script = f"{small} && exec {sys.executable} -m wblab run --exp {tmp_path}"
    command = ["unshare", "--mount", "--map-root-user", "sh", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip("this machine has no user namespaces")
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
