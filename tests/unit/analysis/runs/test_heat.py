"""A latency heat map: counts of cycles by when they began and how long they paused."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.support.runs import MS, S
from wblab.analysis.runs.heat import cycles_of, heat_map
from wblab.analysis.runs.pauses import Window

WINDOW = Window(0, 100 * S)


def found(*cycles, longest_ns=0):
    starts, pauses = (np.array(each, np.int64) for each in zip(*cycles, strict=True))
    return heat_map([(starts, pauses)], WINDOW, longest_ns)


@given(st.lists(st.tuples(st.integers(0, 120 * S), st.integers(0, 90 * S)), min_size=1, max_size=60))
def test_each_cycle_that_begins_in_the_window_is_in_the_cell_of_its_start_and_pause(cycles):
    inside = [(start, pause) for start, pause in cycles if start < WINDOW.end_ns]
    got = found(*cycles)
    assert got.counts.sum() == len(inside)
    assert got.longest_ns == max((pause for _, pause in inside), default=0)
    for start, pause in inside:
        column = int(np.searchsorted(got.edges_ns, start, side="right")) - 1
        row = max(0, int(np.searchsorted(got.lengths_ns, pause, side="right")) - 1)
        assert got.counts[column, row] >= 1


def test_lengths_reach_up_to_what_is_compared():
    assert found((0, MS)).lengths_ns[-1] < 10 * MS
    reached = found((0, MS), longest_ns=50 * S).lengths_ns
    assert reached[-2] <= 50 * S < reached[-1]


def test_several_runs_are_one_map_and_none_is_an_empty_one():
    one = (np.array([0], np.int64), np.array([S], np.int64))
    assert heat_map([one, one, one], WINDOW).per_length.sum() == 3
    assert heat_map([], WINDOW).counts.sum() == 0


def test_cycles_are_those_of_innocent_loads(run):
    assert cycles_of(run, "mw1")[1].tolist() == [0, 0, 1400 * MS, 0]
    assert len(cycles_of(run)[0]) == 5
    assert len(cycles_of(run, "l1")[0]) == 0
