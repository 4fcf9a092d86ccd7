import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import MISSING, fields
from itertools import cycle, islice

import numpy as np
import pytest
from support.waiting import LIMIT_S, wait_until

from wblab.cli import build_parser, main
from wblab.commands.load import make_load, required
from wblab.core.loads import KINDS, Control, MultiWrite, Offender, Serve, SyncWrite, Write
from wblab.lab.places import ROOT

LOAD = [sys.executable, str(ROOT / "load.py")]
OFFENDER = ["load", "f", "0s", "64K", "1K"]


def parsed(*arguments):
    return make_load(build_parser().parse_args(["load", *arguments]))


@pytest.fixture
def run(tmp_path):
    """Run load.py to its end."""

    def call(*arguments):
        return subprocess.run([*LOAD, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)

    return call


@pytest.fixture
def started(tmp_path):
    """Start load.py with a load that sleeps in its first cycle, and wait until it sleeps."""
    processes = []

    def sleeps(pid):
        with open(f"/proc/{pid}/syscall") as now:
            return now.read().startswith("230 ")  # clock_nanosleep

    def start(*arguments):
        process = subprocess.Popen([*LOAD, *arguments], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        processes.append(process)
        wait_until(lambda: sleeps(process.pid))
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def record(directory, name):
    return json.loads((directory / f"load.{name}.json").read_text())


@pytest.mark.parametrize(
    ("arguments", "load"),
    [
        ("c1 control 50ms", Control(idle=50_000_000)),
        ("w1 write a/f 1s", Write(file="a/f", idle=10**9)),
        ("w1 write 5 1s --block 4K", Write(file="5", idle=10**9, block=4096)),
        ("m1 multiwrite f 1s --start 5s", MultiWrite(file="f", idle=10**9, start=5 * 10**9)),
        ("s1 syncwrite f 1s --method O_DSYNC --count 3", SyncWrite(file="f", idle=10**9, method="O_DSYNC", count=3)),
        ("s1 serve o 1s --depth 3", Serve(file="o", idle=10**9, depth=3)),
        ("--ioclass idle --iolevel 7 l1 load f 0 1M 1K", None),
    ],
)
def test_parameters_are_those_of_the_kind(arguments, load):
    load = load or Offender(file="f", wait=0, size=1 << 20, block=1024, ioclass="idle", iolevel=7)
    assert parsed(*arguments.split()) == load


def test_a_list_is_one_argument():
    load = parsed("s1", "serve", "o", "1s", "--async_calls", "open read")
    assert load == Serve(file="o", idle=10**9, async_calls=("open", "read"))


def test_parameters_are_in_the_documented_order():
    designed = {
        "control": ["idle"],
        "write": ["file", "idle"],
        "multiwrite": ["file", "idle"],
        "load": ["file", "wait", "size", "block"],
        "command": ["argv", "wait"],
        "syncwrite": ["file", "idle"],
        "commit": ["file", "idle"],
        "syncfs": ["idle"],
        "read": ["file", "size", "idle"],
        "mapped": ["file", "size", "idle"],
        "loop": ["file", "idle"],
        "repeat": ["argv", "idle"],
    }
    assert {kind: required(KINDS[kind]) for kind in designed} == designed


def test_help_lists_every_kind_with_its_parameters(run):
    done = run("--help")
    assert done.returncode == 0
    for kind, cls in KINDS.items():
        assert re.search(rf"^  {kind} {' '.join(required(cls))}\b", done.stdout, re.MULTILINE)
    for option in ("--dir", "--out", "--start", "--ioclass", "--iolevel", "--block"):
        assert option in done.stdout


def test_help_shows_the_defaults_of_each_kind(run):
    shown = " ".join(run("--help").stdout.split())
    for kind, cls in KINDS.items():
        for field in fields(cls):
            if field.name == "block" and field.default is not MISSING:
                assert re.search(rf" {kind} .*?\[--block {field.default}\]", shown)


def test_an_offender_finishes_and_writes_its_files(run, tmp_path):
    (tmp_path / "out").mkdir()
    done = run("l1", *OFFENDER, "--dir", "work", "--out", "out")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "work" / "f").stat().st_size == 64 << 10
    assert sorted(os.listdir(tmp_path / "out")) == ["load.l1.json", "load.l1.npy"]
    assert (record(tmp_path / "out", "l1")["end"], record(tmp_path / "out", "l1")["cycles"]) == ("finished", 64)
    times_ns = np.load(tmp_path / "out" / "load.l1.npy", allow_pickle=False)
    assert len(times_ns) == 65
    assert (np.diff(times_ns) >= 0).all()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("arguments", [["control", "1h"], ["write", "f", "1h"], ["multiwrite", "f", "1h"]])
def test_a_signal_ends_a_load_cleanly(started, tmp_path, number, arguments):
    process = started("x", *arguments)
    process.send_signal(number)
    assert process.wait(LIMIT_S) == 0
    assert process.stderr.read() == ""
    assert record(tmp_path, "x")["end"] == "stopped"
    assert record(tmp_path, "x")["pid"] == process.pid
    assert len(np.load(tmp_path / "load.x.npy")) in (0, 2)  # 0: before its first cycle


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: name, kind"),
        (["c1"], "the following arguments are required: kind"),
        (["c1", "contrl", "5s"], "unknown kind 'contrl'"),
        (["c1", "control"], "got 0 parameters, expected 1: write control idle"),
        (["c1", "control", "5s", "5s"], "got 2 parameters, expected 1: write control idle"),
        (["l1", "load", "f", "5s"], "got 2 parameters, expected 4: write load file wait size block"),
        (["c1", "control", "5"], "idle: '5' is not understood: write for example 50ms"),
        (["c1", "control", "0"], "idle: must be longer than 0"),
        (["c1", "control", "5s", "--block", "5"], "unknown key 'block'"),
        (["c1", "control", "5s", "--wrong"], "unrecognized arguments: --wrong"),
        (["c1", "control", "5s", "--iolevel", "8"], "iolevel: 8 is not between 0 and 7"),
        (["c1", "control", "5s", "--iolevel", "x"], "argument --iolevel: invalid int value: 'x'"),
        (["c1", "control", "5s", "--ioclass", "best"], "ioclass: 'best' is not one of"),
        (["a/b", "control", "5s"], "name: 'a/b' is not a valid name"),
        (["w1", "write", "../f", "5s"], "file: '../f' must be a file inside"),
        (["l1", "load", "f", "0", "1M", "0"], "block: give between 1 B and 16"),
        (["l1", "load", "f", "0", "1T", "1"], "block: 1099511627776 writes are more than"),
        (["c1", "control", "5s", "--out", "missing"], "--out: cannot write to 'missing': give another directory"),
    ],
)
def test_bad_input_is_one_line_and_leaves_no_file(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert main(["load", *arguments]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith(f"wblab: {message}")
    assert output.err.count("\n") == 1
    assert os.listdir(tmp_path) == []


def test_nothing_is_overwritten(run, tmp_path):
    (tmp_path / "load.l1.npy").write_text("old")
    done = run("l1", *OFFENDER)
    assert (done.returncode, done.stderr) == (2, "wblab: 'load.l1.npy' exists: give another name or --out\n")
    assert sorted(os.listdir(tmp_path)) == ["load.l1.npy"]


def test_a_failing_load_gives_the_reason_and_its_files(run, tmp_path):
    (tmp_path / "f").symlink_to("/dev/full")
    done = run("l1", *OFFENDER)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "wblab: the load l1 failed: No space left on device\n"
    assert (record(tmp_path, "l1")["end"], record(tmp_path, "l1")["error"]) == ("failed", "No space left on device")
    assert len(np.load(tmp_path / "load.l1.npy")) == 1


def test_load_py_needs_only_the_standard_library(tmp_path):
    command = [sys.executable, "-I", "-S", str(ROOT / "load.py"), "l1", *OFFENDER]
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0


@pytest.fixture
def traced(tmp_path):
    """Run load.py under strace, stop it after a while if it has no end, and return its system calls, in order.

    The start delay, a sleep, comes right before the first boundary; a change of the signals' handlers, or the
    signal itself, right after the last.
    """
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed")
    if subprocess.run([strace, "-o", os.devnull, "true"], capture_output=True, check=False).returncode:
        pytest.skip("ptrace is forbidden here")

    def trace(stop_at, *arguments):
        output = tmp_path / "strace"
        command = [strace, "-f", "-e", "trace=all", "-o", str(output), *LOAD, "x", *arguments, "--start", "1ms"]
        with subprocess.Popen(command, cwd=tmp_path) as process:
            while stop_at and process.poll() is None:
                text = output.read_text(errors="replace") if output.exists() else ""
                if text.count("clock_nanosleep(") > stop_at:
                    os.kill(int(text.split()[0]), signal.SIGTERM)
                    break
        assert process.returncode == 0
        names = [line.split(maxsplit=1)[1].partition("(")[0] for line in output.read_text().splitlines()]
        names = names[names.index("clock_nanosleep") + 1 :]
        end = next(number for number, name in enumerate(names) if name == "rt_sigaction" or name.startswith("---"))
        # If the vDSO has no clock, reading the time is a system call of the load itself. preadv may be preadv2.
        return [name.removesuffix("2") for name in names[:end] if name != "clock_gettime"]

    return trace


@pytest.mark.parametrize(
    ("arguments", "calls"),
    [
        (["control", "1ms"], ["clock_nanosleep"]),
        (["write", "f", "1ms"], ["write", "clock_nanosleep"]),
        (["multiwrite", "f", "1ms"], ["openat", "write", "close", "clock_nanosleep"]),
        (["commit", "f", "1ms"], ["pwrite64", "fdatasync", "clock_nanosleep"]),
        (["read", "f", "64KiB", "1ms"], ["preadv", "fadvise64", "clock_nanosleep"]),
        (["load", "f", "0s", "4MiB", "1KiB"], ["write"]),
        (["load", "f", "1ms", "4MiB", "1KiB"], ["write"]),
    ],
    ids=" ".join,
)
def test_between_two_timestamps_are_only_the_cycles_own_system_calls(traced, tmp_path, arguments, calls):
    endless = arguments[0] != "load"
    made = traced(200 if endless else 0, *arguments)
    cycles = record(tmp_path, "x")["cycles"]
    assert cycles >= (200 if endless else 4096)
    if arguments[2:3] == ["1ms"] and not endless:
        assert made.pop(0) == "clock_nanosleep"  # its wait
    assert made == list(islice(cycle(calls), len(made)))
    whole = cycles - 1 if endless else cycles  # the last cycle of an endless load was cut
    assert whole * len(calls) <= len(made) <= cycles * len(calls)


@pytest.mark.parametrize("option", ["--dir", "--out"])
@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_root_refuses_directories_that_others_can_change(tmp_path, monkeypatch, capsys, option, mode):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    (place := tmp_path / "theirs").mkdir()
    if os.getuid() == 0:
        os.chown(place, -1, 65534)
    place.chmod(mode)
    monkeypatch.chdir(tmp_path)
    assert main(["load", "l1", *OFFENDER, option, str(place)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("wblab: --")
    assert said.endswith(", and could redirect root's writes: give another directory, or run as that user\n")
    assert os.listdir(place) == []


def test_control_characters_are_not_printed(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["load", "l1", "\x1b[2J\n"]) == 2
    assert capsys.readouterr().err.startswith("wblab: unknown kind ")
    assert main(["load", "l1", *OFFENDER, "--out", "\x1b[2J\u202e"]) == 2
    said = capsys.readouterr().err
    assert said.rstrip("\n").isprintable()
