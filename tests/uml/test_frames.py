"""Kernel stacks hold only calls that had not returned: the kernel's code shows that each frame can call the next."""

from functools import cache
from random import Random

import pytest
import tracecmd
from support.callsites import CallSites, pairs, read_code

from wblab.analysis.why.offcpu import STACKS
from wblab.core.rundir import TRACE


@pytest.fixture(scope="module")
def recorded(shared_lab, kernel):
    """Return a function: of a preset's run, the calls of its kernel, and how often each pair of frames occurs."""

    @cache
    def of(preset):
        with tracecmd.open(shared_lab.run(preset).path / TRACE) as trace:
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
