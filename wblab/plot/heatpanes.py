"""Latency heat maps: panes of a run, and a picture of several maps below each other."""

from collections.abc import Iterator, Mapping
from textwrap import shorten
from typing import Any

import numpy as np
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from wblab.analysis.runs.heat import HeatMap, cycles_of, heat_map, innocent
from wblab.analysis.runs.pauses import Window
from wblab.analysis.runs.run import Run
from wblab.core.units import NS_PER_S
from wblab.plot.artists import PictureFigure, new_figure, plot_mark
from wblab.plot.marks import Axis, Counts, Pane
from wblab.plot.style import GRID, HEAT, MARK, literal
from wblab.report.quantities import duration

Axes = Any  # matplotlib.axes.Axes

HEAT_PANE = "heat"  # its name, or how it begins
_WORDS = "{value} cycles with a pause of about {top:.3~s}s, from about {time:.1f} s"
_HEIGHT = 1.5  # of a pane
_DECADES_NS = [10**power for power in range(3, 13)]


def heat_panes(run: Run, window: Window) -> Iterator[Pane]:
    """Yield the heat map of all innocent loads together, and if there are several of each."""
    loads = innocent([run])
    for load in ["", *(loads if len(loads) > 1 else [])]:
        found = heat_map([cycles_of(run, load)], window)
        what = f"cycles{f' of {load}' if load else ''} by their pause; lines: {said(found)}"
        yield Pane(f"{HEAT_PANE} {load}".rstrip(), what, _axis(found), (_counts(found),), _HEIGHT)


def said(found: HeatMap) -> str:
    """Return what the lines across a map are."""
    return f"99 % below {duration(found.p99_ns)}, longest {duration(found.longest_ns)}"


def _axis(found: HeatMap) -> Axis:
    low, high = (float(found.lengths_ns[at]) / NS_PER_S for at in (0, -1))
    return Axis("pause", low, high, is_log=True, ticks=_ticks(found))


def _ticks(found: HeatMap) -> Mapping[float, str]:
    low, high = (int(found.lengths_ns[at]) for at in (0, -1))
    return {ns / NS_PER_S: _text(ns) for ns in _DECADES_NS if low <= ns <= high}


def _text(time_ns: int) -> str:
    """Return a power of ten with its unit: 100 ms."""
    size, unit = next(each for each in ((NS_PER_S, "s"), (10**6, "ms"), (10**3, "µs")) if time_ns >= each[0])
    return f"{time_ns // size} {unit}"


def _counts(found: HeatMap) -> Counts:
    """Return the cells, and lines at the 99 % quantile and the longest pause."""
    lines = tuple(ns / NS_PER_S for ns in (found.p99_ns, found.longest_ns) if ns >= found.lengths_ns[0])
    return Counts(found.edges_ns, found.lengths_ns / NS_PER_S, found.counts, HEAT, "cycle", _WORDS, lines)


# Several maps below each other, on the same axes: of the cells of a study. Readable on a phone.

# In inches: margins, a map, the title above it, the room right of it for the number of cycles of each length.
_WIDTH, _LEFT, _RIGHT, _MAP, _TITLE, _BOTTOM, _ROWS = 8.0, 0.95, 1.35, 2.1, 0.66, 0.95, 1.1
_DPI = 150
_HEAD_PT, _PT, _SMALL_PT = 13.5, 12, 10.5
_TITLE_LETTERS = 62


