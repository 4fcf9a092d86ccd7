import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wblab.analysis.runs.run import LoadCycles
from wblab.core.loads import MultiWrite, Offender
from wblab.core.units import Bytes, Nanoseconds
from wblab.plot.loadpanes import cycles as blocks_of

MS = 1_000_000
INNOCENT = MultiWrite(file="f", idle=Nanoseconds(0))
OFFENDER = Offender(file="f", wait=Nanoseconds(5000 * MS), size=Bytes(3), block=Bytes(1))


def reduced(item, columns):
    return blocks_of(item, {"x": "black"}, 1000 * MS).reduced(columns)


def cycles(durations_ms, load=INNOCENT):
    return LoadCycles("x", load, 1, "stopped", "", np.cumsum([0, *durations_ms], dtype=np.int64) * MS)


durations = st.lists(st.integers(min_value=1, max_value=3000), min_size=1, max_size=300)


@given(durations, st.integers(min_value=1, max_value=500))
def test_reduction_keeps_extent_highest_cycle_and_every_pause(durations_ms, columns):
    item = cycles(durations_ms)
    drawn = reduced(item, columns)
    assert drawn.edges_ns[0] == 0
    assert drawn.edges_ns[-1] == item.boundaries_ns[-1]
    assert (np.diff(drawn.edges_ns) > 0).all()
    assert drawn.heights_s.max() == max(durations_ms) / 1000
    assert drawn.counts.sum() == len(durations_ms)
    assert drawn.heights_s[drawn.paused].tolist() == [ms / 1000 for ms in durations_ms if ms > 1000]


@given(durations)
def test_without_need_nothing_is_reduced(durations_ms):
    drawn = reduced(cycles(durations_ms), 10_000_000)
    assert drawn.heights_s.tolist() == [ms / 1000 for ms in durations_ms]


def test_many_cycles_become_few_steps():
    drawn = reduced(cycles([1] * 100_000), 1000)
    assert len(drawn.heights_s) <= 1001


def test_the_wait_of_an_offender_is_no_step():
    drawn = reduced(cycles([5001, 20, 30], OFFENDER), 1000)
    assert drawn.edges_ns.tolist() == [5001 * MS, 5021 * MS, 5051 * MS]
    assert not drawn.paused.any()


def test_an_offender_that_never_wrote_has_no_steps():
    assert not len(reduced(cycles([5001], OFFENDER), 1000).heights_s)
