"""Panes of what the page cache did: event rates, dirty state, throttling."""

from typing import Any

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from wblab.core.units import NS_PER_MS, NS_PER_S
from wblab.data.pagecache import Bytes, DirtyState, Throttling
from wblab.data.rates import Rates
from wblab.plot.reduction import changes, visible
from wblab.plot.style import (
    BACKGROUND,
    DIRTY,
    LIMIT,
    MARK,
    SERIES,
    THRESHOLD,
    WRITEBACK,
    legend_above,
    literal,
    new_axes,
    task_colours,
)

Axes = Any  # matplotlib.axes.Axes
_MIB = 1 << 20
_KIB = 1 << 10
_FIRST_WIDTH = 2.6
_HEADROOM = 1.08


def plot_event_rates(rates: Rates, zero_ns: int = 0, *, ax: Axes = None) -> Axes:
    """Plot events per second by type, as steps on a logarithmic scale; where there are none, there is no line."""
    ax = new_axes() if ax is None else ax
    edges_s = (rates.edges_ns - zero_ns) / NS_PER_S
    width = _FIRST_WIDTH  # the first is wider: where another has the same rate, both are seen
    for (name, per_s), colour in zip(rates.per_s.items(), SERIES, strict=False):
        drawn = np.where(per_s > 0, per_s, np.nan)
        ax.step(edges_s, np.append(drawn, drawn[-1:]), where="post", color=colour, linewidth=width, label=literal(name))
        width = 1.0
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(numticks=5))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_ylabel("events/s")
    legend_above(ax)
    return ax


def plot_dirty_state(state: DirtyState, zero_ns: int = 0, *, ax: Axes = None) -> Axes:
    """Plot how much is dirty and under writeback, one on the other, and the thresholds that it meets, in MiB."""
    ax = new_axes() if ax is None else ax
    total = state.dirty + state.writeback
    shown = state.where(visible(state.ts_ns, total))
    times_s = (shown.ts_ns - zero_ns) / NS_PER_S
    low, high = shown.dirty / _MIB, (shown.dirty + shown.writeback) / _MIB
    ax.fill_between(times_s, low, step="post", color=DIRTY, linewidth=0, label="dirty")
    ax.fill_between(times_s, low, high, step="post", color=WRITEBACK, linewidth=0, label="+ writeback")
    for name, (values, colour) in threshold_lines(state).items():
        at = changes(values)
        at = at[visible(state.ts_ns[at], values[at])]
        ax.plot(
            (state.ts_ns[at] - zero_ns) / NS_PER_S,
            values[at] / _MIB,
            drawstyle="steps-post",
            color=colour,
            linewidth=1.6,
            label=name,
        )
    ax.set_ylim(0, top_bytes(state) / _MIB)
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.set_ylabel("MiB")
    legend_above(ax)
    return ax


def plot_pauses_asked(throttling: Throttling, zero_ns: int = 0, *, ax: Axes = None) -> Axes:
    """Plot each pause that the kernel asked of a task, in ms, as a point where it began."""
    ax = new_axes() if ax is None else ax
    asked = throttling.where(throttling.pause_ns > 0)
    for task, colour in task_colours(throttling.task).items():
        of_task = asked.where(asked.task == task)
        if not len(of_task):
            continue
        shown = of_task.where(visible(of_task.ts_ns, of_task.pause_ns))
        times_s, pauses_ms = (shown.ts_ns - zero_ns) / NS_PER_S, shown.pause_ns / NS_PER_MS
        ax.plot(times_s, pauses_ms, "o", markersize=2.5, color=colour, markeredgewidth=0, label=literal(task))
    ax.set_ylim(0, 220)  # the longest that it asks for is 200 ms: mm/page-writeback.c, MAX_PAUSE
    ax.set_yticks([0, 100, 200])
    ax.set_ylabel("ms")
    legend_above(ax)
    return ax


def plot_rate_limits(throttling: Throttling, zero_ns: int = 0, *, ax: Axes = None) -> Axes:
    """Plot the rate that each task is allowed and the base rate behind it, in bytes/s on a logarithmic scale.

    A rate of 0, past the dirty limit, lies on the lower edge.
    """
    ax = new_axes() if ax is None else ax
    least = rate_floor(throttling)
    for task, colour in task_colours(throttling.task).items():
        of_task = throttling.where(throttling.task == task)
        shown = of_task.where(visible(of_task.ts_ns, of_task.task_rate))
        times_s = (shown.ts_ns - zero_ns) / NS_PER_S
        ax.plot(times_s, np.maximum(shown.task_rate, least), ".", markersize=2, color=colour, label=literal(task))
    at = changes(throttling.base_rate)
    ax.plot(
        (throttling.ts_ns[at] - zero_ns) / NS_PER_S,
        throttling.base_rate[at],
        drawstyle="steps-post",
        color=MARK,
        linewidth=1.2,
        label="base rate of the device",
    )
    ax.set_yscale("log", base=2)
    ax.set_ylim(least, None)
    ax.yaxis.set_major_locator(LogLocator(base=2, numticks=5))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: rate_text(value)))
    legend_above(ax)
    return ax


def threshold_lines(state: DirtyState) -> dict[str, tuple[Bytes, str]]:
    """Return the lines that the dirty pages meet, by name: values and colour."""
    return {
        "dirty limit": (state.limit, LIMIT),
        "dirty threshold": (state.threshold, THRESHOLD),
        "background threshold": (state.background, BACKGROUND),
    }


def top_bytes(state: DirtyState) -> float:
    """Return where the axis of the dirty state ends: a little above all that is on it."""
    most = (state.limit, state.threshold, state.dirty + state.writeback)
    return _HEADROOM * max(int(values.max()) for values in most)


def rate_floor(throttling: Throttling) -> int:
    """Return where the axis of rates begins, below all that are not 0; a rate of 0 lies there."""
    rates, base = throttling.task_rate, throttling.base_rate
    return max(_KIB, int(min(rates[rates > 0].min(initial=1 << 40), base.min(initial=1 << 40))) // 2)


def rate_text(value: float) -> str:
    """Return a rate as an axis shows it."""
    return f"{value / _MIB:g} MiB/s" if value >= _MIB else f"{value / _KIB:g} KiB/s"
