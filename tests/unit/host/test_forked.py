"""Local workers: a limited number at once, and none is left after the command, however it ends."""

import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.waiting import LIMIT_S, wait_until

from wblab.host.forked import forked

# A command with two workers on endless jobs.
COMMAND = """
import sys, time
from pathlib import Path
from wblab.host.forked import forked
from wblab.cli import interruptible
def endless(place):
    try:
        place.touch()
        time.sleep(1000)
    except KeyboardInterrupt:
        place.with_suffix(".interrupted").touch()
        raise
with interruptible(), forked(2, endless, str) as workers:
    for number in range(5):
        workers.give(str(number), Path(sys.argv[1], str(number)))
    while True:
        workers.ended(1)
"""


def all_of(workers, count):
    found = {}
    while len(found) < count:
        found |= dict(workers.ended(5))
    return found


def test_the_number_of_parallel_jobs_is_limited(tmp_path):
    def one(number):
        (tmp_path / str(number)).touch()
        wait_until(lambda: len(list(tmp_path.iterdir())) == 2)  # passed only by two at a time
        return number

    with forked(2, one, str) as workers:
        for number in (1, 2):
            workers.give(f"job {number}", number)
        assert all_of(workers, 2) == {"job 1": 1, "job 2": 2}


def test_urgent_jobs_run_before_waiting_ones(tmp_path):
    log = tmp_path / "log"

    def one(number):
        wait_until((tmp_path / "go").exists)
        with log.open("a") as file:
            file.write(f"{number} ")

    with forked(1, one, str) as workers:
        for number in (1, 2, 3):
            workers.give(str(number), number)
        workers.give("10", 10, soon=True)
        (tmp_path / "go").touch()
        all_of(workers, 4)
    assert log.read_text() == "1 10 2 3 "


def test_a_worker_that_is_killed_fails_its_job():
    with forked(2, lambda number: os.kill(os.getpid(), signal.SIGKILL), str) as workers:
        workers.give("job", 1)
        assert all_of(workers, 1) == {"job": "its worker ended with signal SIGKILL"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupt_ends_all_jobs(tmp_path, number):
    command = ["env", "--default-signal=INT", sys.executable, "-c", COMMAND, tmp_path]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        wait_until(lambda: {path.name for path in tmp_path.iterdir()} == {"0", "1"})
        process.send_signal(number)
        process.wait(LIMIT_S)
    wait_until(lambda: not members(process.pid))
    interrupted = set() if number == signal.SIGKILL else {"0.interrupted", "1.interrupted"}
    assert {path.name for path in tmp_path.iterdir()} == {"0", "1"} | interrupted


def members(session: int) -> list[str]:
    """Return the processes of a session that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, of = path.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(of) == session and state != "Z":
            found.append(path.parent.name)
    return found


def test_an_exception_in_the_parent_ends_all_workers(tmp_path):
    def one(number):
        (tmp_path / str(number)).touch()
        signal.pause()

    def interrupted():
        with forked(2, one, str) as workers:
            for number in (1, 2, 3):
                workers.give(str(number), number)
            wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
            raise KeyboardInterrupt

    before = children()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert children() == before


def children() -> str:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text()


def test_garbage_of_the_parent_closes_nothing_in_a_worker(tmp_path):
    garbage = [(tmp_path / str(number)).open("w") for number in range(8)]
    garbage.append(garbage)  # a cycle: it is collected some time, here in the worker

    def files(job):
        mine = [os.open(tmp_path, os.O_RDONLY) for _ in range(16)]
        gc.collect()
        return [os.fstat(number).st_ino for number in mine].count(os.stat(tmp_path).st_ino)

    gc.disable()
    del garbage
    try:
        with forked(1, files, str) as workers:
            workers.give("job", 1)
            assert all_of(workers, 1) == {"job": 16}
    finally:
        gc.enable()
        gc.collect()
