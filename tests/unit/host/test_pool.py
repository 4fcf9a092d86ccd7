"""Several jobs at a time, and that they end together."""

import threading
import time

import pytest

from wblab.core.errors import WblabError
from wblab.host import pool
from wblab.host.pool import side_by_side
from wblab.lab.progress import silent


class Jobs:
    """Counts the jobs that go on; the job `fails` fails, the others go on until they are ended or let go."""

    def __init__(self, fails=0):
        self.fails, self.now, self.started, self.ended = fails, 0, 0, 0
        self.lock = threading.Lock()

    def __call__(self, job, report):
        with self.lock:
            self.now, self.started = self.now + 1, self.started + 1
        try:
            if job == self.fails:
                raise WblabError("it failed")
            while self.fails:
                time.sleep(0.001)
                report(None, "running")
            self.ended += 1
            return str(job)
        finally:
            with self.lock:
                self.now -= 1


def test_results_come_in_the_order_of_the_jobs():
    said = []
    assert side_by_side(range(1, 7), Jobs(), 2, lambda share, text: said.append(text)) == list("123456")
    assert said[-1] == "6 of 6 runs"


def test_so_many_go_on_at_once():
    both = threading.Barrier(2, timeout=60)  # passed by two at a time only
    assert side_by_side([1, 2], lambda job, report: both.wait() >= 0, 2) == [True, True]


def test_a_failure_ends_the_others():
    jobs = Jobs(fails=2)
    with pytest.raises(WblabError, match="it failed"):
        side_by_side(range(1, 21), jobs, 2, silent)
    assert (jobs.now, jobs.ended) == (0, 0)
    assert jobs.started < 6


def test_an_interrupt_ends_all(monkeypatch):
    def interrupted(futures, return_when):
        raise KeyboardInterrupt

    monkeypatch.setattr(pool, "wait", interrupted)
    jobs = Jobs(fails=99)
    with pytest.raises(KeyboardInterrupt):
        side_by_side(range(1, 21), jobs, 2, silent)
    assert (jobs.now, jobs.ended) == (0, 0)


def test_nothing_to_do():
    assert side_by_side([], Jobs(), 2) == []
