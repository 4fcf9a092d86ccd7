"""New figures and axes, and marks as Matplotlib draws them on the axes of a pane."""

from collections.abc import Callable
from functools import singledispatch
from io import BytesIO
from textwrap import shorten
from typing import Any

import numpy as np
from matplotlib import figure
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import PathPatch, StepPatch
from matplotlib.path import Path
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from wblab.core.units import NS_PER_S
from wblab.plot.lines import COLUMNS, visible
from wblab.plot.marks import (
    BAR,
    Axis,
    Bars,
    Blocks,
    Counts,
    Label,
    LevelMarks,
    Line,
    Mark,
    Pane,
    PointMarks,
    Rules,
    Spans,
    Stack,
)
from wblab.plot.style import DPI, MARK, PANE_HEIGHT_IN, PAUSE, WIDTH_IN, legend_above, literal
from wblab.report.palette import DARK as DARK_PAPER
from wblab.report.palette import WHITE, contrast

_HATCH = "////"
_STEPS = (1, 2, 2.5, 5, 10)  # steps between ticks
_BAR_LETTER, _LEAST_LETTERS = 0.0066, 5  # a letter's share of the time axis, and in how many no text is readable

Axes = Any  # matplotlib.axes.Axes
Seconds = Callable[[Any], Any]  # from times in ns

# New figures, which need no display and show themselves in a notebook, whether or not it uses pyplot.


class PictureFigure(figure.Figure):
    """A figure of Matplotlib that IPython can show without `%matplotlib inline`."""

    def _repr_png_(self) -> bytes:
        stream = BytesIO()
        self.savefig(stream, format="png")
        return stream.getvalue()


def new_figure(height_in: float, width_in: float = WIDTH_IN, **look: Any) -> PictureFigure:
    """Return an empty figure, as wide as most pictures. look: further arguments of Matplotlib's Figure."""
    made = PictureFigure(figsize=(width_in, height_in), **({"dpi": DPI} | look))
    FigureCanvasAgg(made)
    return made


def new_axes(panes: float = 2) -> Axes:
    """Return the axes of a new figure, as high as `panes` panes. Needs no display."""
    return new_figure(panes * PANE_HEIGHT_IN, layout="constrained").subplots()


def plot_pane(pane: Pane, zero_ns: int = 0, *, ax: Axes = None) -> Axes:
    """Draw a pane's marks and its y axis; times count from `zero_ns`, in seconds."""
    ax = new_axes() if ax is None else ax
    _scale(pane.axis, ax)
    for mark in pane.marks:
        plot_mark(mark, zero_ns, ax)
    if pane.explained:
        legend_above(ax)
    return ax


def patch_look(colour: str, is_hatched: bool) -> dict[str, Any]:
    """Return Matplotlib's keywords for a filled area."""
    if is_hatched:
        return {"facecolor": colour, "edgecolor": MARK, "hatch": _HATCH}
    return {"facecolor": colour, "edgecolor": colour}


def plot_mark(mark: Mark, zero_ns: int, ax: Axes) -> None:
    """Draw one mark."""
    _draw(mark, ax, lambda times_ns: (np.asarray(times_ns) - zero_ns) / NS_PER_S)


@singledispatch
def _draw(mark: Mark, ax: Axes, seconds: Seconds) -> None:
    raise NotImplementedError(type(mark))


@_draw.register
def _(mark: Line, ax: Axes, seconds: Seconds) -> None:
    at = visible(mark.times_ns, mark.values)
    style = {"drawstyle": "steps-post", "color": mark.colour, "linewidth": mark.width, "label": literal(mark.name)}
    ax.plot(seconds(mark.times_ns[at]), mark.values[at], **style)


@_draw.register
def _(mark: LevelMarks, ax: Axes, seconds: Seconds) -> None:
    values = np.append(mark.values, mark.values[-1:])
    style = {"color": mark.colour, "linewidth": mark.width, "label": literal(mark.name)}
    ax.step(seconds(mark.edges_ns), values, where="post", **style)


@_draw.register
def _(mark: PointMarks, ax: Axes, seconds: Seconds) -> None:
    at = visible(mark.times_ns, mark.values)
    style = {"markersize": mark.size, "color": mark.colour, "markeredgewidth": 0, "label": literal(mark.name)}
    ax.plot(seconds(mark.times_ns[at]), mark.values[at], "o", **style)


@_draw.register
def _(mark: Stack, ax: Axes, seconds: Seconds) -> None:
    at = visible(mark.times_ns, mark.tops)
    low = np.zeros(len(at))
    for layer in mark.layers:
        high = low + layer.values[at]
        style = {"step": "post", "color": layer.colour, "linewidth": 0, "label": literal(layer.name)}
        ax.fill_between(seconds(mark.times_ns[at]), low, high, **style)
        low = high


@_draw.register
def _(mark: Blocks, ax: Axes, seconds: Seconds) -> None:
    blocks = mark.reduced(COLUMNS)
    if not len(blocks.pauses_s):
        return
    edges_s, heights, explained = seconds(blocks.edges_ns), blocks.heights_s, blocks.explained
    alike = blocks.paused & ~explained
    _stairs(ax, edges_s, 0, np.where(alike | explained, 0, heights), color=mark.colour)
    if alike.any():
        _stairs(ax, edges_s, 0, np.where(alike, heights, 0), color=PAUSE)
    for part, low, high in blocks.stacked():
        _stairs(ax, edges_s, low, high, **patch_look(part.colour, part.is_hatched))


