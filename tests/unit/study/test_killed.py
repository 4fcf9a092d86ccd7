"""A study that is killed at any step resumes: no run is lost or made twice, and nothing else is left.

One engine makes all studies, whatever their design. Here the guests are pretended, and the command is really killed.
"""

import os
import signal
import sys
import time
from dataclasses import replace
from functools import partial
from itertools import count

import pytest

from wblab.analysis.runs.digest import digest
from wblab.analysis.runs.run import read_run
from wblab.lab.formats import CELLS, ROWS, RUNS, STUDY_FILE
from wblab.lab.progress import silent
from wblab.study.cells import run_name
from wblab.study.cluster import forked
from wblab.study.rowfile import run_rows
from wblab.study.run import run_missing
from wblab.study.store import Store
from wblab.study.work import WorkResult, warm

KERNELS = {"": {"build_id": "a" * 64, "release": "7.3.0"}}
LEFT = {"traces": {STUDY_FILE, RUNS, ROWS}, "digests": {STUDY_FILE, RUNS, CELLS, ROWS}}
# What Python reports (sys.addaudithook) before it changes a directory.
STEPS = {"open", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.truncate", "tempfile.mkdtemp"}
WRITES = os.O_WRONLY | os.O_RDWR


@pytest.fixture
def go_on(pretended):
    """Return a function that makes the missing runs of a study in a worker, as the verbs do."""

    def make(room, order):
        directory = pretended(room / order.unpacked().name, order.unpacked(), wall_s=time.monotonic())
        found = digest(read_run(directory)) if order.digest else ""
        return WorkResult(directory, rows=run_rows(directory, ()), digest=found)

    def run(store):
        with store.held(), forked(1, store.room(), (), make=make) as workers:
            run_missing(store, workers, silent)

    warm(())
    return run


def made(store):
    """Return the complete runs of a study, each with what tells whether it was made again."""
    if not store.keeps_directories:
        return {row.name: row.wall_s for row in store.rows.all()}
    return {path.name: path.stat().st_ino for path in store.runs.glob("[!_.]*")}


def is_killed(work, kill_at):
    """Do work in a process of its own that kills itself before a step. Return whether it came to that step."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(writer, 0)  # its workers have it too: the other end is at its end when all are gone
        me, steps = os.getpid(), 0

        def step(event, arguments):
            nonlocal steps
            if event in STEPS and os.getpid() == me and (event != "open" or arguments[2] & WRITES):
                steps += 1
                if steps == kill_at:
                    os.kill(me, signal.SIGKILL)

        sys.addaudithook(step)
        try:
            work()
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as gone:
        gone.read()
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


@pytest.mark.parametrize("keep", LEFT)
def test_a_study_that_is_killed_before_any_step_resumes(make_matrix, go_on, tmp_path, keep):
    plan = replace(make_matrix(seeds=3), keep=keep)
    runs = {run_name(*run) for run in plan.runs()}
    numbers_complete = set()
    for kill_at in count(1):
        study = Store.create(tmp_path / f"exp-{kill_at}", plan, KERNELS)
        if not is_killed(partial(go_on, study), kill_at):  # it has fewer steps
            break
        killed = Store.open(study.path)
        before = made(killed)
        assert before.keys() == runs - {run_name(*run) for run in killed.missing()}
        go_on(killed)
        after = made(Store.open(study.path))
        assert before.items() <= after.items()
        assert after.keys() == runs
        assert {path.name for path in study.path.iterdir()} == LEFT[keep]
        if keep == "traces":
            assert set(os.listdir(study.runs)) == runs
        else:
            assert not os.listdir(study.runs)
        assert os.listdir(study.rows.path) == ["0000.parquet"]
        assert {row.name for row in Store.open(study.path).rows.all()} == runs
        numbers_complete.add(len(before))
    assert numbers_complete == {0, 1, 2, 3}