def heat_picture(maps: Mapping[str, HeatMap]) -> PictureFigure:
    """Return the figure of maps by title. Right of each: how many cycles of each length it has."""
    height_in = _BOTTOM + (_MAP + _TITLE) * max(1, len(maps))
    figure = new_figure(height_in, width_in=_WIDTH, dpi=_DPI)
    last_s = max((int(found.edges_ns[-1]) for found in maps.values()), default=1) / NS_PER_S
    most = max((int(found.per_length.max(initial=1)) for found in maps.values()), default=1)
    top_in, classes = height_in, dict[str, tuple[int, str]]()
    for at, (title, found) in enumerate(maps.items()):
        top_in -= _TITLE + _MAP
        inner_in = _WIDTH - _LEFT - _RIGHT
        ax = figure.add_axes(
            (_LEFT / _WIDTH, top_in / height_in, inner_in / _WIDTH, _MAP / height_in), xlim=(0, last_s)
        )
        classes |= _draw_map(ax, found, is_last=at == len(maps) - 1)
        _say_above(ax, title, found)
        box = ((_LEFT + inner_in + 0.12) / _WIDTH, top_in / height_in, _ROWS / _WIDTH, _MAP / height_in)
        _draw_rows(figure.add_axes(box, sharey=ax), found, most, is_last=at == len(maps) - 1)
    ordered = sorted(classes.items(), key=lambda item: item[1][0])
    handles = [figure.axes[0].plot([], [], "s", color=colour, markersize=9)[0] for _, (_, colour) in ordered]
    look: dict[str, Any] = {"loc": "lower left", "frameon": False, "fontsize": _SMALL_PT, "ncols": max(1, len(handles))}
    figure.legend(handles, [name for name, _ in ordered], handletextpad=0.1, columnspacing=1.0, **look)
    return figure


def _say_above(ax: Axes, title: str, found: HeatMap) -> None:
    place = {"xycoords": "axes fraction", "textcoords": "offset points", "annotation_clip": False}
    left_pt, shown = -72 * (_LEFT - 0.12), shorten(title, _TITLE_LETTERS, placeholder=" …")
    ax.annotate(literal(shown), (0, 1), (left_pt, 23), fontsize=_HEAD_PT, fontweight="bold", **place)
    words = f"upwards: how long cycles paused; {said(found)}"
    ax.annotate(words, (0, 1), (left_pt, 6), fontsize=_PT, color=MARK, **place)


def _draw_map(ax: Axes, found: HeatMap, *, is_last: bool) -> dict[str, tuple[int, str]]:
    """Draw one map; return the classes of its cells."""
    counts = _counts(found)
    plot_mark(counts, 0, ax)
    _scale(ax, found)
    ax.xaxis.set_major_locator(MaxNLocator(7, steps=(1, 2, 5, 10)))
    ax.tick_params(labelsize=_PT, labelbottom=is_last)
    if is_last:
        ax.set_xlabel("seconds", fontsize=_PT, labelpad=0)
    return counts.classes


def _draw_rows(ax: Axes, found: HeatMap, most: int, *, is_last: bool) -> None:
    """Draw a bar for each length, as long as the logarithm of how many cycles have it, and the number."""
    low, high = found.lengths_ns[:-1] / NS_PER_S, found.lengths_ns[1:] / NS_PER_S
    shown = np.flatnonzero(found.per_length)
    lengths = np.log10(found.per_length[shown]) + 0.3
    ax.barh(low[shown], lengths, (high - low)[shown] * 0.9, align="edge", color=MARK, linewidth=0)
    ax.set_xlim(0, 1.6 * (np.log10(most) + 0.3))
    for at, length in zip(shown.tolist(), lengths.tolist(), strict=True):
        middle = float(np.sqrt(low[at] * high[at]))
        ax.annotate(f"{found.per_length[at]}", (length, middle), (2, 0), textcoords="offset points", fontsize=6.5,
                    va="center_baseline", color=MARK)  # fmt: skip
    ax.axis("off")
    if is_last:
        ax.annotate("cycles", (0, 0), (0, -13), xycoords="axes fraction", textcoords="offset points",
                    fontsize=_SMALL_PT, va="center", color=MARK, annotation_clip=False)  # fmt: skip


def _scale(ax: Axes, found: HeatMap) -> None:
    ticks = _ticks(found)
    ax.set_yscale("log")
    ax.set_ylim(float(found.lengths_ns[0]) / NS_PER_S, float(found.lengths_ns[-1]) / NS_PER_S)
    ax.yaxis.set_major_locator(FixedLocator(list(ticks)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_ticklabels(list(ticks.values()))
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
