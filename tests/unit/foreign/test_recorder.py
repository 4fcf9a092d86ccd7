"""The recorder: a script that needs a shell and root, and what it kept, which is a stranger's file."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import tracecmd
from support.keptrecordings import kept
from support.waiting import wait_until

from wblab.cli import main
from wblab.core.errors import InputError
from wblab.foreign import recording
from wblab.foreign.recorder import facts_script, recorder_script
from wblab.foreign.recording import facts_of, is_recording, read_recording
from wblab.foreign.traced import Asked, read_traced

SHELLS = ["sh", "bash"]
SHELLS_HERE = [words for words in ("sh", "busybox sh") if shutil.which(words.split()[0])]


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "recorder.sh"
    path.write_text(recorder_script())
    return path


def test_it_fits_and_any_shell_parses_it(script, tmp_path):
    assert len(script.read_text().splitlines()) <= 150
    assert len(facts_script().splitlines()) <= 40
    (tmp_path / "facts.sh").write_text(facts_script())
    for shell in SHELLS:
        for path in (script, tmp_path / "facts.sh"):
            done = subprocess.run([shell, "-n", path], capture_output=True, text=True, check=False)
            assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pid"], "--pid is not known, or lacks a value"),
        (["--quick", "1"], "--quick is not known"),
        (["--over", "3"], "give it in ms or s"),
        (["--over", "20ms"], "at least 100ms"),
        (["--count", "0"], "give a whole number"),
        (["--count", "-1"], "give a whole number"),
    ],
)
def test_what_it_does_not_understand_it_says_in_a_line(script, words, said):
    done = subprocess.run(["sh", script, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("recorder: ")
    assert said in line


def test_the_facts_of_this_machine_are_read_back():
    done = subprocess.run(["sh"], input=facts_script(), capture_output=True, text=True, check=True)
    facts = facts_of(done.stdout)
    assert facts["/proc/meminfo"].startswith("MemTotal:")
    assert facts["/proc/sys/vm/dirty_ratio"].strip().isdecimal()


def test_what_it_kept_is_read_back(tmp_path):
    path = kept(tmp_path / "kept.tar.gz")
    found = read_recording(path)
    assert is_recording(path)
    assert (found.who, found.stall_ms, found.devices) == ("task 42", 910, {"8:16": "sdb"})
    with found.trace() as file, tracecmd.open(file) as trace:
        assert list(trace.events("dirty")["pages"]) == [7]
        assert trace.info.uname == "Linux far 5.10.0"
    assert not file.exists()


@pytest.mark.parametrize("name", ["header_page", "formats", "recorder"])
def test_a_file_that_lacks_a_part_is_refused(tmp_path, name):
    with pytest.raises(InputError, match=f"lacks '{name}'"):
        read_recording(kept(tmp_path / "kept.tar.gz", **{name: None}))


def test_a_file_that_was_cut_off_or_changed_is_refused_or_read(tmp_path):
    whole = kept(tmp_path / "kept.tar.gz").read_bytes()
    path = tmp_path / "changed"
    refused = 0
    for at in range(0, len(whole), 7):
        for changed in (whole[:at], whole[:at] + bytes([whole[at] ^ 0x5A]) + whole[at + 1 :]):
            path.write_bytes(changed)
            try:
                with read_recording(path).trace():
                    pass
            except InputError:
                refused += 1
    assert refused > len(whole) / 7  # all those that were cut off, at least


@pytest.mark.parametrize(
    ("member", "content"),
    [
        ("header_page", b"no page"),
        ("formats", b"/x/events/writeback/dirty/format:name: dirty\n"),
        ("cpu*.raw", b"seven bytes"),
        ("cpu*.raw", bytes(8) + b"\xff" * 4088),
    ],
)
def test_what_is_damaged_is_named_by_the_file_and_its_member(tmp_path, capsys, member, content):
    path = kept(tmp_path / "kept.tar.gz", **{member.replace("*", "0"): content})
    assert main(["why", str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"wblab: {path}: ")
    assert member in line
    assert "trace.dat" not in line


def test_a_file_that_unpacks_to_far_more_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "_MOST_BYTES", 1 << 20)
    path = kept(tmp_path / "kept.tar.gz", bomb=bytes(4 << 20))
    with pytest.raises(InputError, match="unpacks to more than 1 MiB"):
        read_recording(path)


# A parent waits uninterruptibly for a child that sleeps: clone(2) with CLONE_VFORK, x86-64. Again and again, as the
# recorder of a busy machine may miss one.
STALLS = """
import ctypes, os, time
open('/proc/self/comm', 'w').write('wblab-staller')
while True:
    time.sleep(0.3)
    if not ctypes.CDLL(None).syscall(56, 0x4000 | 17, 0, 0, 0, 0):
        time.sleep(0.9)
        os._exit(0)
