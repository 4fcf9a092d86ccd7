"""Figures of the flush-time law: longest pauses and their bound, and the I/O ahead of a waiting task."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from wblab.analysis.runs.flush import CHUNK_BYTES, QUEUE_BYTES, Fit, ahead_bytes, cells_frame, longest_of_any
from wblab.plot.colours import INNOCENT, PAUSE, SERIES
from wblab.plot.style import DPI, GRID, LIMIT, MARK, NEUTRAL, WIDTH_IN, literal, new_axes
from wblab.report.quantities import quantity

Axes = Any  # matplotlib.axes.Axes
_MIB = 1 << 20
_PANES = 3.6  # height, in panes of the timeline
_MARKERS = "os^Dv"  # one for each throughput
_ASIDE = 1.07  # horizontal shift of points that would overlap


def plot_flush(table: pd.DataFrame, fit: Fit, *, ax: Axes = None) -> Axes:
    """Plot the longest pauses on one disk against the flush time: mean and range of each cell, the bound, and the fit.

    A ring marks a cell with a run above the bound. The band is the interval of the fit's slope, if it has one.
    """
    ax = new_axes(_PANES) if ax is None else ax
    table = table[table["disk"] == fit.disk]
    ends = np.array([table["flush_s"].min() / 1.6, table["flush_s"].max() * 1.6])
    ax.plot(ends, ends, color=LIMIT, linewidth=1.6, label="the bound")
    slope = fit.slope
    ax.plot(ends, slope.estimate * ends, color=MARK, linewidth=1.2, linestyle="--", label="fit")
    if slope.low is not None and slope.high is not None:
        ax.fill_between(ends, slope.low * ends, slope.high * ends, color=MARK, alpha=0.18, linewidth=0)
    for place, (load, part) in enumerate(cells_frame(table).groupby("load", sort=False)):
        colour, at = INNOCENT[place % len(INNOCENT)], part["flush_s"] * _ASIDE**place
        ax.vlines(at, part["least_s"], part["longest_s"], color=colour, linewidth=1.4, zorder=3)
        ax.plot(at, part["mean_s"], "o", color=colour, markersize=4.5, label=literal(str(load)), zorder=4)
        over = part["over"] > 0
        ax.plot(at[over], part["longest_s"][over], "o", markersize=11, markerfacecolor="none", color=PAUSE, zorder=5)
    _logarithmic(ax, sorted(set(table["flush_s"])))
    ax.set_title(
        f"{literal(fit.disk)}: slope {quantity(slope.estimate, '')}", loc="left", fontsize=10, fontweight="bold"
    )
    ax.set_xlabel("flush time (s)")
    ax.set_ylabel("longest pause (s)")
    return ax


def flush_figure(table: pd.DataFrame, fits: Sequence[Fit]) -> Figure:
    """Return a figure with a pane for each disk, on the same axes."""
    rows = -(-len(fits) // 2)
    figure = Figure(figsize=(WIDTH_IN, 3.9 * rows), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    panes = list(figure.subplots(rows, 2, sharex=True, sharey=True, squeeze=False).flat)
    for ax, fit in zip(panes, fits, strict=False):
        plot_flush(table, fit, ax=ax)
        ax.tick_params(labelbottom=True, labelleft=True)
    for ax in panes[len(fits) :]:
        ax.remove()
    return figure


def plot_ahead(table: pd.DataFrame, *, ax: Axes = None) -> Axes:
    """Plot the data written during each run's longest pause against the background threshold, both in MiB.

    If a pause is a wait for a queue, runs with all throughputs coincide. Lines show the I/O that may be ahead in it:
    the background threshold, the dirty limit, one chunk of writeback, a full queue of requests.
    """
    ax = new_axes(_PANES) if ax is None else ax
    longest = longest_of_any(table)
    longest = longest.assign(ahead=ahead_bytes(longest) / _MIB, background=longest["background_bytes"] / _MIB)
    rates = sorted(set(longest["write_bps"]))
    for place, (disk, part) in enumerate(longest.groupby("disk", sort=False)):
        colour = SERIES[place % len(SERIES)]
        ax.plot([], [], "s", color=colour, label=literal(str(disk)))
        for rate, runs in part.groupby("write_bps"):
            marker = _MARKERS[rates.index(rate) % len(_MARKERS)]
            at = runs["background"] * _ASIDE ** (place - 1.5)
            ax.plot(at, runs["ahead"], marker, color=colour, markersize=4.5, alpha=0.75, linewidth=0)
    for rate in rates:
        ax.plot([], [], _MARKERS[rates.index(rate) % len(_MARKERS)], color=NEUTRAL, label=f"{rate / _MIB:g} MiB/s")
    x = np.array([longest["background"].min() / 1.4, longest["background"].max() * 1.4])
    lines = {"background threshold": x, "dirty limit": 2 * x}
    lines |= {"one chunk": 0 * x + CHUNK_BYTES / _MIB, "128 requests": 0 * x + QUEUE_BYTES / _MIB}
    for (name, y), style in zip(lines.items(), ("-", "--", ":", "-."), strict=True):
        colour = LIMIT if name == "background threshold" else MARK
        ax.plot(x, y, style, color=colour, linewidth=1.3, label=name, zorder=1)
    _logarithmic(ax, sorted(set(longest["background"])))
    ax.set_xlim(*x)
    ax.set_xlabel("background threshold (MiB)")
    ax.set_ylabel("written during the longest pause (MiB)")
    return ax


def _logarithmic(ax: Axes, ticks: Sequence[float]) -> None:
    ax.set(xscale="log", yscale="log")
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_minor_locator(NullLocator())
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    ax.grid(color=GRID, linewidth=0.5)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(
        loc="lower right",
        bbox_to_anchor=(1, 0.99),
        ncols=6,
        frameon=False,
        fontsize=8.5,
        handlelength=1.6,
        borderaxespad=0,
    )
