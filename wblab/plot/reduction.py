"""Reduction of lines and points to the visible resolution, for pictures and pages."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# More columns than any of the pictures has pixels.
COLUMNS = 4000

Indices = NDArray[np.int64]


def visible(times_ns: NDArray[np.int64], values: NDArray[Any], columns: int = COLUMNS) -> Indices:
    """Return the indices that draw the same line: the first, lowest, highest and last item of each column.

    (M4: Jugel et al., "M4: A Visualization-Oriented Time Series Data Aggregation", VLDB 2014.)
    """
    count = len(times_ns)
    if count <= 4 * columns:
        return np.arange(count)
    column_ns = max(1, int(times_ns[-1] - times_ns[0]) // columns)
    begins = np.flatnonzero(np.diff((times_ns - times_ns[0]) // column_ns, prepend=-1))
    ends = np.append(begins[1:], count) - 1
    column = np.repeat(np.arange(len(begins)), np.diff(np.append(begins, count)))
    order = np.lexsort((values, column))  # by column, then by value: lowest first, highest last
    return np.unique(np.concatenate([begins, ends, order[begins], order[ends]]))


def changes(values: NDArray[Any]) -> Indices:
    """Return the indices at which a stepped line begins, changes or ends; the others are invisible."""
    if len(values) <= 2:
        return np.arange(len(values))
    differs = values[1:] != values[:-1]
    keep = np.concatenate([[True], differs]) | np.concatenate([differs, [True]])
    return np.flatnonzero(keep)
