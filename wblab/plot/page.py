"""The timeline of a run as a page: one HTML file with the panes of the picture, zoom and hover texts."""

from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.io import to_html

from wblab.analysis.runs.run import Run
from wblab.core.errors import InputError
from wblab.core.units import NS_PER_S
from wblab.lab.formats import PAGE
from wblab.plot.marks import Axis, Blocks, MarkMeaning, Pane, Timeline
from wblab.plot.style import GRID, MARK, PAUSE
from wblab.plot.traces import BLOCK_COLUMNS, labels_of, plain, shape_of, traces_of
from wblab.report.page import render, write_page

_ID = "timeline"  # fixed: with a random one, no two files would be the same
# In pixels. A page may be longer than a screen: panes are higher than in the picture.
_PANE, _TOP, _BOTTOM, _BETWEEN, _LEFT, _RIGHT, _LINE = 120, 64, 112, 40, 84, 24, 18
_LEGEND_AT = 80  # below the lowest pane
_LABEL_AT = -70  # where the labels of all y axes are aligned
LEAST_WIDTH = 1100
_TITLE_LETTERS = 120  # in one line
_LETTER, _SWATCH = 6.5, 40  # approximate widths in a legend
_FONT = "DejaVu Sans, Verdana, sans-serif"
_HELP = "drag to zoom, also along an axis; double-click to show everything; click a legend entry to hide its lines"
# All buttons, so that none comes with another Plotly: one of version 7's uploads the chart to a company.
BUTTONS = [["toImage"], ["zoom2d", "pan2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"]]
CONFIG = {
    "displaylogo": False,
    "responsive": True,
    "plotlyServerURL": "",
    "showSendToCloud": False,
    "modeBarButtons": BUTTONS,
    "toImageButtonOptions": {"format": "svg", "filename": _ID},
}


def page(timeline: Timeline) -> Any:
    """Return the Plotly figure of a timeline: its panes with their hover texts."""
    panes = timeline.panes
    lines = [part for line in timeline.title.splitlines() for part in wrap(line, _TITLE_LETTERS)]
    top = _TOP + _LINE * (len(lines) - 1)
    heights = [_PANE * pane.height for pane in panes]
    rooms = [_room(pane) for pane in panes]
    inner = sum(heights) + sum(rooms) + _BETWEEN * (len(panes) - 1)
    figure = go.Figure(layout=_layout(timeline, lines, top, inner))
    place = inner
    for number, (height, room) in enumerate(zip(heights, rooms, strict=True), start=1):
        place -= room
        legend = place + _LINE if room else place
        _add_pane(figure, timeline, number, ((place - height) / inner, place / inner), legend / inner)
        place -= height + _BETWEEN
    _name_offenders(figure, timeline)
    _explain_colours(figure, timeline, -_LEGEND_AT / inner)
    return figure


def save_page(figure: Any, run: Run, path: Path) -> None:
    """Write a page as one self-contained HTML file; the same figure gives the same bytes.

    Raises InputError for another suffix, WblabError if the file cannot be written.
    """
    if path.suffix.lower() != PAGE:
        raise InputError(f"cannot write a page to {str(path)!r}: its name must end in {PAGE}")
    body = to_html(figure, config=dict(CONFIG), include_plotlyjs=True, full_html=False, div_id=_ID)
    title = f"{run.name.lstrip('_')}: timeline"
    write_page(path, render("wblab.plot", "timeline.html", title=title, id=_ID, width=LEAST_WIDTH, figure=body))


def _layout(timeline: Timeline, lines: list[str], top: float, inner: float) -> dict[str, Any]:
    """Return the layout that all panes share."""
    return {
        "height": round(top + inner + _BOTTOM),
        "margin": {"l": _LEFT, "r": _RIGHT, "t": top, "b": _BOTTOM},
        "font": {"family": _FONT, "size": 12, "color": "black"},
        "plot_bgcolor": "white",
        "paper_bgcolor": "white",
        "title": {
            "text": "<br>".join(plain(line) for line in lines),
            "font": {"size": 14, "color": PAUSE if timeline.run.failure else "black"},
            "x": 0,
            "xref": "paper",
            "xanchor": "left",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 22},
        },
        "xaxis": _time_axis(timeline),
        "hovermode": "x unified",
        "hoverdistance": -1,
        "spikedistance": -1,
        "hoverlabel": {"namelength": -1, "font": {"size": 12}, "bgcolor": "rgba(255,255,255,0.9)"},
        "dragmode": "zoom",
    }


