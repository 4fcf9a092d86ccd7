"""Kernel stacks hold only calls that had not returned: the kernel's code shows that each frame can call the next."""

from functools import cache
from random import Random

import numpy as np
import pytest
import tracecmd
from support.callsites import CallSites, pairs, read_code

from wblab.analysis.why.offcpu import STACKS
from wblab.core.rundir import TRACE
from wblab.host.request import EVENTS


@pytest.fixture(scope="module")
def recorded(shared_lab, kernel):
    """Return a function: of a preset's run, the calls of its kernel, and how often each pair of frames occurs."""

    @cache
    def of(preset):
        with tracecmd.open(shared_lab.once(preset).path / TRACE) as trace:
            return CallSites(read_code(kernel.path), trace.symbols), pairs(trace.events(STACKS)["caller"])

    return of


@pytest.mark.parametrize("preset", ["base", "base-device"])
def test_each_frame_can_call_the_one_inside_it(recorded, preset):
    sites, found = recorded(preset)
    judged = {pair: sites.holds(*pair) for pair in found}
    assert [sites.named(*pair) for pair, verdict in judged.items() if verdict == "false"] == []
    assert sum(found.values()) > 10_000
    certain = sum(count for pair, count in found.items() if judged[pair] == "true")
    assert certain > 0.6 * sum(found.values())  # the rest calls through pointers: system calls, drivers, timers


def test_planted_frames_are_found(recorded):
    """A left-over frame between two that are there, as guesses from the content of a stack have them."""
    sites, found = recorded("base")
    known, chance = sorted(found), Random(1)
    others = sorted({outer for _, outer in known})
    planted = [(inner, chance.choice(others), outer) for inner, outer in known]
    planted = [stack for stack in planted if stack[:2] not in found and stack[1:] not in found]
    assert len(planted) > 200
    missed = [each for each in planted if "false" not in (sites.holds(*each[:2]), sites.holds(*each[1:]))]
    assert len(missed) < 0.1 * len(planted)


SHORT = ("load.l1.size=24MiB", "load.l1.wait=1s", "load.l2.size=1MiB", "load.l2.wait=2s", "trace.lead=1s")


@pytest.fixture(scope="module")
def run(shared_lab):
    return shared_lab.run("base-device", *SHORT)


@pytest.fixture(scope="module")
def trace(run):
    with tracecmd.open(run.path / "trace.dat") as opened:
        opened.counts()
        yield opened


def test_every_sleep_has_a_stack_and_nothing_is_lost(trace):
    switches = trace.events("sched_switch")
    asleep = (switches["prev_state"] & 255 != 0) & (switches["prev_comm"] != "trace-cmd")
    sequence = trace.sequence()
    with_stack = np.isin(sequence.ranks(switches), sequence.ranks_before(trace.events("kernel_stack")))
    assert asleep.sum() > 100
    assert (with_stack == asleep).all()
    assert trace.lost == ()


def test_stacks_lead_from_the_system_call_to_the_scheduler(trace):
    stacks = [trace.symbols.functions(row) for row in trace.events("kernel_stack")["caller"]]
    asleep = [stack for stack in stacks if "schedule" in stack and "hrtimer_nanosleep" in stack]
    assert asleep
    assert all(stack.index("schedule") < stack.index("hrtimer_nanosleep") for stack in asleep)


def test_system_calls_of_long_running_loads_are_recorded(run, trace):
    pids = {load.name: load.pid for load in run.loads}
    assert set(trace.events("sys_enter").pid.tolist()) == {pids[name] for name in ("c1", "w1", "mw1")}


def test_the_labs_events_name_what_is_waited_for_and_who_submits(run, trace):
    assert len(trace.events("block_buffer_wait"))
    submitted = trace.events("block_bio_submit")
    assert any(comm.startswith("kworker/") for comm in submitted.comm[submitted["ino"] != 0])


def test_the_labs_kernel_has_all_recorded_events(run):
    assert not set(run.record["left_out"]) & set(EVENTS)


def test_recording_can_be_turned_off(lab):
    run = lab.run("base-device", *SHORT, "trace.blame=never")
    with tracecmd.open(run.path / "trace.dat") as trace:
        assert set(trace.names) <= {"balance_dirty_pages", "global_dirty_state", "print", "bprint", "raw_data"}
