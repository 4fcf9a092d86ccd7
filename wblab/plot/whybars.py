"""Pauses as stacked bars of their causes."""

from collections.abc import Sequence
from typing import Any

from wblab.analysis.why.account import UNEXPLAINED
from wblab.analysis.why.explain import Explanation
from wblab.core.units import NS_PER_S
from wblab.plot.causecolours import cause_colours
from wblab.plot.style import MARK, literal, new_axes

_LEAST = 0.001  # of all pauses: a smaller cause has no entry in the legend


def causes_axes(found: Sequence[Explanation], ax: Any = None) -> Any:
    """Return axes with one bar for each pause, stacked by cause."""
    ax = ax if ax is not None else new_axes(max(2, 0.3 * len(found)))
    total_ns = sum(item.pause_ns for item in found)
    parts = list(dict.fromkeys(what for item in found for what in item.parts))
    colours = cause_colours(parts)
    ends = [0.0] * len(found)
    for what in parts:
        times = [item.parts.get(what, 0) / NS_PER_S for item in found]
        label = what if sum(times) * NS_PER_S > _LEAST * total_ns else "_"
        look = {"hatch": "////", "edgecolor": MARK} if what == UNEXPLAINED else {}
        ax.barh(range(len(found)), times, left=ends, color=colours[what], label=label, **look)
        ends = [end + time for end, time in zip(ends, times, strict=True)]
    names = [f"{item.number}. {item.load} at {item.start_ns / NS_PER_S:.1f} s" for item in found]
    ax.set_yticks(range(len(found)), [literal(name) for name in names])
    ax.invert_yaxis()
    ax.set_xlim(0, 1.03 * max(ends, default=1.0))
    ax.set_xlabel("paused (s)")
    if found:
        ax.legend(loc="lower right", frameon=False)
    return ax