def _add_pane(figure: Any, timeline: Timeline, number: int, domain: tuple[float, float], legend_at: float) -> None:
    """Add the n-th pane: traces, axis, title, legend on the right, and the marks that all panes share."""
    pane, zero_ns = timeline.panes[number - 1], timeline.run.zero_ns
    axis, legend = f"yaxis{number}", f"legend{number + 1}"  # the first legend is the page's
    loads = sum(isinstance(mark, Blocks) for each in timeline.panes for mark in each.marks)
    for trace in traces_of(pane, zero_ns, BLOCK_COLUMNS * 3 // max(3, loads)):
        trace.update(xaxis="x", yaxis=_y(number), legend=legend if trace.showlegend else "legend")
        figure.add_trace(trace)
    figure.update_layout({axis: _value_axis(pane.axis) | {"domain": domain}, legend: _legend(legend_at)})
    inside = f"{_y(number)} domain"
    text = f"<b>{plain(pane.name)}</b>  <span style='color:{MARK};font-size:12px'>{plain(pane.what)}</span>"
    place = {"xref": "paper", "x": 0, "xanchor": "left", "yref": inside, "y": 1, "yanchor": "bottom"}
    figure.add_annotation(text=text, showarrow=False, font={"size": 13}, borderpad=0, **place)
    aside = {"xref": "paper", "x": 0, "xanchor": "center", "xshift": _LABEL_AT, "yref": inside, "y": 0.5}
    figure.add_annotation(text=pane.axis.unit, textangle=-90, showarrow=False, **aside)
    for label in labels_of(pane, zero_ns):
        figure.add_annotation(showarrow=False, xref="x", yref=_y(number), **label)
    frame = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "yref": inside, "y0": 0, "y1": 0}
    figure.add_shape(line={"color": MARK, "width": 1}, **frame)
    for mark in timeline.everywhere:
        figure.add_shape(shape_of(mark, zero_ns), xref="x", yref=inside)


def _room(pane: Pane) -> float:
    """Return the extra height above a pane for a legend that does not fit beside the title."""
    widths = [_SWATCH + _LETTER * len(name) for name in pane.explained]
    inner = LEAST_WIDTH - _LEFT - _RIGHT
    if not widths or sum(widths) < inner - _LETTER * len(pane.name + pane.what):
        return 0
    in_row = max(1, int(inner / max(widths)))
    return _LINE * -(-len(widths) // in_row)


def _y(number: int) -> str:
    return f"y{number}" if number > 1 else "y"


def _name_offenders(figure: Any, timeline: Timeline) -> None:
    for start_ns, text in timeline.starts:
        start_s = (start_ns - timeline.run.zero_ns) / NS_PER_S
        side = ("left", 2) if timeline.has_room(start_ns, text) else ("right", -2)
        at = {"x": start_s, "xanchor": side[0], "xshift": side[1], "yref": "y domain", "y": 1, "yanchor": "top"}
        figure.add_annotation(text=plain(text), showarrow=False, font={"color": MARK}, borderpad=1, **at)


def _explain_colours(figure: Any, timeline: Timeline, place: float) -> None:
    """Add the page's legend, whose entries show and hide their colours on all panes, and the help line."""
    for meaning in timeline.meanings:
        border = {"line": {"color": MARK, "width": 1}} if meaning.is_hatched else {}
        square = {"symbol": "square", "size": 12, "color": meaning.colours[0]} | border
        look = {"mode": "markers", "marker": square, "name": _named(meaning), "legendgroup": meaning.group}
        figure.add_trace(go.Scatter(x=[None], y=[None], yaxis=_y(len(timeline.panes)), **look))
    figure.update_layout(
        legend={"orientation": "h", "x": 1, "xanchor": "right", "y": place, "yanchor": "bottom", "itemsizing": "trace"}
    )
    at = {"xref": "paper", "x": 1, "xanchor": "right", "yref": "paper", "y": place, "yanchor": "top", "yshift": -4}
    figure.add_annotation(text=_HELP, showarrow=False, font={"size": 11, "color": MARK}, **at)


def _named(meaning: MarkMeaning) -> str:
    """Return the legend's text for some colours; Plotly's square shows only the first."""
    others = "".join(f"<span style='color:{colour}'>■</span> " for colour in meaning.colours[1:])
    return others + plain(meaning.text)


def _legend(place: float) -> dict[str, Any]:
    return {
        "orientation": "h",
        "x": 1,
        "xanchor": "right",
        "y": place,
        "yanchor": "bottom",
        "bgcolor": "rgba(0,0,0,0)",
        "font": {"size": 11},
        "itemsizing": "constant",
        "traceorder": "normal",
    }


def _value_axis(axis: Axis) -> dict[str, Any]:
    drawn = {"showgrid": True, "gridcolor": GRID, "zeroline": False, "showline": True, "linecolor": MARK}
    drawn |= {"ticks": "outside", "ticklen": 4, "range": (axis.low, axis.high), "nticks": axis.count}
    if axis.is_log:
        drawn |= {"type": "log", "range": tuple(float(np.log10(end)) for end in (axis.low, axis.high))}
    if axis.ticks is not None:
        drawn |= {"tickvals": list(axis.ticks), "ticktext": list(axis.ticks.values()), "tickmode": "array"}
    return drawn


def _time_axis(timeline: Timeline) -> dict[str, Any]:
    return {
        "range": timeline.shown_s,
        "anchor": _y(len(timeline.panes)),
        "title": {"text": "time since the loads started (s)", "standoff": 6},
        "gridcolor": GRID,
        "zeroline": False,
        "ticks": "outside",
        "ticklen": 4,
        "hoverformat": ".3f",
        "unifiedhovertitle": {"text": "values at or nearest to the line"},  # the texts below have their own times
        "showspikes": True,
        "spikemode": "across",
        "spikesnap": "cursor",
        "spikethickness": 1,
        "spikedash": "solid",
        "spikecolor": MARK,
    }
