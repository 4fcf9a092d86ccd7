"""What a cycle costs in virtual time: its system calls and its reads of the clock, on each kernel the same."""

import numpy as np
import pytest

TICK_NS = 256  # resolution of the clock; TIMER_MULTIPLIER in arch/um/include/linux/time-internal.h


@pytest.fixture(scope="module")
def run(shared_lab):
    return shared_lab.run("base")


@pytest.mark.parametrize(("name", "calls"), [("c1", 4), ("w1", 5)])  # w1 also writes
def test_reads_of_the_clock_in_the_kernel_cost_nothing(run, name, calls):
    """There are more of them while a trace records stacks and delays, and their number differs between kernels."""
    cost_ns = float(np.median(run.load(name).pauses_ns))
    assert abs(cost_ns - calls * run.spec.clock.syscall_cost) <= TICK_NS / 2
