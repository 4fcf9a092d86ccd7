import os
from dataclasses import replace
from random import Random

import pytest
from support.descriptors import nothing_stays_open

from wblab.core.loads import (
    KINDS,
    Command,
    CommandFailed,
    Commit,
    Control,
    Loop,
    Mapped,
    MultiWrite,
    Offender,
    Read,
    Repeat,
    Write,
)

WRITE = Write(file="a/w", idle=1, block=3)
MULTI = MultiWrite(file="a/m", idle=1, block=3)
OFFENDER = Offender(file="a/l", wait=0, size=10, block=4)


def test_kinds_have_their_documented_names():
    designed = {
        "control": "control",
        "write": "innocent",
        "multiwrite": "innocent",
        "load": "offender",
        "command": "offender",
    }
    assert {kind: KINDS[kind].role for kind in designed} == designed


def test_a_write_appends_to_one_file(tmp_path):
    cycle = WRITE.prepare(tmp_path, Random())
    for number in range(5):
        cycle(number)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["w"]
    assert (tmp_path / "a" / "w").read_bytes() == bytes(15)


def test_a_multiwrite_opens_a_new_file_each_time_and_closes_it(tmp_path):
    cycle = MULTI.prepare(tmp_path, Random())
    with nothing_stays_open():
        for number in range(5):
            cycle(number)
    assert {path.name: path.stat().st_size for path in (tmp_path / "a").iterdir()} == {f"m.{n}": 3 for n in range(5)}


def test_an_offender_writes_whole_blocks(tmp_path):
    assert (OFFENDER.capacity, OFFENDER.written_bytes) == (3, 12)
    cycle = OFFENDER.prepare(tmp_path, Random())
    for number in range(OFFENDER.capacity):
        cycle(number)
    assert (tmp_path / "a" / "l").stat().st_size == 12


@pytest.mark.parametrize("load", [WRITE, OFFENDER])
def test_an_existing_file_is_truncated(tmp_path, load):
    path = tmp_path / load.file
    path.parent.mkdir()
    path.write_text("old")
    load.prepare(tmp_path, Random())
    assert path.stat().st_size == 0


@pytest.mark.parametrize(
    ("load", "idle_ns"),
    [
        (Control(idle=5), [5, 5]),
        (replace(WRITE, idle=6), [6, 6]),
        (replace(MULTI, idle=7), [7, 7]),
        (replace(OFFENDER, wait=8), [8, 0]),
    ],
)
def test_idle_time_is_a_load_s_intended_sleep(load, idle_ns):
    assert [load.idle_ns(0), load.idle_ns(1)] == idle_ns


ENDLESS = (
    *(Control(idle=5), WRITE, MULTI, Commit(file="c", idle=1, size=8192)),
    *(Read(file="r", idle=1, size=8192), Mapped(file="m", idle=1, size=8192), Loop(file="l", idle=1)),
)


@pytest.mark.parametrize("load", ENDLESS)
def test_endless_loads_have_no_fixed_amount_to_write(load):
    assert load.written_bytes == 0


def test_a_counted_load_has_a_fixed_amount_to_write():
    assert Commit(file="c", idle=1, block=10, count=3).written_bytes == 30
    assert Commit(file="c", idle=1, block=10, size=20, count=3).written_bytes == 30


def test_a_command_runs_on_the_filesystem_in_its_second_cycle(tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    command = Command(argv=("sh", "-c", "pwd > where"), wait=7)
    assert (command.capacity, command.idle_ns(0), command.idle_ns(1)) == (2, 7, 0)
    cycle = command.prepare(tmp_path, Random())
    cycle(0)
    assert not list(tmp_path.iterdir())
    cycle(1)
    assert (tmp_path / "where").read_text() == f"{tmp_path}\n"


@pytest.mark.parametrize(("script", "status"), [("exit 3", 3), ("kill -9 $$", -9)])
def test_a_failing_command_is_reported(tmp_path, monkeypatch, script, status):
    monkeypatch.chdir("/")
    cycle = Command(argv=("sh", "-c", script), wait=0).prepare(tmp_path, Random())
    with pytest.raises(CommandFailed) as failed:
        cycle(1)
    assert failed.value.status == status


def test_a_missing_command_is_a_system_error(tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    monkeypatch.setenv("PATH", str(tmp_path))  # a directory that we may not search would be another error
    with pytest.raises(FileNotFoundError):
        Command(argv=("no-such-program",), wait=0).prepare(tmp_path, Random())(1)


def test_a_repeated_command_runs_once_in_each_cycle(tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    load = Repeat(argv=("sh", "-c", "echo $PWD >> where"), idle=7)
    cycle = load.prepare(tmp_path, Random())
    cycle(0)
    cycle(1)
    assert (tmp_path / "where").read_text() == f"{tmp_path}\n" * 2
    assert (load.idle_ns(0), load.idle_ns(1), load.needs_lab, load.ends) == (7, 7, True, False)
    assert Repeat(argv=("git", "commit", "-m", "a b"), idle=10**9).description == "runs git commit -m 'a b', every 1 s"


def test_a_failing_repeated_command_is_reported(tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    with pytest.raises(CommandFailed) as failed:
        Repeat(argv=("sh", "-c", "exit 3"), idle=1).prepare(tmp_path, Random())(0)
    assert failed.value.status == 3


def test_a_stop_just_after_a_command_s_end_is_no_failure_of_its_load(tmp_path, monkeypatch):
    waitpid = os.waitpid

    def reaped_then_stopped(pid, options):
        waitpid(pid, options)
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    cycle = Repeat(argv=("true",), idle=0).prepare(tmp_path, Random(1))
    monkeypatch.setattr(os, "waitpid", reaped_then_stopped)
    with pytest.raises(KeyboardInterrupt):
        cycle(0)
