"""Panes of what happens so often, or of so many bytes, in a second: their logarithmic axes, and how wide lines are."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wblab.plot.marks import Levels
from wblab.plot.pane import Axis

SPAN = 1.5  # below and above the lines
_MIB, _KIB = 1 << 20, 1 << 10
_MOST_TICKS = 5
_WIDTH, _FIRST_WIDTH = 1.0, 2.6


def width_of(rank: int) -> float:
    """Return the width of a line, in points. The first is wider: where another has the same rate, both are seen."""
    return _WIDTH if rank else _FIRST_WIDTH


def shown(per_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rates as they are drawn: where nothing happens, there is no line."""
    return np.where(per_s > 0, per_s, np.nan)


def count_axis(unit: str, lines: Sequence[Levels]) -> Axis:
    """Return an axis on which at least one power of ten is; an empty one without lines."""
    if not lines:
        return Axis(unit, 0, 1, ticks={})
    low, high = _span(lines)
    power = float(10.0 ** np.floor(np.log10(high)))
    return Axis(unit, min(low, power), high, is_log=True)


def rate_axis(lines: Sequence[Levels]) -> Axis:
    """Return an axis of bytes/s for some lines."""
    low, high = _span(lines)
    return Axis("", low, high, is_log=True, ticks=rate_ticks(low, high))


def rate_ticks(low: float, high: float) -> dict[float, str]:
    """Return ticks at powers of two, with words for bytes/s."""
    powers = range(int(np.ceil(np.log2(low))), int(np.log2(high)) + 1)
    ticks = [1 << power for power in powers][:: max(1, -(-len(powers) // _MOST_TICKS))]
    return {tick: _rate_text(tick) for tick in ticks}


def _span(lines: Sequence[Levels]) -> tuple[float, float]:
    values = np.concatenate([line.values for line in lines])
    return float(np.nanmin(values)) / SPAN, float(np.nanmax(values)) * SPAN


def _rate_text(value: float) -> str:
    return f"{value / _MIB:g} MiB/s" if value >= _MIB else f"{value / _KIB:g} KiB/s"
