"""A kernel that makes a load's system calls in batches makes the same calls at the same times as the load itself.

Python's own memory differs by about a page, which moves the dirty thresholds a little. Therefore these guests have
enough memory, and thresholds in bytes. No stacks are recorded: a call that is handed over has another caller.
"""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tracecmd
from support.guestlab import Lab
from support.lottery import some

import wblab.host.run
from wblab.analysis.runs.run import Run
from wblab.core.rundir import TRACE
from wblab.kernels import features
from wblab.lab.places import PRESETS

PLAIN = 0  # each system call by the load
ALL = wblab.host.run.BATCH
EVENTS = {"sys_enter": ("id",), "sys_exit": ("id", "ret"), "sched_switch": ("prev_pid", "prev_state", "next_pid")}
ROOM = (
    *("memory=420MiB", "sysctl.vm.dirty_background_ratio=0", "sysctl.vm.dirty_ratio=0"),
    *("sysctl.vm.dirty_background_bytes=6000000", "sysctl.vm.dirty_bytes=12000000"),
    *("trace.buffer=96MiB", 'trace.blame="never"', 'trace.events=["raw_syscalls", "sched:sched_switch"]'),
    *("trace.filters={}", "trace.triggers={}"),
)
LARGE = {"jbod": ("memory=1GiB",)}  # its data does not fit into less, and reclaim sees that page
OTHERS = sorted({path.stem for path in PRESETS.glob("*.toml")} - {"base"})

Batched = Callable[[str, int], Run]


@pytest.fixture
def run(shared_lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Batched:
    if "cycles" not in features(shared_lab.kernel):
        assert "WBLAB_KERNEL" in os.environ, "the default kernel has it"
        pytest.skip("the kernel that $WBLAB_KERNEL names has no um_cycles")

    def one(preset: str, batch: int) -> Run:
        monkeypatch.setattr(wblab.host.run, "BATCH", batch)
        return shared_lab.run(preset, *ROOM, *LARGE.get(preset, ()))

    return one


def columns(run: Run) -> dict[str, Any]:
    """Return all boundaries and events, except for addresses in a load's memory."""
    found = {f"boundaries of {load.name}": load.boundaries_ns for load in run.loads}
    with tracecmd.open(run.path / TRACE) as trace:
        for name, fields in EVENTS.items():
            if name not in trace.names:  # a tree may lack the events of system calls
                continue
            events = trace.events(name)
            found |= {f"times of {name}": events.ts_ns, f"tasks of {name}": events.pid}
            found |= {f"{field} of {name}": events[field] for field in fields}
    return found


def assert_same(one: Run, other: Run) -> None:
    was, is_now = columns(one), columns(other)
    assert was.keys() == is_now.keys()
    assert [key for key in was if not np.array_equal(was[key], is_now[key])] == []
    # the shortest preset makes 172 system calls; a tree may lack the events of them
    assert len(was.get("times of sys_enter", was["times of sched_switch"])) > 100


def test_batched_system_calls_give_the_same_run_for_any_batch_size(run):
    plain = run("base", PLAIN)
    for batch in (1, 2, 100, ALL):
        assert_same(plain, run("base", batch))


@pytest.mark.parametrize("preset", some(OTHERS, 2))
def test_batched_system_calls_give_the_same_run_for_all_presets(run, preset):
    assert_same(run(preset, PLAIN), run(preset, ALL))
