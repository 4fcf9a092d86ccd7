"""Lines of panes: reduced to what a screen can show; and the logarithmic axes and line widths of rates."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wblab.plot.marks import Axis, LevelMarks

SPAN = 1.5  # below and above the lines
_GIB, _MIB, _KIB = 1 << 30, 1 << 20, 1 << 10
_TWOS, _TENS = [2.0**power for power in range(63)], [10.0**power for power in range(-9, 19)]
_MOST_TICKS = 5
_WIDTH, _FIRST_WIDTH = 1.0, 2.6


def width_of(rank: int) -> float:
    """Return a line's width in points. The first line is wider, so that it shows below another with the same rate."""
    return _WIDTH if rank else _FIRST_WIDTH


def shown(per_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rates for drawing, with NaN instead of 0, which draws no line."""
    return np.where(per_s > 0, per_s, np.nan)


def count_axis(unit: str, lines: Sequence[LevelMarks]) -> Axis:
    """Return an axis with at least one power of ten; without lines, an empty one.

    Numbers are written out, because Matplotlib typesets powers as formulas, which takes a tenth of a second.
    """
    if not lines:
        return Axis(unit, 0, 1, ticks={})
    low, high = _span(lines)
    low = min(low, max(power for power in _TENS if power <= high))
    return Axis(unit, low, high, is_log=True, ticks={tick: _count_text(tick) for tick in _ticks(_TENS, low, high)})


def rate_axis(lines: Sequence[LevelMarks]) -> Axis:
    """Return an axis of bytes/s for some lines."""
    low, high = _span(lines)
    return Axis("", low, high, is_log=True, ticks=rate_ticks(low, high))


def rate_ticks(low: float, high: float) -> dict[float, str]:
    """Return ticks at powers of two, with texts in bytes/s."""
    return {tick: _rate_text(tick) for tick in _ticks(_TWOS, low, high)}


def _ticks(powers: Sequence[float], low: float, high: float) -> list[float]:
    """Return at most _MOST_TICKS evenly spaced powers, from the lowest on the axis."""
    on_axis = [power for power in powers if low <= power <= high]
    return on_axis[:: max(1, -(-len(on_axis) // _MOST_TICKS))]


def _span(lines: Sequence[LevelMarks]) -> tuple[float, float]:
    values = np.concatenate([line.values for line in lines])
    return float(np.nanmin(values)) / SPAN, float(np.nanmax(values)) * SPAN


def _count_text(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _rate_text(value: float) -> str:
    if value >= _GIB:
        return f"{value / _GIB:g} GiB/s"
    return f"{value / _MIB:g} MiB/s" if value >= _MIB else f"{value / _KIB:g} KiB/s"


# Reduction of lines and points to the visible resolution, for pictures and pages.

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
