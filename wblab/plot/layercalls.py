"""Writes and fsyncs by layer: one in detail, and many side by side."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from wblab.analysis.layers.bylayer import LayeredCall
from wblab.plot.style import GRID, INNOCENT, OTHERS, SERIES, literal

_NS_PER_US = 1000
_STATES = ("device", "behind", "flush", "queue", "held", "journal", "worker", "cpu", "runnable")
_BEHIND = INNOCENT[3]  # a paler blue than the device's, because the series has no colour left
_HUES = (SERIES[0], _BEHIND, SERIES[1], SERIES[4], SERIES[5], SERIES[2], SERIES[3], SERIES[6], SERIES[7])
_COLOURS = dict(zip(_STATES, _HUES, strict=True))
_DARK = (SERIES[0], SERIES[2], SERIES[6], SERIES[7])
_LETTER = 0.0075  # a letter's share of the width
_BOX = 0.9


def plot_call(calls: Sequence[LayeredCall], *, ax: Axes) -> Axes:
    """Draw consecutive calls against the time since the first began, in µs; below each, its chain of waits.

    The lowest box at each moment is the last state of the chain and has its colour.
    """
    zero_ns = calls[0].start_ns
    width_ns = max(call.start_ns + call.duration_ns for call in calls) - zero_ns
    for call in calls:
        rows = [((call.call, *path), start_ns, end_ns) for path, start_ns, end_ns in call.pieces]
        whole = {path for path, _, _ in rows}
        for depth in range(max(map(len, whole))):
            for path, start_ns, end_ns in _boxes(rows, depth):
                colour = _COLOURS.get(path[-1], OTHERS) if path in whole else "white"
                left, wide = (start_ns - zero_ns) / _NS_PER_US, (end_ns - start_ns) / _NS_PER_US
                ax.barh(depth, wide, _BOX, left, color=colour, edgecolor=GRID, linewidth=0.8)
                text = _fitting(literal(path[-1]), (end_ns - start_ns) / width_ns)
                ink = "white" if colour in _DARK else "black"
                ax.text(left + wide / 2, depth, text, ha="center", va="center", color=ink, fontsize=8)
    ax.invert_yaxis()
    ax.set_yticks([])
    ax.set_xlabel("time since the write began (µs)")
    ax.spines[["top", "left", "right"]].set_visible(False)
    return ax


def plot_states(calls: Sequence[LayeredCall], *, ax: Axes) -> Axes:
    """Draw each call as a stacked bar of its states, in µs."""
    found = [call.states for call in calls]
    states = sorted({name for each in found for name in each}, key=_rank)
    bottom = np.zeros(len(calls))
    for name in states:
        heights = np.array([each.get(name, 0) for each in found]) / _NS_PER_US
        ax.bar(range(len(calls)), heights, 1, bottom, color=_COLOURS.get(name, OTHERS), label=literal(name))
        bottom += heights
    ax.set_xlabel("call")
    ax.set_ylabel("time (µs)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, reverse=True)
    return ax


def _boxes(rows: Sequence[tuple[tuple[str, ...], int, int]], depth: int) -> list[tuple[tuple[str, ...], int, int]]:
    """Return the boxes at one depth; neighbours with the same path down to it are merged."""
    found: list[tuple[tuple[str, ...], int, int]] = []
    for path, start_ns, end_ns in rows:
        if len(path) <= depth:
            continue
        part = path[: depth + 1]
        if found and found[-1][0] == part and found[-1][2] == start_ns:
            found[-1] = (part, found[-1][1], end_ns)
        else:
            found.append((part, start_ns, end_ns))
    return found


def _fitting(text: str, share: float) -> str:
    """Return a text on one line, or one word per line, if it fits into this share of the width; else nothing."""
    lines = next((lines for lines in ([text], text.split()) if max(map(len, lines)) * _LETTER < share), [])
    return "\n".join(lines)


def _rank(name: str) -> tuple[int, str]:
    return (_STATES.index(name) if name in _STATES else len(_STATES), name)