"""


def _left(tracing):
    """Return what recorders have: trace instances, and directories in memory."""
    return {*tracing.glob("instances/wblab-recorder-*"), *Path("/dev/shm").glob("wblab-recorder-*")}


def test_it_keeps_a_stall_that_is_explained_and_leaves_nothing(script, tmp_path, tracing):
    before = _left(tracing)
    with subprocess.Popen([sys.executable, "-c", STALLS]) as staller:
        try:
            done = subprocess.run(
                ["sh", script, "--pid", str(staller.pid), "--over", "400ms", "--buffer", "64", "--out", tmp_path],
                capture_output=True,
                text=True,
                check=True,
            )
        finally:
            staller.kill()
    (path,) = tmp_path.glob("recorder-*.tar.gz")
    assert path.name in done.stderr
    recording_ = read_recording(path)
    with recording_.trace() as file:
        traced = read_traced(file, Asked((str(staller.pid),)))
        pauses = [each.explanation for each in traced.explanations(100_000_000)]
    assert any("task" in each.parts for each in pauses), (recording_.who, recording_.stall_ms, pauses)
    wait_until(lambda: _left(tracing) <= before)  # another test may have a recorder, too


# Many short sleeps, then a longer one, over and over. It writes how long each one took at most, in nanoseconds: which
# sleeps a busy machine makes longer is not for the test to say.
SLEEPS = """
import ctypes, os, signal, sys, time
open('/proc/self/comm', 'w').write(sys.argv[1])
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    for sleep_s in (*[0.05] * 30, 0.9):
        began_ns = time.monotonic_ns()
        if not ctypes.CDLL(None).syscall(56, 0x4000 | 17, 0, 0, 0, 0):
            time.sleep(sleep_s)
            os._exit(0)
        os.write(1, b'%d\\n' % (time.monotonic_ns() - began_ns))
"""


@pytest.mark.parametrize("shell", SHELLS_HERE)
def test_many_short_sleeps_are_no_stall(script, tmp_path, tracing, shell):
    name = f"wblab-{os.getpid()}"
    said = tmp_path / "said"
    with said.open("w") as file, subprocess.Popen([sys.executable, "-c", SLEEPS, name], stdout=file) as sleeper:
        try:
            options = ["--comm", name, "--over", "500ms", "--buffer", "1", "--out", tmp_path]
            subprocess.run([*shell.split(), script, *options], capture_output=True, check=True)
            lines = len(said.read_text().splitlines())
            wait_until(lambda: len(said.read_text().splitlines()) > lines)  # the sleep that was recorded is in it
        finally:
            sleeper.kill()
    longest_ns = max(int(line) for line in said.read_text().splitlines())
    (path,) = tmp_path.glob("recorder-*.tar.gz")
    found = read_recording(path)
    assert found.who == f"task {sleeper.pid}"
    assert 500 <= found.stall_ms <= longest_ns / 1e6 + 10  # the clock of /proc/uptime has hundredths


def test_a_recorder_that_is_killed_is_undone_by_its_guard(script, tmp_path, tracing):
    with subprocess.Popen(["sh", script, "--pid", "1", "--buffer", "1", "--out", tmp_path]) as recorder:
        mine = tracing / "instances" / f"wblab-recorder-{recorder.pid}"
        wait_until(mine.exists)
        recorder.kill()
        recorder.wait()
    wait_until(lambda: not mine.exists())
    wait_until(lambda: not Path(f"/dev/shm/wblab-recorder-{recorder.pid}").exists())


def test_a_probe_writes_in_a_directory_of_its_own_and_leaves_nothing(script, tmp_path, tracing):
    (tmp_path / "probed").mkdir()
    with subprocess.Popen(
        ["sh", script, "--probe", "probed", "--over", "60s", "--buffer", "1"], cwd=tmp_path
    ) as recorder:
        own = tmp_path / "probed" / f".wblab-recorder-{recorder.pid}"
        wait_until((own / ".wblab-probe").exists)
        assert stat.S_IMODE(own.stat().st_mode) == 0o700
        recorder.terminate()
        assert recorder.wait() == 143
    assert list((tmp_path / "probed").iterdir()) == []
    assert not (tracing / "instances" / f"wblab-recorder-{recorder.pid}").exists()
