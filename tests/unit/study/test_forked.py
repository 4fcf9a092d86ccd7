"""Workers on this machine: they run orders, nobody else can reach them, and they end with the command."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from support.waiting import wait_until

from wblab.core.errors import WblabError
from wblab.study.cluster import forked
from wblab.study.work import Order, WorkResult

# A command with two workers, each making a run that never ends.
COMMAND = """
import sys, time
from pathlib import Path
from wblab.cli import interruptible
from wblab.study import cluster
from wblab.study.work import Order
def endless(room, order):
    (room / order.program).touch()
    time.sleep(1000)
with interruptible(), cluster.forked(2, Path(sys.argv[1]), (), make=endless) as workers:
    for number in range(2):
        workers.give(str(number), Order({}, "", str(number)))
    print(*(worker.pid for worker in workers._workers), flush=True)
    workers.ended(1000)
"""

# A command whose worker reads a run; it prints the worker's number of threads.
THREADS = """
import os, sys
from pathlib import Path
from wblab.study import cluster
from wblab.study.work import Order, WorkResult
def read(room, order):
    import wblab.analysis.runs.run, wblab.analysis.why.explanations
    return WorkResult(b"", str(len(os.listdir("/proc/self/task"))))
with cluster.forked(1, Path(sys.argv[1]), (), make=read) as workers:
    workers.give("a", Order({}, "", ""))
    print(workers.ended(60)[0][1].failure)
"""


def order(text: str) -> Order:
    return Order({}, "", text)


@pytest.fixture
def room(tmp_path):
    (tmp_path / "room").mkdir()
    return tmp_path / "room"


@pytest.fixture
def start(room):
    """Return a function that starts workers; `answer` makes a result from a directory and a text."""
    return lambda count, answer: forked(count, room, (), make=lambda room, order: answer(room, order.program))


def all_of(workers, count):
    found = {}
    while len(found) < count:
        found |= dict(workers.ended(5))
    return found


def sockets() -> set[str]:
    """Return the sockets of this process with an address, a name or a peer outside this process."""
    inodes = set()
    for path in Path("/proc/self/fd").glob("*"):
        try:
            inodes.add(os.readlink(path).removeprefix("socket:[").rstrip("]"))
        except OSError:
            continue
    tables = {name: Path("/proc/net", name).read_text().splitlines()[1:] for name in ("tcp", "tcp6", "udp", "udp6")}
    # The first word counts the lines of the table, which sockets of others move.
    found = {line.partition(":")[2] for lines in tables.values() for line in lines if line.split()[9] in inodes}
    named = (line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:])
    return found | {words[7] for words in named if words[6] in inodes and len(words) > 7}


def is_gone(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


def test_orders_are_run_by_other_processes_in_the_same_directory(start, room):
    def answer(room, text):
        (room / text).mkdir()
        return WorkResult(room / text, rows=[(str(os.getpid()), "", "", 0.5)])

    with start(2, answer) as workers:
        assert workers.slots() == 2
        for number in range(8):
            workers.give(f"key{number}", order(str(number)))
        found = all_of(workers, 8)
    assert {key: result.left for key, result in found.items()} == {f"key{n}": room / str(n) for n in range(8)}
    pids = {int(result.rows[0][0]) for result in found.values()}
    assert os.getpid() not in pids
    assert all(map(is_gone, pids))
    assert not room.exists()


def test_workers_open_no_named_socket_and_inherit_none(start, tmp_path):
    before = sockets()
    with socket.create_server(("127.0.0.1", 0)), (tmp_path / "lock").open("wb"):
        opened = sockets()
        assert len(opened) > len(before)

        def answer(room, text):
            files = {os.path.basename(os.path.realpath(path)) for path in Path("/proc/self/fd").glob("*")}
            return WorkResult(b"", "lock" if "lock" in files else "; ".join(sockets() - before))

        with start(2, answer) as workers:
            workers.give("a", order(""))
            assert all_of(workers, 1)["a"].failure == ""
            assert sockets() == opened


def test_an_exception_in_a_run_is_its_failure(start):
    def answer(room, text):
        raise ValueError("of\nall things")

    with start(1, answer) as workers:
        workers.give("a", order(""))
        workers.give("b", order(""))
        assert {result.failure for result in all_of(workers, 2).values()} == {"ValueError: of all things"}


def test_a_killed_worker_fails_only_its_run(start):
    def answer(room, text):
        if text == "deadly":
            os.kill(os.getpid(), signal.SIGKILL)
        return WorkResult(b"", "")

    with start(2, answer) as workers:
        for text in ("deadly", "one", "two", "three"):
            workers.give(text, order(text))
        found = all_of(workers, 4)
        assert found.pop("deadly").failure == "its worker ended with signal SIGKILL"
        assert {result.failure for result in found.values()} == {""}
        assert workers.slots() == 1
        workers.give("last", order("deadly"))
        all_of(workers, 1)
        with pytest.raises(WblabError, match="all workers are gone"):
            workers.slots()


def test_a_cancelled_run_is_interrupted_once(start, tmp_path):
    def answer(room, text):
        try:
            (tmp_path / text).touch()
            time.sleep(1000)
        except KeyboardInterrupt:
            time.sleep(0.5)
            (tmp_path / "interrupted").touch()
            raise

    with start(1, answer) as workers:
        workers.give("a", order("a"))
        workers.give("b", order("b"))
        wait_until((tmp_path / "a").exists)
        workers.cancel()
    assert (tmp_path / "interrupted").exists()
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_workers_end_with_the_command(room, number):
    command = ["env", "--default-signal=INT", sys.executable, "-c", COMMAND, room]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        pids = list(map(int, process.stdout.readline().split()))
        wait_until(lambda: len(list(room.iterdir())) == 2)
        assert not any(map(is_gone, pids))
        process.send_signal(number)
        process.communicate(timeout=600)
    wait_until(lambda: all(map(is_gone, pids)))
    assert room.exists() == (number == signal.SIGKILL)


def test_workers_have_one_thread_even_after_computing_metrics(tmp_path):
    """The host forks the process that watches a guest from a worker, which must have one thread."""
    command = [sys.executable, "-c", THREADS, tmp_path / "room"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "1\n"
