"""Loads that wait for the disk, on a filesystem with a disk."""

import os
import time
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import get_args

import pytest

from wblab.core.check import check_spec
from wblab.core.cycles import Ending, ending, run_cycles, stamps_for
from wblab.core.errors import InputError
from wblab.core.loads import Commit, SyncFilesystem, SyncWrite
from wblab.core.loads.durable import Method
from wblab.core.spec import Spec
from wblab.core.tables import from_table

BLOCK = 4096
WRITE = SyncWrite(file="a/s", idle=1, block=BLOCK)


@pytest.fixture
def calls(monkeypatch):
    """Return the names of the called functions that wait for the disk."""
    made = []

    def noted(name, call):
        def wrapper(*arguments):
            made.append(name)
            return call(*arguments)

        return wrapper

    for name in ("fsync", "fdatasync"):
        monkeypatch.setattr(os, name, noted(name, getattr(os, name)))
    for name in ("sync_file_range", "syncfs"):
        place = f"wblab.core.loads.durable.{name}"
        monkeypatch.setattr(place, noted(name, __import__("wblab.core.syscalls", fromlist=[name]).__dict__[name]))
    return made


def numbers(path, block=BLOCK):
    content = path.read_bytes()
    return [int.from_bytes(content[at : at + 8], "little") for at in range(0, len(content), block)]


@pytest.mark.parametrize("method", get_args(Method))
def test_each_method_writes_numbered_records(disk, method, calls):
    cycle = replace(WRITE, method=method).prepare(disk, Random())
    for number in range(3):
        cycle(number)
    assert numbers(disk / "a/s") == [0, 1, 2]
    assert (disk / "a/s").stat().st_size == 3 * BLOCK
    assert calls == ([method] * 3 if method.startswith(("f", "s")) else [])


@pytest.mark.parametrize("method", ["O_SYNC", "O_DSYNC", "O_DIRECT"])
def test_the_file_is_opened_by_the_methods_flag(disk, method):
    cycle = replace(WRITE, method=method).prepare(disk, Random())
    cycle(0)
    (fd,) = (fd for fd in Path("/proc/self/fd").iterdir() if os.path.realpath(fd) == str(disk / "a/s"))
    flags = next(line for line in Path(f"/proc/self/fdinfo/{fd.name}").read_text().splitlines() if "flags" in line)
    flag = getattr(os, method)
    assert int(flags.split()[1], 8) & flag == flag


def test_records_of_a_file_of_fixed_size_are_overwritten(disk):
    load = replace(WRITE, size=3 * BLOCK)
    load.lay_out(disk)
    inode = (disk / "a/s").stat().st_ino
    cycle = load.prepare(disk, Random())
    for number in range(5):
        cycle(number)
    assert numbers(disk / "a/s") == [3, 4, 2]
    assert ((disk / "a/s").stat().st_ino, load.files) == (inode, {"a/s": 3 * BLOCK})


def test_a_growing_file_is_truncated_first(disk):
    (disk / "a").mkdir()
    (disk / "a/s").write_bytes(bytes(5 * BLOCK))
    Commit(file="a/s", idle=1).prepare(disk, Random())(0)
    assert (disk / "a/s").stat().st_size == BLOCK


def test_a_commit_appends_and_waits_for_its_data(disk, calls):
    load = Commit(file="log", idle=7, block=100)
    cycle = load.prepare(disk, Random())
    cycle(0)
    cycle(1)
    assert (numbers(disk / "log", 100), calls) == ([0, 1], ["fdatasync"] * 2)
    assert (load.idle_ns(0), load.idle_ns(1), load.cycle_bytes, load.files) == (7, 7, 100, {})


def test_a_record_may_be_smaller_than_its_number(disk):
    cycle = Commit(file="log", idle=1, block=1).prepare(disk, Random())
    for number in range(300):
        cycle(number)
    assert (disk / "log").read_bytes() == bytes(number % 256 for number in range(300))


@pytest.mark.parametrize("kind", [SyncWrite, Commit])
def test_a_counted_load_ends_by_itself(disk, kind):
    load = kind(file="s", idle=1, count=4)
    assert (load.ends, load.capacity, load.files) == (True, 4, {"s": 4 * BLOCK})
    stamps = stamps_for(load)
    pid = os.fork()
    if not pid:
        run_cycles(load, disk, stamps, time.monotonic_ns(), Random())
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    assert (ending(stamps), len(stamps.times_ns())) == (Ending("finished"), 5)


def test_syncfs_waits_for_data_of_other_tasks(disk, calls):
    (disk / "other").write_bytes(bytes(1 << 20))
    load = SyncFilesystem(idle=3)
    load.prepare(disk, Random())(0)
    assert (calls, load.idle_ns(1), load.cycle_bytes) == (["syncfs"], 3, 0)


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (replace(WRITE, file="../s"), "load.s.file: .* inside the mount"),
        (replace(WRITE, block=0), "load.s.block: give between 1 B and 16"),
        (replace(WRITE, idle=0), "load.s.idle: must be longer than 0"),
        (replace(WRITE, size=BLOCK + 1), "load.s.size: 4097 B is not a multiple of block, 4 KiB"),
        (replace(WRITE, count=-1), "load.s.count: -1 is not between 0 and"),
        (replace(WRITE, count=1 << 23), "load.s.count: 8388608 is not between 0 and"),
        (replace(WRITE, count=1 << 20), "does not fit on a disk"),
        (replace(WRITE, method="O_DIRECT", block=100), "load.s.block: 100 B is not a multiple of 512"),
        (Commit(file="", idle=1), "load.s.file: '' must be a file"),
        (SyncFilesystem(idle=0), "load.s.idle: must be longer than 0"),
    ],
)
def test_invalid_parameters_are_refused_before_a_run(load, message, table):
    spec = from_table(Spec, table)
    with pytest.raises(InputError, match=message):
        check_spec(replace(spec, load=spec.load | {"s": load}))


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (replace(WRITE, idle=10**8), "writes 4 KiB, fsync, every 100 ms"),
        (replace(WRITE, idle=10**8, method="O_DSYNC"), "writes 4 KiB, opened with O_DSYNC, every 100 ms"),
        (replace(WRITE, idle=10**9, method="none", count=5), "writes 4 KiB, waits for nothing, every 1 s, 5 times"),
        (Commit(file="l", idle=10**9), "commits: appends 4 KiB, fdatasync, every 1 s"),
        (Commit(file="l", idle=10**9, size=1 << 20), "commits: writes over 4 KiB, fdatasync, every 1 s"),
        (SyncFilesystem(idle=10**9), "calls syncfs, every 1 s"),
    ],
)
def test_a_load_describes_itself_for_pictures(load, words):
    assert load.description == words
