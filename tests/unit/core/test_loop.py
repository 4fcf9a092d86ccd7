"""The main loop that keeps a log, and the ways to write the log."""

import os
import signal
import threading
import time
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from support.waiting import wait_until

from wblab.core.child import fork_child
from wblab.core.cycles import Ending, ending, run_cycles, stamps_for
from wblab.core.errors import InputError
from wblab.core.loads import Loop
from wblab.core.uring import Ring


def has_io_uring():
    """Whether this machine's kernel has io_uring; a sandbox may forbid it."""
    try:
        Ring(1).close()
    except OSError:
        return False
    return True


MS = 1_000_000
LOOP = Loop(file="a/log", idle=1, block=100)
ALL = [
    *("sync", "threads", "pipe", "mmap", "aio"),
    pytest.param("io_uring", marks=[] if has_io_uring() else pytest.mark.xfail(strict=True)),
]
HANDED = ["threads", "pipe"]


@pytest.mark.parametrize("paradigm", ALL)
def test_all_lines_are_written(tmp_path, paradigm):
    load = replace(LOOP, paradigm=paradigm)
    threads = threading.active_count()
    cycle = load.prepare(tmp_path, Random())
    assert [cycle(number) for number in range(300)] == [False] * 300
    load.finish(cycle)
    assert (tmp_path / "a/log").read_bytes() == (bytes(99) + b"\n") * 300
    assert threading.active_count() == threads
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.fixture
def held(tmp_path):
    """Return a function that blocks all writes to the log, and returns a function that unblocks them."""

    def hold():
        (tmp_path / "a").mkdir()
        os.mkfifo(tmp_path / "a/log")
        reader = os.open(tmp_path / "a/log", os.O_RDONLY | os.O_NONBLOCK)
        filler = os.open(tmp_path / "a/log", os.O_WRONLY | os.O_NONBLOCK)
        while True:
            try:
                os.write(filler, bytes(4096))
            except BlockingIOError:
                break
        os.close(filler)

        def free():
            os.set_blocking(reader, True)
            content = b""
            while piece := os.read(reader, 1 << 20):
                content += piece
            return content

        return free

    return hold


@pytest.mark.parametrize("paradigm", HANDED)
def test_a_loop_continues_while_its_writer_stalls_and_drops_lines(tmp_path, held, paradigm):
    load, free = replace(LOOP, paradigm=paradigm, room=8192, block=4096), held()
    cycle = load.prepare(tmp_path, Random())
    try:
        assert cycle(0) is False
        wait_until(lambda: all(cycle(number) for number in range(6)))  # the writer may take some of them first
    finally:
        reading = threading.Thread(target=free)
        reading.start()
        load.finish(cycle)
        reading.join()


def started(load, mount, stamps):
    return fork_child(lambda: run_cycles(load, mount, stamps, time.monotonic_ns(), Random()))


@pytest.mark.parametrize("paradigm", ALL)
def test_a_stopped_loop_writes_its_log(tmp_path, paradigm):
    load = replace(LOOP, paradigm=paradigm, idle=2 * MS)
    stamps = stamps_for(load)
    pid = started(load, tmp_path, stamps)
    wait_until(lambda: len(stamps.times_ns()) >= 5)
    os.kill(pid, signal.SIGTERM)
    assert os.waitpid(pid, 0)[1] == 0
    assert ending(stamps) == Ending("stopped")
    times_ns = stamps.times_ns()
    assert all(later - earlier >= 2 * MS for earlier, later in pairwise(times_ns[:-1]))
    lines = (tmp_path / "a/log").stat().st_size // 100
    assert len(times_ns) - 2 <= lines <= len(times_ns) - 1


@pytest.mark.parametrize("paradigm", [name for name in ALL if name != "mmap"])
def test_a_full_disk_ends_a_loop_with_the_reason(tmp_path, paradigm):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/log").symlink_to("/dev/full")
    load = replace(LOOP, paradigm=paradigm, idle=MS)
    stamps = stamps_for(load)
    assert os.waitpid(started(load, tmp_path, stamps), 0)[1] == 0
    assert ending(stamps) == Ending("failed", "No space left on device")


def test_the_window_of_a_mapped_log_moves(tmp_path, monkeypatch):
    monkeypatch.setattr("wblab.core.loads.logs._WINDOW_BYTES", 4096)
    load = replace(LOOP, paradigm="mmap")
    cycle = load.prepare(tmp_path, Random())
    for number in range(130):
        cycle(number)
    load.finish(cycle)
    assert (tmp_path / "a/log").read_bytes() == (bytes(99) + b"\n") * 130


def test_dropped_lines_are_counted(tmp_path):
    class Dropping(Loop):
        @property
        def capacity(self):
            return 5

        def prepare(self, mount, draws):
            return lambda number: number % 2 == 0

    stamps = stamps_for(load := Dropping(file="f", idle=1))
    os.waitpid(started(load, tmp_path, stamps), 0)
    assert ending(stamps) == Ending("full", dropped=3)


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (replace(LOOP, file=""), "x.file: '' must be a file"),
        (replace(LOOP, idle=0), "x.idle: must be longer than 0"),
        (replace(LOOP, block=0), "x.block: 0 is not between 1 and 4096"),
        (replace(LOOP, block=4097), "x.block: 4097 is not between 1 and 4096"),
        (replace(LOOP, room=4095), "x.room: give between 4 KiB and 1 MiB"),
        (replace(LOOP, room=1 << 21), "x.room: give between 4 KiB and 1 MiB"),
    ],
)
def test_invalid_parameters_are_refused_before_a_run(load, message):
    with pytest.raises(InputError, match=message):
        load.check("x.")


def test_a_load_describes_itself_for_pictures():
    load = replace(LOOP, idle=10**8)
    assert load.description == "a main loop that logs 100 B itself, every 100 ms"
    assert replace(load, paradigm="threads").description == "a main loop that logs 100 B by a thread, every 100 ms"
    described = "a main loop that logs 100 B through a pipe to a process, every 100 ms"
    assert replace(load, paradigm="pipe").description == described
