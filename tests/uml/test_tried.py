"""A sentence of `why` is tried on its own run: who counts, what helps, and what a trial leaves behind."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from support.lottery import on_its_day

from wblab.analysis.why.explanations import explanations
from wblab.lab.places import ROOT
from wblab.report.whycause import groups
from wblab.study.designs.prove.search import Without
from wblab.study.designs.prove.tried import Terms, try_on_run
from wblab.study.designs.prove.words import lines, table

CASES = Path(__file__).parent / "cases"
SOURCES = ("agent", "phase")  # of I/O, that are no load: one is tried a day
BOUND_NS = 300_000_000
LONG_S = 600.0  # a busy machine does not decide what a test finds
LITTLE = ("load.l2.size=1KiB", "load.l2.wait=35s")
BULK = """
import signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, {15})
time.sleep(9)
with open("/mnt/disk/big", "wb") as file:
    for _ in range(384):
        file.write(bytes(1 << 16))
signal.sigwait({15})
"""


def tried(lab, run, place, time_s=LONG_S):
    first = groups([item.explanation for item in explanations(run, "", BOUND_NS)])[0]
    return try_on_run(run, first, Terms(place, lambda name: lab.kernel, time.monotonic() + time_s, BOUND_NS))


@pytest.fixture(scope="module")
def run(shared_lab):
    return shared_lab.run("base-device", *LITTLE)


@pytest.fixture(scope="module")
def found(shared_lab, run):
    return tried(shared_lab, run, run.path / "tried")


def test_the_load_that_is_named_counts_and_a_short_queue_helps(found):
    said = table(found)
    assert (said["why_not"], said["finding"], said["culprits"]) == ("", "agrees", ["l1"])
    assert ["disk.disk.queue.nr_requests=4", "disk.disk.queue.max_sectors_kb=128"] in said["remedies"]
    first, second, *_ = lines(found, "latest", "exp/run")
    assert first.startswith("Tried on this run: without l1, ")
    assert " became " in second


def test_without_a_load_the_run_is_the_same_up_to_the_moment_before_its_first_write(found):
    """Otherwise the trial has failed: it says nothing."""
    assert {effect.failure for item, effect in found.search.effects.items() if isinstance(item, Without)} == {""}


def test_trials_leave_rows_that_the_next_call_reads(shared_lab, run, found, monkeypatch):
    kept = sorted((run.path / "tried").iterdir())
    assert {path.suffix for path in kept} == {".json"}
    assert sum(path.stat().st_size for path in kept) < 1 << 20

    def boots(*_, **__):
        raise AssertionError("a trial was repeated")

    monkeypatch.setattr("wblab.study.designs.prove.repeating.forked", boots)
    again = tried(shared_lab, run, run.path / "tried")
    assert table(again)["remedies"] == table(found)["remedies"]


@on_its_day("agent", SOURCES)
def test_an_agent_counts_like_a_load(lab):
    agent = f"agent.bulk.argv={json.dumps(['python3', '-c', BULK])}"
    run = lab.run("base-device", *LITTLE, "load.l1.size=1KiB", "load.l1.wait=35s", agent)
    found = tried(lab, run, run.path / "tried")
    assert found.search.culprits == ("bulk",)
    assert lab.left_behind() == []


@on_its_day("phase", SOURCES)
def test_a_phase_counts_like_a_load_and_is_told_with_what_it_set(shared_lab):
    """What it changed at 5 s made the load's own reads slow; up to then both runs are the same."""
    run = shared_lab.run(str(CASES / "dropcaches.toml"))
    found = tried(shared_lab, run, run.path / "tried")
    assert (found.search.finding, found.search.culprits) == ("partly", ("the phase *p*",))
    assert "the phase *p* (at 5 s: sysctl.vm.drop_caches=3) causes it." in "".join(lines(found, "latest", "exp/run"))


def test_without_time_nothing_is_tried_and_nothing_is_certain(lab, run):
    said = table(tried(lab, run, lab.results / "tried", time_s=0))
    assert (said["finding"], said["trials"]) == ("undecided", [])
    assert "no time" in said["why_not"]
    assert lab.left_behind() == []


def test_another_kernel_is_said_and_nothing_is_tried(lab, run):
    other = run.record | {"kernel": {**run.record["kernel"], "build_id": "0" * 64}}
    found = tried(lab, replace(run, record=other), lab.results / "tried")
    (said,) = lines(found, "", "")
    assert said.startswith("Not tried: ")
    assert said.endswith("no cause is certain here.")


def test_an_interrupt_ends_the_trials_and_leaves_the_answer(lab, run):
    command = [sys.executable, "-m", "wblab", "why", str(run.path), "--exp", str(lab.results), "--try-for", "600s"]
    environment = os.environ | {"WBLAB_SHM": str(lab.shm), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [*command, "--load", "mw1"],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0,
    ) as asked:  # fmt: skip
        assert asked.stdout
        while "stalled" not in asked.stdout.readline():
            assert asked.poll() is None
        while not os.listdir(lab.shm) and asked.poll() is None:
            pass
        os.killpg(asked.pid, signal.SIGINT)
        said, _ = asked.communicate()
    assert asked.returncode == 128 + signal.SIGINT
    assert "In detail" in said
    assert lab.left_behind() == []
    assert not list((run.path / "proof" / "tried").glob(".work-*"))
