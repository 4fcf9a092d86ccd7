"""Several jobs at a time, and that they end together."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.waiting import LIMIT_S, wait_until

from wblab.core.errors import InputError, WblabError
from wblab.host.jobs import UnforeseenError, all_of, working
from wblab.host.run import RunFailedError

# A command whose two workers are at jobs that never end.
COMMAND = """
import sys, time
from pathlib import Path
from wblab.host.jobs import all_of, working
from wblab.lab.interruption import interruptible
def endless(place):
    try:
        place.touch()
        time.sleep(1000)
    except KeyboardInterrupt:
        place.with_suffix(".interrupted").touch()
        raise
with interruptible(), working(endless, 2) as workers:
    all_of(workers, {str(number): Path(sys.argv[1], str(number)) for number in range(5)})
"""


def jobs(*numbers):
    return {f"job {number}": number for number in numbers}


def wait_forever():
    while True:
        time.sleep(0.01)


def test_what_jobs_make_comes_back_by_key_in_their_order():
    said = []

    def one(number):
        time.sleep(0.2 / number)
        return str(number), os.getpid()

    with working(one, 2) as workers:
        made = all_of(workers, jobs(1, 2, 3, 4), lambda share, text: said.append((share, text)))
    assert [(key, text) for key, (text, _) in made.items()] == [
        (f"job {number}", str(number)) for number in range(1, 5)
    ]
    assert os.getpid() not in {pid for _, pid in made.values()}
    assert said[-1] == (1.0, "4 of 4 runs")


def test_so_many_go_on_at_once(tmp_path):
    def one(number):
        (tmp_path / str(number)).touch()
        wait_until(lambda: len(list(tmp_path.iterdir())) == 2)  # passed by two at a time only
        return number

    with working(one, 2) as workers:
        assert all_of(workers, jobs(1, 2)) == jobs(1, 2)


def test_what_follows_from_a_job_comes_before_those_that_wait(tmp_path):
    log = tmp_path / "log"

    def one(number):
        with log.open("a") as file:
            file.write(f"{number} ")
        return number

    with working(one, 1) as workers:
        made = all_of(workers, jobs(1, 2, 3, 4), then=lambda number: jobs(number * 10) if number in {2, 20} else {})
    assert made == jobs(1, 2, 3, 4, 20, 200)
    # the worker has its next job before we look at what it has made
    assert log.read_text() == "1 2 3 20 4 200 "


@pytest.mark.parametrize(
    "error", [WblabError("it failed"), InputError("it failed"), RunFailedError("it failed", Path("/run"))]
)
def test_a_failure_ends_the_others_and_says_what_it_said(tmp_path, error):
    def one(number):
        (tmp_path / str(number)).touch()
        if number == 2:
            wait_until((tmp_path / "1").exists)
            raise error
        wait_forever()

    with pytest.raises(type(error), match=r"^it failed$") as raised, working(one, 2) as workers:
        all_of(workers, jobs(*range(1, 20)))
    assert vars(raised.value) == vars(error)
    assert len(list(tmp_path.iterdir())) < 4


def test_after_a_failure_its_workers_are_there_for_others(tmp_path):
    def one(number):
        if number == 1:
            wait_until((tmp_path / "go").exists)
        if number == 2:
            raise WblabError("it failed")
        return number

    with working(one, 2) as workers:
        with pytest.raises(WblabError, match="it failed"):
            all_of(workers, jobs(1, 2, 3))
        (tmp_path / "go").touch()
        assert all_of(workers, jobs(4, 5)) == jobs(4, 5)
        assert all_of(workers, {}) == {}


def test_what_nobody_foresaw_comes_with_the_workers_traceback():
    def one(number):
        return {}[number]

    with pytest.raises(UnforeseenError, match=r"in one\n(.*\n)*KeyError: 7"), working(one, 1) as workers:
        all_of(workers, jobs(7))


def test_a_worker_that_is_killed_fails_its_job():
    with (
        pytest.raises(WblabError, match="signal SIGKILL"),
        working(lambda number: os.kill(os.getpid(), signal.SIGKILL), 2) as workers,
    ):
        all_of(workers, jobs(1))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupt_ends_all(tmp_path, number):
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


def test_what_a_report_raises_ends_all():
    def one(number):
        if number == 2:
            wait_forever()

    def interrupted(share, text):
        raise KeyboardInterrupt

    before = children()
    with pytest.raises(KeyboardInterrupt), working(one, 2) as workers:
        all_of(workers, jobs(1, 2, 3), interrupted)
    assert children() == before


def children() -> str:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text()


def test_nothing_to_do():
    with working(str, 0) as workers:
        assert all_of(workers, {}) == {}
