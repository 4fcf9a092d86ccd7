"""Kernel stacks hold only calls that had not returned: the kernel's code shows that each frame can call the next."""

from random import Random

import pytest
import tracecmd
from support.callsites import CallSites, pairs, read_code

from wblab.analysis.why.stacks import STACKS
from wblab.core.rundir import TRACE


def recorded(run, kernel):
    """Return the calls of a run's kernel, and how often each pair of frames occurs."""
    with tracecmd.open(run.path / TRACE) as trace:
        return CallSites(read_code(kernel.path), trace.symbols), pairs(trace.events(STACKS)["caller"])


@pytest.mark.parametrize("preset", ["base", "base-device"])
def test_each_frame_can_call_the_one_inside_it(shared_lab, kernel, preset):
    sites, found = recorded(shared_lab.run(preset), kernel)
    judged = {pair: sites.holds(*pair) for pair in found}
    assert [sites.named(*pair) for pair, verdict in judged.items() if verdict == "false"] == []
    assert sum(found.values()) > 10_000
    certain = sum(count for pair, count in found.items() if judged[pair] == "true")
    assert certain > 0.6 * sum(found.values())  # the rest calls through pointers: system calls, drivers, timers


def test_planted_frames_are_found(shared_lab, kernel):
    """A left-over frame between two that are there, as guesses from the content of a stack have them."""
    sites, found = recorded(shared_lab.run("base"), kernel)
    known, chance = sorted(found), Random(1)
    others = sorted({outer for _, outer in known})
    planted = [(inner, chance.choice(others), outer) for inner, outer in known]
    planted = [stack for stack in planted if stack[:2] not in found and stack[1:] not in found]
    assert len(planted) > 200
    missed = [each for each in planted if "false" not in (sites.holds(*each[:2]), sites.holds(*each[1:]))]
    assert len(missed) < 0.1 * len(planted)
