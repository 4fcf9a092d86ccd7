import numpy as np
import pytest

from wblab.core.loads import Command
from wblab.data.run import LoadCycles
from wblab.plot.loads import plot_command

S = 10**9


def cycles(*boundaries_s):
    times = np.array([int(time * S) for time in boundaries_s], np.int64)
    return LoadCycles("x", Command(argv=("x",), wait=2 * S), 7, "finished", "", times)


def test_a_command_is_one_block_for_as_long_as_it_ran():
    ax = plot_command(cycles(1, 3, 7.5), S)
    (box,) = ax.collections[0].get_paths()
    assert (box.vertices[:, 0].min(), box.vertices[:, 0].max()) == (2.0, 6.5)


@pytest.mark.parametrize("boundaries_s", [(1,), (1, 3)])
def test_one_that_never_started_has_no_block(boundaries_s):
    ax = plot_command(cycles(*boundaries_s), S)
    (box,) = ax.collections[0].get_paths()
    assert np.ptp(box.vertices[:, 0]) == 0


def test_that_it_runs_is_no_pause():
    assert cycles(1, 3, 60).pauses_ns.tolist() == [0, 0]
