"""A program that is watched: in a /proc of the test, and a real one that sleeps uninterruptibly."""

import ctypes
import os
import signal
import subprocess
import sys

import pytest
from support.waiting import wait_until

from wblab.lab.captures import read_captures
from wblab.live.runs.program import WatchedProgram
from wblab.live.runs.watch import WatchedPause

MS = 1_000_000
IN_LIMIT = "[<0>] balance_dirty_pages+0x1/0x2\n"


class Process:
    """A process in a /proc of the test, with one thread."""

    def __init__(self, proc):
        self.place = proc / "70"
        self.place.mkdir()
        (self.place / "comm").write_text("db\n")
        self.does("S", 1)

    def does(self, state, sleep, stack=""):
        (self.place / "stat").write_text(f"70 (db) {state} 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 1 2 3 4\n")
        (self.place / "status").write_text(f"voluntary_ctxt_switches:\t{sleep}\n")
        (self.place / "stack").write_text(stack)


@pytest.fixture
def process(tmp_path):
    return Process(tmp_path)


@pytest.fixture
def watched(process, tmp_path):
    return WatchedProgram(70, 200 * MS, tmp_path)


def looked(watched, process, *states):
    """Return what looks at these states, 100 ms apart, find; each may have the number of a sleep and a stack."""
    found = []
    for turn, (state, *more) in enumerate([*states, ("S",)]):
        process.does(state, *(more or [turn]))
        found += watched.look(turn * 100 * MS)
    return found


def test_one_long_sleep_is_a_pause(watched, process):
    found = looked(watched, process, ("S",), ("D", 5), ("D", 5), ("D", 5))
    assert found == [WatchedPause("db-70", 0, 400 * MS)]
    assert watched.said == "db, process 70, was blocked once for over 200 ms, 300 ms at the longest"


def test_a_program_that_waits_for_its_disk_again_and_again_is_not_blocked(watched, process):
    assert looked(watched, process, *(("D", turn) for turn in range(9))) == []
    assert watched.said == "db, process 70, was not seen to be blocked for over 200 ms"


def test_the_short_sleeps_at_a_dirty_limit_are_one_pause(watched, process):
    sleeps = [("D", turn, IN_LIMIT) for turn in range(5)]
    assert looked(watched, process, *sleeps) == [WatchedPause("db-70", 0, 500 * MS)]


def test_a_pause_in_progress_is_known(watched, process):
    assert watched.oldest_ns(7) == 7
    watched.look(50 * MS)
    process.does("D", 5)
    watched.look(100 * MS)
    assert not watched.paused(300 * MS)
    assert watched.paused(301 * MS)
    assert watched.oldest_ns(301 * MS) == 50 * MS


def test_a_program_has_ended_when_it_is_gone_or_only_to_be_reaped(watched, process):
    assert not watched.has_ended()
    process.does("Z", 5)
    assert watched.has_ended()
    (process.place / "stat").unlink()
    assert watched.has_ended()
    assert watched.look(0) == []


# A parent sleeps uninterruptibly until a child made by vfork(2) ends; killable, but state D.
BLOCKS = f"""
import ctypes, os, time
libc = ctypes.CDLL(None)
while True:
    if libc.syscall({{"x86_64": 56, "aarch64": 220}}[os.uname().machine], {0x4000 | signal.SIGCHLD}, 0, 0, 0, 0) == 0:
        time.sleep(1)
        os._exit(0)
    os.wait()
    time.sleep(0.3)
"""


@pytest.fixture
def blocking():
    """A program that is blocked for a second at a time."""
    if ctypes.sizeof(ctypes.c_void_p) != 8 or os.uname().machine not in ("x86_64", "aarch64"):
        pytest.skip("this machine's number of clone(2) is not known")
    process = subprocess.Popen([sys.executable, "-c", BLOCKS], start_new_session=True)
    yield process
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def whole(live):
    """Return the captures that have all of their pause."""
    return [capture for each in live.exp.glob("*") for capture in read_captures(each) if capture.whole]


def test_what_a_blocked_program_waits_for_is_captured(live, tracing, blocking):
    process = live.start("--pid", str(blocking.pid), "--capture-pauses", "400ms", "--capture-around", "100ms")
    # It may be blocked when the trace begins, and a busy machine may overwrite a pause's begin.
    wait_until(lambda: process.poll() is not None or len(whole(live)) > 1)
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate()
    assert process.returncode == 0, said
    (directory,) = live.exp.iterdir()
    assert printed == f"{directory}\n"
    capture = max(whole(live), key=lambda capture: capture.number)
    assert capture.load.endswith(f"-{blocking.pid}")
    assert capture.pause_end_ns - capture.pause_start_ns > 400 * MS
    assert f", process {blocking.pid}, was blocked " in said
    assert f"wblab: why: wblab why {directory}/trace.pause-" in said
    command = [sys.executable, "-m", "wblab", "why", str(directory / capture.trace), "--task", str(blocking.pid)]
    why = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert ", which it waited for, slept" in why


def test_a_run_ends_with_the_program_that_it_watches(live, tracing, blocking):
    process = live.start("--pid", str(blocking.pid), "--capture-pauses", "100s")
    wait_until(lambda: process.poll() is not None or list(live.exp.glob("_*/experiment.json")))
    os.killpg(blocking.pid, signal.SIGKILL)
    _, said = process.communicate()
    assert process.returncode == 0
    assert f"the run ended early: the process {blocking.pid} ended" in said
    assert "was not seen to be blocked for over 100 s" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--pid", "1"), "--pid says whose pauses to capture: add --capture-pauses 300ms"),
        (("--pid", "4194305", "--capture-pauses", "1s"), "--pid 4194305: there is no such process: 'pgrep -o NAME'"),
        (("--pid", "0", "--capture-pauses", "1s"), "--pid 0: there is no such process"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(live, arguments, words):
    if os.geteuid() and len(arguments) > 2:
        words = "--pid captures what a program waits for, and only root may trace that: use sudo"
    done = live.run(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(f"wblab: {words}")
    assert len(done.stderr.splitlines()) == 1
    assert not live.exp.exists()
