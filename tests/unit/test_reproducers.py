"""The findings' reproducers: they parse, refuse with one line what they cannot do, and leave nothing."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.processes import alive, descendants
from support.reproducers import COMMON, FINDINGS, NAMES, hand_on, missing
from support.waiting import wait_until

from wblab.lab.packages import tool_path
from wblab.substrates.qemu.run import EMULATOR

SELFTESTS = list(FINDINGS.glob("*/selftest.sh"))
SCRIPTS = [*COMMON.glob("*.sh"), *FINDINGS.glob("*/reproduce/*.sh"), *SELFTESTS]
NOBODY = 65534


@pytest.fixture
def mailed() -> Iterator[Path]:
    """A directory that every user may enter."""
    with tempfile.TemporaryDirectory(prefix="wblab-test-") as directory:
        os.chmod(directory, 0o755)
        yield Path(directory)


def run(script: Path, *arguments: str | Path, scratch: Path, **options) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "TMPDIR": str(scratch)}
    return subprocess.run([script, *arguments], env=environment, capture_output=True, text=True, check=False, **options)


@pytest.mark.parametrize("shell", [["sh"], ["dash"], ["busybox", "ash"]], ids=lambda words: words[-1])
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(FINDINGS)))
def test_a_script_parses(shell, script):
    if tool_path(shell[0]) is not None:  # each is somewhere the shell of a guest or of a machine
        done = subprocess.run([*shell, "-n", script], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", NAMES)
def test_a_finding_brings_only_its_own(name):
    own = {path.name for path in (FINDINGS / name / "reproduce").iterdir()}
    assert own == {"reproduce.sh"}
    assert all(os.access(path, os.X_OK) for path in (FINDINGS / name / "reproduce/reproduce.sh", COMMON / "in-qemu.sh"))


@pytest.mark.parametrize("name", NAMES)
def test_an_ordinary_user_is_refused_with_one_line(name, mailed):
    ordinary = {"user": NOBODY} if os.geteuid() == 0 else {}
    scratch = mailed / "scratch"
    scratch.mkdir()
    scratch.chmod(0o777)
    done = run(hand_on(name, mailed / "it") / "reproduce.sh", scratch=scratch, **ordinary)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "cannot run: root is needed; in-qemu.sh needs none\n"
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("script", SELFTESTS, ids=lambda path: path.parent.name)
def test_a_test_for_the_kernel_s_own_has_sixty_lines_and_skips_for_an_ordinary_user(script, mailed):
    assert len(script.read_text().splitlines()) <= 60
    ordinary = {"user": NOBODY} if os.geteuid() == 0 else {}
    mailed.chmod(0o777)
    done = run(shutil.copy(script, mailed), scratch=mailed, **ordinary)
    assert (done.returncode, done.stderr) == (4, "")
    assert done.stdout == "TAP version 13\n1..1\nok 1 writer-on-fast-disk # SKIP not root\n"


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_option_is_refused_with_one_line(name, mailed):
    done = run(hand_on(name, mailed) / "reproduce.sh", "--nonsense", scratch=mailed)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "cannot run: unknown option --nonsense\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "usage: in-qemu.sh KERNEL MODULES_DIR [PROCESSORS [OPTION...]]"),
        (["/nothing", "/"], "/nothing cannot be read"),
        (["/dev/null", "/nothing"], "/nothing is no directory"),
    ],
)
def test_in_qemu_refuses_with_one_line(arguments, said, tmp_path):
    done = run(COMMON / "in-qemu.sh", *arguments, scratch=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"cannot run: {said}\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(bool(missing()), reason=f"in-qemu.sh needs {missing()}")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_when_in_qemu_is_ended(number, tmp_path):
    programs, scratch, modules = (tmp_path / name for name in ("bin", "scratch", "modules"))
    for directory in (programs, scratch, modules):
        directory.mkdir()
    emulator = programs / EMULATOR
    emulator.write_text("#!/bin/sh\nexec sleep 600\n")
    emulator.chmod(0o755)
    it = hand_on(NAMES[0], tmp_path / "it")
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "TMPDIR": str(scratch)}
    # Other tests ran loads in this process, which ignore signals at their end, and a shell cannot trap an ignored one.
    command = ["env", "--default-signal=INT,TERM", it / "in-qemu.sh", "/dev/null", modules]
    process = subprocess.Popen(command, env=environment, start_new_session=True)
    wait_until(lambda: "sleep" in descendants(process.pid).values())
    there = descendants(process.pid)
    process.send_signal(number)
    assert process.wait(60) == 128 + number
    wait_until(lambda: not [pid for pid in there if alive(pid)])
    assert list(scratch.iterdir()) == []


def test_the_writer_says_how_long_it_was_stalled(tmp_path):
    if (compiler := shutil.which("cc")) is None:
        pytest.skip("in-qemu.sh needs cc")
    writer = tmp_path / "writer"
    command = [compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-o", writer, COMMON / "writer.c"]
    subprocess.run(command, check=True)
    for kind, files in (("append", {"file"}), ("create", {"file.0"})):
        place = tmp_path / kind
        place.mkdir()
        process = subprocess.Popen([writer, kind, place / "file", "5000", "60000"], stdout=subprocess.PIPE, text=True)
        wait_until(lambda place=place: [path for path in place.iterdir() if path.stat().st_size == 5000])
        process.terminate()
        said, _ = process.communicate()
        assert process.returncode == 0
        open_ms, write_ms, late_ms, count = map(int, said.split())
        assert (open_ms < 10_000, write_ms < 10_000, late_ms, count) == (True, True, 0, 1)
        assert {path.name for path in place.iterdir()} == files


def test_a_writer_that_fails_says_why(tmp_path):
    if (compiler := shutil.which("cc")) is None:
        pytest.skip("in-qemu.sh needs cc")
    writer = tmp_path / "writer"
    subprocess.run([compiler, "-o", writer, COMMON / "writer.c"], check=True)
    done = subprocess.run(
        [writer, "append", tmp_path / "no/file", "1", "1"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"writer: {tmp_path}/no/file: No such file or directory\n"
