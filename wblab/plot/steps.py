"""Cycles as steps: width and height are the cycle's time, reduced to what the eye can see."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wblab.data.run import LoadCycles
from wblab.data.window import Window, cycles_in
from wblab.plot.reduction import COLUMNS


@dataclass(frozen=True)
class Steps:
    """n steps: `edges_s` has n + 1 items, from the run's zero; `heights_s` and `paused` have n."""

    edges_s: NDArray[np.float64]
    heights_s: NDArray[np.float64]
    paused: NDArray[np.bool_]  # the step has a pause over the bound in it


def steps(item: LoadCycles, zero_ns: int, bound_ns: int, window: Window | None = None, columns: int = COLUMNS) -> Steps:
    """Return the cycles of a load, of those in a window, as steps.

    Cycles that begin in one column become one step, as high as the highest. An offender's first wait is left out: it is
    no part of its work.
    """
    first, last = cycles_in(item, window)
    if item.load.role == "offender":
        first = max(first, 1)
    edges_ns, heights_ns = item.boundaries_ns[first : last + 1], item.durations_ns[first:last]
    paused = item.pauses_ns[first:last] > bound_ns
    if not len(heights_ns):
        return Steps(np.zeros(1), np.zeros(0), np.zeros(0, dtype=bool))
    column_ns = max(1, int(edges_ns[-1] - edges_ns[0]) // columns)
    column = (edges_ns[:-1] - edges_ns[0]) // column_ns
    # A cycle with a pause is always a step of its own.
    begins = np.flatnonzero(np.diff(column, prepend=-1) | paused | np.roll(paused, 1))
    edges_s = (np.append(edges_ns[:-1][begins], edges_ns[-1]) - zero_ns) / 1e9
    return Steps(edges_s, np.maximum.reduceat(heights_ns, begins) / 1e9, np.logical_or.reduceat(paused, begins))
