"""Marks as Plotly traces in a pane of a page, with hover texts."""

from collections.abc import Callable
from functools import singledispatch
from html import escape
from string import Formatter
from textwrap import wrap
from typing import Any

import numpy as np
import plotly.graph_objects as go

from wblab.core.units import NS_PER_S
from wblab.lab.printable import printable
from wblab.plot.lines import visible
from wblab.plot.marks import (
    BAR,
    PAUSED,
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
    Times,
    Values,
)
from wblab.plot.style import MARK, PAUSE
from wblab.report.quantities import quantity

# More than a screen has pixels, so that a zoomed span keeps its detail; few enough for a file of some MB.
BLOCK_COLUMNS = 20_000
_LINE_COLUMNS = 10_000
_POINT_COLUMNS = 20_000  # of all tasks together
_SVG_POINTS = 20_000  # in a pane; with more, a browser is slow unless it draws with WebGL
_HOVER_LETTERS = 110  # in a line of a pause's hover text
_INSET = 0.005  # of a step
_PIXELS = 4 / 3  # in a point

Seconds = Callable[[Any], Any]  # from times in ns


def traces_of(pane: Pane, zero_ns: int, block_columns: int = BLOCK_COLUMNS) -> list[Any]:
    """Return the traces of a pane's marks; times count from `zero_ns`, in seconds.

    There is at least one: Plotly leaves out a pane without traces.
    """
    columns = {Blocks: block_columns, PointMarks: _POINT_COLUMNS // max(1, _count(pane, PointMarks))}
    drawn = [_draw(mark, _seconds(zero_ns), columns.get(type(mark), _LINE_COLUMNS)) for mark in pane.marks]
    traces = _drawn_fast([trace for part in drawn for trace in part])
    for trace in traces:
        trace.showlegend = trace.showlegend is not False and trace.name in {plain(name) for name in pane.explained}
    return traces or [go.Scatter(x=[None], y=[None], showlegend=False, hoverinfo="skip")]


def labels_of(pane: Pane, zero_ns: int) -> list[dict[str, Any]]:
    """Return a pane's labels as annotations, without the names of its axes."""
    sides = {"above": ("center", "bottom"), "left": ("right", "middle"), "right": ("left", "middle")}
    found = []
    for mark in pane.marks:
        if isinstance(mark, Bars):
            found += _in_bars(mark, _seconds(zero_ns))
        if isinstance(mark, Label):
            xanchor, yanchor = sides[mark.side]
            at = {"x": _seconds(zero_ns)(mark.time_ns), "y": mark.value, "xanchor": xanchor, "yanchor": yanchor}
            behind = {} if mark.side == "above" else {"bgcolor": "white"}
            text = f"<b>{plain(mark.text)}</b>"
            found.append({"text": text, "font": {"size": 12, "color": mark.colour}, "borderpad": 1} | at | behind)
    return found


def _in_bars(mark: Bars, seconds: Seconds) -> list[dict[str, Any]]:
    """Return the texts of bars and the arrows between them."""
    middle = {"xanchor": "center", "yanchor": "middle"}
    texts = [
        {"text": plain(bar.text), "x": float(np.mean(seconds(np.array(bar.longest_ns)))), "y": bar.row + 0.5,
         "font": {"size": 11, "color": "black"}, "bgcolor": "rgba(255,255,255,0.85)"} | middle
        for bar in mark.bars
    ]  # fmt: skip
    arrows = [
        {"text": "<b>↓</b>", "x": seconds(time_ns), "y": (above + below + 1) / 2, "font": {"size": 15, "color": MARK}}
        | middle
        for time_ns, above, below in mark.arrows
    ]
    return texts + arrows


def shape_of(mark: Rules | Spans, zero_ns: int) -> dict[str, Any]:
    """Return a mark that all panes share as a shape, as high as a pane, without the names of its axes."""
    seconds, group = _seconds(zero_ns), {"legendgroup": mark.group} if mark.group else {}
    if isinstance(mark, Spans):
        path = "".join(f"M{seconds(start)},0V1H{seconds(end)}V0Z" for start, end in mark.spans_ns)
        look = {"fillcolor": mark.colour, "line": {"width": 0}, "layer": "below"}
    else:
        path = "".join(f"M{seconds(time_ns)},0V1" for time_ns in mark.times_ns)
        look = {"line": {"color": mark.colour, "width": mark.width, "dash": "dash" if mark.is_dashed else "solid"}}
    return {"type": "path", "path": path, "opacity": mark.opacity} | look | group


def plain(text: str) -> str:
    """Return a text escaped for Plotly, which interprets some HTML."""
    return escape(text, quote=False)


@singledispatch
def _draw(mark: Mark, seconds: Seconds, columns: int) -> list[Any]:
    raise NotImplementedError(type(mark))


@_draw.register(Label)
def _(mark: Label, seconds: Seconds, columns: int) -> list[Any]:
    return []  # labels_of has them


@_draw.register
def _(mark: Line, seconds: Seconds, columns: int) -> list[Any]:
    at = visible(mark.times_ns, mark.values, columns)
    look = {"mode": "lines", "line": {"color": mark.colour, "width": _PIXELS * mark.width, "shape": "hv"}}
    return [_pointed(mark, seconds(mark.times_ns[at]), mark.values[at], _said(mark, at), **look)]


@_draw.register
def _(mark: PointMarks, seconds: Seconds, columns: int) -> list[Any]:
    at = visible(mark.times_ns, mark.values, columns)
    look = {"mode": "markers", "marker": {"color": mark.colour, "size": 2 * mark.size, "line": {"width": 0}}}
    return [_pointed(mark, seconds(mark.times_ns[at]), mark.values[at], _said(mark, at), **look)]


@_draw.register
def _(mark: LevelMarks, seconds: Seconds, columns: int) -> list[Any]:
    edges_s = seconds(mark.edges_ns)
    times_s = np.column_stack([edges_s[:-1], _both_ends(edges_s).reshape(-1, 2), edges_s[1:]]).ravel()
    words = _template(mark.words, mark.name, time="customdata")
    look = {"mode": "lines", "line": {"color": mark.colour, "width": _PIXELS * mark.width}}
    return [_trace(mark.name, times_s, np.repeat(mark.values, 4), words, np.repeat(edges_s[:-1], 4), **look)]


@_draw.register
def _(mark: Stack, seconds: Seconds, columns: int) -> list[Any]:
    shown = visible(mark.times_ns, mark.tops, columns)
    times_ns, rows = _held(mark.times_ns[shown], columns)
    low, traces = np.zeros(len(rows)), list[Any]()
    for layer in mark.layers:
        own = layer.values[shown][rows]
        words = _template(layer.words, layer.name, value="customdata", top="y")
        look = {"mode": "lines", "line": {"shape": "hv", "width": 0}, "fillcolor": layer.colour}
        look["fill"] = "tonexty" if traces else "tozeroy"
        low = low + own
        traces.append(_trace(layer.name, seconds(times_ns), low, words, own, **look))
    return traces


@_draw.register
def _(mark: Bars, seconds: Seconds, columns: int) -> list[Any]:
    return [
        go.Scatter(
            x=np.concatenate([seconds(np.array([start, start, end, end, start])) for start, end in bar.spans_ns]),
            y=np.tile(bar.row + 0.5 + BAR / 2 * np.array([-1, 1, 1, -1, -1]), len(bar.spans_ns)),
            mode="lines", fill="toself", fillcolor=bar.colour, line={"width": 0}, hoverinfo="text",
            text=plain(bar.text), hoveron="fills", name=plain(bar.text), showlegend=False,
        )
        for bar in mark.bars
    ]  # fmt: skip


@_draw.register
def _(mark: Counts, seconds: Seconds, columns: int) -> list[Any]:
    """Return a trace for each class, so that the legend has all of them."""
    edges = {"x": seconds(mark.edges_ns), "y": mark.values}
    template = f"{_template(mark.words, '', value='z', top='y')}<extra></extra>"
    look = {"showscale": False, "hovertemplate": template, "hoverongaps": False}
    across = {"mode": "lines", "line": {"color": MARK, "width": 1}, "hoverinfo": "skip", "showlegend": False}
    lines = [go.Scatter(x=edges["x"][[0, -1]], y=[value, value], **across) for value in mark.lines]
    return lines + [
        go.Heatmap(z=mark.of_class(name).T.astype(np.float32), name=plain(name), **edges, **look,
                   colorscale=[[0, colour], [1, colour]])
        for name, (_, colour) in mark.classes.items()
    ]  # fmt: skip


@_draw.register
def _(mark: Blocks, seconds: Seconds, columns: int) -> list[Any]:
    """Return the blocks, the blocks that stand out, and an invisible line.

    The line has the hover texts: areas would show those of other blocks.
    """
    blocks = mark.reduced(columns)
    if not len(blocks.pauses_s):
        return []
    edges_s, heights, paused, explained = seconds(blocks.edges_ns), blocks.heights_s, blocks.paused, blocks.explained
    alike = paused & ~explained
    normal = np.append(np.where(alike | explained, 0, heights), 0)
    traces = [_area(edges_s, normal, mark.colour, mark.group, line={"shape": "hv"}, fill="tozeroy")]
    if alike.any():
        traces.append(_boxes(edges_s, np.zeros(len(heights)), np.where(alike, heights, 0), PAUSE, PAUSED))
    for part, low, high in blocks.stacked():
        hatch = {"fillpattern": {"shape": "/", "size": 5, "fgcolor": MARK}} if part.is_hatched else {}
        traces.append(_boxes(edges_s, low, high, part.colour, part.group, **hatch))
    words = np.where(blocks.counts > 1, "longest ", "").astype(object)
    words[paused] = [f"paused for {quantity(pause_s, 's')}; full height is a " for pause_s in blocks.pauses_s[paused]]
    template = f"{_name(mark.name)}: %{{text}}cycle of %{{y:.3~s}}s, from %{{customdata:.3f}} s"
    look = {"mode": "lines", "line": {"width": 0, "color": mark.colour}, "text": np.repeat(words, 2)}
    if blocks.hover is not None:
        template += "%{hovertext}"
        look["hovertext"] = np.repeat(np.array([_hover(text) for text in blocks.hover], object), 2)
    ends_s, tops_s, starts_s = _both_ends(edges_s), np.repeat(heights, 2), np.repeat(edges_s[:-1], 2)
    return [*traces, _trace(mark.name, ends_s, tops_s, template, starts_s, showlegend=False, **look)]


def _boxes(edges_s: Values, low: Values, high: Values, colour: str, group: str, **style: Any) -> Any:
    """Return one area between `low` and `high`, for the blocks whose `low` is below `high`."""
    which = high > low
    left, right, bottom, top = (part[which] for part in (edges_s[:-1], edges_s[1:], low, high))
    gap = np.full(len(top), np.nan)
    times_s, heights_s = np.stack([left, left, right, right, left]), np.stack([bottom, top, top, bottom, gap])
    return _area(times_s.T.ravel(), heights_s.T.ravel(), colour, group, fill="toself", **style)


def _hover(text: str) -> str:
    """Return sentences as lines of a hover text, preceded by a line break."""
    lines = [part for line in text.splitlines() for part in wrap(printable(line), _HOVER_LETTERS)]
    return "".join(f"<br>  {plain(line)}" for line in lines)


def _count(pane: Pane, kind: type) -> int:
    return sum(isinstance(mark, kind) for mark in pane.marks)


def _seconds(zero_ns: int) -> Seconds:
    return lambda times_ns: (times_ns - zero_ns) / NS_PER_S


def _pointed(mark: Line | PointMarks, times_s: Values, values: Values, said: Values | None, **look: Any) -> Any:
    words = _template(mark.words, mark.name, value="y" if said is None else "customdata")
    return _trace(mark.name, times_s, values, words, said, **look)


def _said(mark: Line | PointMarks, at: Values) -> Values | None:
    return None if mark.said is None else mark.said[at].astype(np.float32)


def _trace(name: str, times_s: Values, values: Values, words: str, said: Values | None, **look: Any) -> Any:
    alone = f"{words}<extra></extra>"  # without the trace's name, which the words contain
    values = values.astype(np.float32)
    return go.Scatter(x=times_s, y=values, name=plain(name), hovertemplate=alone, customdata=said, **look)


def _area(times_s: Values, heights_s: Values, colour: str, group: str, **style: Any) -> Any:
    thin = {"width": 0.5, "color": colour} | style.pop("line", {})  # keeps narrow areas visible
    silent = {"mode": "lines", "hoverinfo": "skip", "legendgroup": group, "showlegend": False}
    return go.Scatter(x=times_s, y=heights_s.astype(np.float32), line=thin, fillcolor=colour, **silent, **style)


def _template(words: str, name: str, **fields: str) -> str:
    """Return a mark's words as Plotly's template; {value} is y and {time} is x, unless `fields` says otherwise."""
    variables = {"value": "y", "time": "x"} | fields
    text = ""
    for literal, field, form, _ in Formatter().parse(words):
        text += literal
        if field == "name":
            text += _name(name)
        elif field:
            text += f"%{{{variables[field]}{':' if form else ''}{form}}}"
    return text


def _name(text: str) -> str:
    """Return a name escaped for a template, so that it contains no variable."""
    return plain(text).replace("%", "&#37;")


def _drawn_fast(traces: list[Any]) -> list[Any]:
    """Return the traces; if they have many points, as WebGL traces."""
    points = [trace for trace in traces if _is_of_points(trace)]
    if sum(len(trace.x) for trace in points) <= _SVG_POINTS:
        return traces
    return [
        go.Scattergl(trace.to_plotly_json() | {"type": "scattergl"}) if _is_of_points(trace) else trace
        for trace in traces
    ]


def _is_of_points(trace: Any) -> bool:
    return isinstance(trace, go.Scatter) and trace.mode == "markers"


def _both_ends(edges_s: Values) -> Values:
    """Return two hover points of each step, near its start and near its end, so that the nearest one is its own."""
    inset_s = _INSET * np.diff(edges_s)  # otherwise a step's end is as near as the next step's start
    return np.stack([edges_s[:-1] + inset_s, edges_s[1:] - inset_s]).T.ravel()


def _held(times_ns: Times, columns: int) -> tuple[Times, Times]:
    """Return times and their rows, with a second time at the end of wide steps, so that hovering shows their values."""
    wide = np.flatnonzero(np.diff(times_ns) > max(1, int(times_ns[-1] - times_ns[0]) // columns))
    rows = np.insert(np.arange(len(times_ns)), wide + 1, wide)
    return np.insert(times_ns, wide + 1, times_ns[wide + 1] - 1), rows