def _stairs(ax: Axes, edges: Any, low: Any, high: Any, **look: Any) -> None:
    """Fill steps as `Axes.stairs` does, but without its slow search for the data limits."""
    ax.update_datalim([(edges[0], np.min(low)), (edges[-1], np.max(high))])
    ax.add_artist(StepPatch(high, edges, baseline=low, fill=True, linewidth=0, **look))
    ax.autoscale(None)


@_draw.register
def _(mark: Counts, ax: Axes, seconds: Seconds) -> None:
    edges_s = seconds(mark.edges_ns)
    for name, (_, colour) in mark.classes.items():
        at, row = np.nonzero(~np.isnan(mark.of_class(name)))
        corners = np.stack(
            [
                np.column_stack([edges_s[at + right], mark.values[row + upper]])
                for right, upper in ((0, 0), (1, 0), (1, 1), (0, 1))
            ],
            axis=1,
        )
        # One patch: a mesh has a path for each cell, also for those without anything, which makes 4 MB as SVG.
        path = Path.make_compound_path(*(Path(each, closed=False) for each in corners))
        ax.add_artist(PathPatch(path, color=colour, linewidth=0, snap=True, zorder=2))
        ax.plot([], [], "s", color=colour, markersize=2.5, label=literal(name))  # for the legend
    for value in mark.lines:
        ax.axhline(value, color=MARK, linewidth=1, zorder=3)


@_draw.register
def _(mark: Bars, ax: Axes, seconds: Seconds) -> None:
    first_s, last_s = ax.get_xlim()
    ax.tick_params(axis="y", labelsize=8.5, length=0)
    for bar in mark.bars:
        spans_s = [(float(start), float(end - start)) for start, end in map(seconds, bar.spans_ns)]
        ax.broken_barh(spans_s, (bar.row + (1 - BAR) / 2, BAR), facecolor=bar.colour, edgecolor="white", zorder=3)
        start, end = (min(max(float(each), first_s), last_s) for each in seconds(bar.longest_ns))
        letters = int((end - start) / (_BAR_LETTER * (last_s - first_s)))
        if letters > _LEAST_LETTERS:
            text, dark = shorten(bar.text, letters, placeholder=" …"), contrast(bar.colour, DARK_PAPER)
            colour = "white" if contrast(bar.colour, WHITE) > dark else "black"
            place = {"ha": "center", "va": "center", "clip_on": True, "zorder": 4}
            ax.text((start + end) / 2, bar.row + 0.5, literal(text), fontsize=8.5, color=colour, **place)
    for time_ns, above, below in mark.arrows:
        at, look = (
            float(seconds(time_ns)),
            {"arrowstyle": "-|>", "color": MARK, "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0},
        )
        ends = ((at, below + (1 - BAR) / 2), (at, above + (1 + BAR) / 2))
        ax.annotate("", *ends, arrowprops=look, zorder=5)


@_draw.register
def _(mark: Label, ax: Axes, seconds: Seconds) -> None:
    offset, ha, va = {
        "above": ((0, 2), "center", "bottom"),
        "left": ((-4, 0), "right", "center"),
        "right": ((4, 0), "left", "center"),
    }[mark.side]
    behind = {} if mark.side == "above" else {"bbox": {"facecolor": "white", "edgecolor": "none", "pad": 1}}
    look = {"fontsize": 9, "fontweight": "bold", "color": mark.colour} | behind
    place = {"xytext": offset, "textcoords": "offset points", "ha": ha, "va": va}
    ax.annotate(literal(mark.text), (seconds(mark.time_ns), mark.value), **place, **look)


@_draw.register
def _(mark: Rules, ax: Axes, seconds: Seconds) -> None:
    style = {"color": mark.colour, "linewidth": mark.width, "alpha": mark.opacity}
    dashes = "--" if mark.is_dashed else "-"
    ax.vlines(seconds(mark.times_ns), 0, 1, transform=ax.get_xaxis_transform(), linestyle=dashes, **style)


@_draw.register
def _(mark: Spans, ax: Axes, seconds: Seconds) -> None:
    for span_ns in mark.spans_ns:
        ax.axvspan(*seconds(span_ns), color=mark.colour, alpha=mark.opacity, linewidth=0, zorder=0)


def _scale(axis: Axis, ax: Axes) -> None:
    if axis.is_log:
        ax.set_yscale("log")
    ax.set_ylim(axis.low, axis.high)
    if axis.ticks is not None:
        ax.yaxis.set_major_locator(FixedLocator(list(axis.ticks)))
        ax.yaxis.set_minor_locator(NullLocator())
        ax.yaxis.set_ticklabels([literal(text) for text in axis.ticks.values()])
    else:
        ax.yaxis.set_major_locator(MaxNLocator(axis.count, steps=_STEPS))
    ax.set_ylabel(axis.unit)
