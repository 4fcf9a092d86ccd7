"""A real trace: the course of events that the timeline shows, and the kernel's own arithmetic."""

import numpy as np
import pytest
from throttling import limit_steps

import wblab
from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.pauses import longest_paused
from wblab.analysis.runs.throttling import setpoint
from wblab.plot.picture import picture, save
from wblab.plot.timeline import timeline

S = 10**9


@pytest.fixture(scope="module")
def run(shared_lab):
    return wblab.read(shared_lab.once("base").path)


@pytest.fixture(scope="module")
def cache(run):
    return page_cache(run)


def test_no_events_were_lost(cache):
    assert cache.lost_ns == ()


def test_the_trace_has_the_clock_of_the_loads(run, cache):
    state = cache.dirty_state
    assert state.ts_ns[0] < run.zero_ns < state.ts_ns[-1]
    assert abs(int(state.ts_ns[-1]) - int(run.load("c1").boundaries_ns[-1])) < S


def test_the_limit_starts_above_the_threshold_and_falls_to_it(run, cache):
    state = cache.dirty_state
    ratio = state.limit / state.threshold
    assert ratio[(state.ts_ns >= run.zero_ns).argmax()] > 1.2
    assert ratio[-1] < 1.05
    assert (state.background < state.threshold).all()


def test_dirty_pages_rise_to_the_limit_within_two_seconds_of_the_offender(run, cache):
    state = cache.dirty_state
    full = state.dirty + state.writeback >= 0.99 * state.limit
    first_s = (int(state.ts_ns[full.argmax()]) - run.offender_starts_ns()["l1"]) / S
    assert 0 < first_s < 2


def test_rate_limiting_takes_over_when_the_long_pauses_end(run, cache):
    decisions = cache.throttling
    item = longest_paused(run)
    last_long_ns = int(item.starts_ns[item.pauses_ns > S].max())
    stopped = decisions.where(decisions.task_rate == 0)
    assert stopped.ts_ns[-1] < last_long_ns + 10 * S
    later = decisions.where(decisions.ts_ns > last_long_ns + 10 * S)
    assert len(later) > 100
    assert (later.task_rate > 0).all()
    assert later.base_rate[-1] < decisions.base_rate[0] / 50


def test_tasks_have_the_names_of_the_loads(cache):
    assert {"l1", "l2", "mw1"} <= set(cache.throttling.task)


def test_every_step_of_the_limit_is_as_computed(run):
    steps = limit_steps(run)
    assert len(steps) > 100
    assert (steps["computed"] == steps["limit_after"]).all()


def test_setpoints_are_as_computed(cache):
    state, decisions, page = cache.dirty_state, cache.throttling, cache.trace.info.page_bytes
    before = np.searchsorted(state.ts_ns, decisions.ts_ns, side="right") - 1
    pages = [column[before] // page for column in (state.background, state.threshold, state.limit)]
    assert (setpoint(*pages) == decisions.setpoint // page).mean() > 0.95  # another task may come in between


def test_the_end_of_a_pause_event_by_event(run):
    longest = run.why().longest
    span = longest.start_s + longest.duration_s - 0.2, longest.start_s + longest.duration_s + 0.05
    table = run.trace.between(*span)
    assert len(table) > 2  # how many there are depends on the run
    assert table["at_s"].is_monotonic_increasing
    assert len(run.trace.between(*span, most=len(table) - 1)) == len(table) - 1


def test_drawing_twice_gives_the_same_picture(run, cache, tmp_path):
    for name in ("a.png", "b.png"):
        save(picture(timeline(run, cache)), run.name, tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


TICK_NS = 256  # resolution of the clock; TIMER_MULTIPLIER in arch/um/include/linux/time-internal.h


@pytest.mark.parametrize(("name", "calls"), [("c1", 4), ("w1", 5)])  # w1 also writes
def test_reads_of_the_clock_in_the_kernel_cost_nothing(shared_lab, name, calls):
    """There are more of them while a trace records stacks and delays, and their number differs between kernels."""
    run = shared_lab.once("base")
    cost_ns = float(np.median(run.load(name).pauses_ns))
    assert abs(cost_ns - calls * run.spec.clock.syscall_cost) <= TICK_NS / 2
