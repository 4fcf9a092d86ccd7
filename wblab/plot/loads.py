"""Panes of single loads."""

from textwrap import shorten
from typing import Any

import numpy as np

from wblab.data.pauses import DEFAULT_BOUND_NS
from wblab.data.run import LoadCycles
from wblab.data.window import Window, cycles_in
from wblab.plot.steps import steps
from wblab.plot.style import CONTROL, CYCLE, OFFENDER, PAUSE, new_axes

Axes = Any  # matplotlib.axes.Axes; Matplotlib is imported by those who make figures

# A control load's cycles lie in this range of its idle time, unless the host stalls.
CONTROL_RANGE = (0.95, 1.25)
_DESCRIBED = 80  # characters of a description: it stands on one line


def describe(item: LoadCycles) -> str:
    """Return what a load does, in words that fit beside its pane."""
    return shorten(item.load.description, _DESCRIBED, placeholder=" …")


def plot_control(item: LoadCycles, zero_ns: int = 0, window: Window | None = None, *, ax: Axes = None) -> Axes:
    """Plot a control load: a line of its cycle times, in ms, around its idle time; a stall beyond it is named."""
    ax = new_axes() if ax is None else ax
    idle_ms = item.load.idle_ns(0) / 1e6
    first, last = cycles_in(item, window)
    times_s = (item.starts_ns[first:last] - zero_ns) / 1e9
    ax.step(times_s, item.durations_ns[first:last] / 1e6, where="post", color=CONTROL, linewidth=0.8)
    ax.set_ylim(CONTROL_RANGE[0] * idle_ms, CONTROL_RANGE[1] * idle_ms)
    if item.durations_ns[first:last].max(initial=0) / 1e6 > CONTROL_RANGE[1] * idle_ms:
        _name_stall(item, first + int(item.pauses_ns[first:last].argmax()), zero_ns, ax)
    ax.set_ylabel("cycle (ms)")
    return ax


def plot_load(
    item: LoadCycles,
    zero_ns: int = 0,
    bound_ns: int = DEFAULT_BOUND_NS,
    window: Window | None = None,
    *,
    ax: Axes = None,
) -> Axes:
    """Plot a load: a block for each cycle, as wide and as high as it took; pauses over the bound stand out."""
    ax = new_axes() if ax is None else ax
    drawn = steps(item, zero_ns, bound_ns, window)
    colour = OFFENDER if item.load.role == "offender" else CYCLE
    normal = np.where(drawn.paused, 0, drawn.heights_s)
    ax.stairs(normal, drawn.edges_s, fill=True, color=colour, linewidth=0, label="cycles")
    if drawn.paused.any():
        pauses = np.where(drawn.paused, drawn.heights_s, 0)
        ax.stairs(pauses, drawn.edges_s, fill=True, color=PAUSE, linewidth=0, label="paused")
        first, last = cycles_in(item, window)
        _name_longest(item, first + int(item.pauses_ns[first:last].argmax()), zero_ns, ax)
    ax.set_ylabel("cycle (s)")
    return ax


def plot_command(item: LoadCycles, zero_ns: int = 0, *, ax: Axes = None) -> Axes:
    """Plot a command: one block for as long as it ran."""
    ax = new_axes() if ax is None else ax
    start_ns, end_ns = item.boundaries_ns[1:3] if len(item.boundaries_ns) > 2 else (0, 0)
    ax.broken_barh([((start_ns - zero_ns) / 1e9, (end_ns - start_ns) / 1e9)], (0, 1), color=OFFENDER, linewidth=0)
    ax.set_ylim(0, 1)
    ax.set_yticks([])
    return ax


def _name_stall(item: LoadCycles, longest: int, zero_ns: int, ax: Axes) -> None:
    """Say how long the longest stall is: it leaves the pane."""
    late = 2 * longest > len(item.pauses_ns)  # then there is room on its left
    ax.annotate(
        f"stalled for {item.pauses_ns[longest] / 1e9:.2f} s",
        ((item.starts_ns[longest] - zero_ns) / 1e9, 1.1 * item.load.idle_ns(0) / 1e6),
        xytext=(-4 if late else 4, 0),
        textcoords="offset points",
        ha="right" if late else "left",
        va="center",
        fontsize=9,
        fontweight="bold",
        color=PAUSE,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
    )


def _name_longest(item: LoadCycles, longest: int, zero_ns: int, ax: Axes) -> None:
    middle_s = (item.boundaries_ns[longest] + item.boundaries_ns[longest + 1] - 2 * zero_ns) / 2e9
    ax.annotate(
        f"{item.pauses_ns[longest] / 1e9:.1f} s",
        (middle_s, item.durations_ns[longest] / 1e9),
        xytext=(0, 2),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=9,
        fontweight="bold",
        color=PAUSE,
    )
