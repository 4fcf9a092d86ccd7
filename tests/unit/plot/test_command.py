import numpy as np
import pytest

from wblab.analysis.runs.run import LoadCycles
from wblab.core.loads import Command
from wblab.plot.artists import plot_pane
from wblab.plot.loadpanes import cycles, load_pane

S = 10**9


def command(*boundaries_s):
    times = np.array([int(time * S) for time in boundaries_s], np.int64)
    return LoadCycles("x", Command(argv=("x",), wait=2 * S), 7, "finished", "", times)


def drawn(item):
    return plot_pane(load_pane(item, cycles(item, {"x": "black"}), top_s=8), S)


def test_a_command_is_one_block_as_high_as_its_pane_for_as_long_as_it_ran():
    ax = drawn(command(1, 3, 7.5))
    (block,) = ax.patches
    values, edges, _ = block.get_data()
    assert edges.tolist() == [2.0, 6.5]
    assert values.tolist() == [ax.get_ylim()[1]]
    assert len(ax.get_yticks()) == 0


@pytest.mark.parametrize("boundaries_s", [(1,), (1, 3)])
def test_one_that_never_started_has_no_block(boundaries_s):
    assert not drawn(command(*boundaries_s)).patches


def test_that_it_runs_is_no_pause():
    assert command(1, 3, 60).pauses_ns.tolist() == [0, 0]
