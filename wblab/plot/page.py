"""The timeline of a run as a page to look into: one HTML file with the panes of the picture, zoom, and words on all."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import Any

import plotly.graph_objects as go
from plotly.io import to_html

from wblab.core.errors import InputError, WblabError
from wblab.core.files import replace_file
from wblab.core.units import NS_PER_S, format_time
from wblab.data.pagecache import PageCache
from wblab.data.pauses import DEFAULT_BOUND_NS
from wblab.data.rates import event_rates
from wblab.data.run import Run
from wblab.data.window import Window, cycles_in, whole
from wblab.lab.formats import PAGE
from wblab.plot.cachetraces import dirty_state_traces, pause_asked_traces, rate_limit_traces, rate_traces
from wblab.plot.figure import MOST_GUIDES, Pane, View, start_labels, title, title_colour
from wblab.plot.style import CYCLE, GRID, LOST, MARK, OFFENDER, PAUSE
from wblab.plot.timeline import control_panes, load_panes, load_top_s, page_cache_panes
from wblab.plot.traces import INNOCENT, LOAD_COLUMNS, OFFENDING, PAUSED, Drawn, control_traces, load_traces, plain

_ID = "timeline"  # a random one would make each file another
# In pixels. A page may be longer than a screen: panes are higher than in the picture.
_PANE, _TOP, _BOTTOM, _BETWEEN, _LEFT, _RIGHT, _LINE = 120, 64, 112, 40, 84, 24, 18
_LEGEND_AT = 80  # below the lowest pane
_LABEL_AT = -70  # the labels of all y axes stand in one line
_LEAST_WIDTH = 1100
_TITLE_LETTERS = 120  # in one line
_LETTER, _SWATCH = 6.5, 40  # of a legend, about
_FONT = "DejaVu Sans, Verdana, sans-serif"
_HELP = "drag to zoom, also along an axis; double-click for all of it; click a legend to hide its lines"
_LOST_GROUP = "lost"
_CONFIG = {
    "displaylogo": False,
    "responsive": True,
    "plotlyServerURL": "",
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
    "toImageButtonOptions": {"format": "svg", "filename": _ID},
}
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>body {{ margin: 0; background: white; }} #{id} {{ min-width: {width}px; }}</style>
</head>
<body>
{figure}
</body>
</html>
"""


def page(
    run: Run, cache: PageCache | None = None, bound_ns: int = DEFAULT_BOUND_NS, window: Window | None = None
) -> Any:
    """Return the Plotly figure of a run: the panes of its timeline, each with what it says when it is pointed at.

    Pauses over `bound_ns` stand out. With a window, only that span is drawn, as a close-up.
    """
    view = View(run, window or whole(run), bound_ns, cache.lost_ns if cache else (), is_close=window is not None)
    panes = [*_control_panes(view), *(_page_cache_panes(view, cache) if cache else []), *_load_panes(view)]
    figure = go.Figure()
    lines = [part for line in title(run).splitlines() for part in wrap(line, _TITLE_LETTERS)]
    top = _TOP + _LINE * (len(lines) - 1)
    heights = [_PANE * pane.height for pane, _ in panes]
    rooms = [_room(pane, drawn) for pane, drawn in panes]
    inner = sum(heights) + sum(rooms) + _BETWEEN * (len(panes) - 1)
    place = inner
    for number, ((pane, drawn), height, room) in enumerate(zip(panes, heights, rooms, strict=True), start=1):
        place -= room
        _add_pane(figure, number, pane, drawn, ((place - height) / inner, place / inner))
        if room:
            figure.update_layout({f"legend{number + 1}": {"y": (place + _LINE) / inner}})
        _mark(figure, view, number)
        place -= height + _BETWEEN
    _name_offenders(figure, view)
    _explain_colours(figure, view, len(panes), -_LEGEND_AT / inner)
    shown_s = [view.seconds(view.window.start_ns), view.seconds(view.window.end_ns)]
    figure.update_layout(
        height=round(top + inner + _BOTTOM),
        margin={"l": _LEFT, "r": _RIGHT, "t": top, "b": _BOTTOM},
        font={"family": _FONT, "size": 12, "color": "black"},
        plot_bgcolor="white",
        paper_bgcolor="white",
        title={
            "text": "<br>".join(plain(line) for line in lines),
            "font": {"size": 14, "color": title_colour(run)},
            "x": 0,
            "xref": "paper",
            "xanchor": "left",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 10},
        },
        xaxis=_time_axis(shown_s, len(panes)),
        hovermode="x unified",
        hoverdistance=-1,
        spikedistance=-1,
        hoverlabel={"namelength": -1, "font": {"size": 12}, "bgcolor": "rgba(255,255,255,0.9)"},
        dragmode="zoom",
    )
    return figure


def save_page(figure: Any, run: Run, path: Path) -> None:
    """Write a page as one HTML file that needs nothing else; the same figure makes the same bytes.

    Raises InputError for another suffix, WblabError when the file cannot be written.
    """
    if path.suffix.lower() != PAGE:
        raise InputError(f"cannot write a page to {str(path)!r}: its name must end in {PAGE}")
    body = to_html(figure, config=_CONFIG, include_plotlyjs=True, full_html=False, div_id=_ID)
    name = escape(f"{run.name.lstrip('_')}: timeline")
    try:
        with replace_file(path) as file:
            file.write(_PAGE.format(title=name, id=_ID, width=_LEAST_WIDTH, figure=body).encode())
    except OSError as error:
        raise WblabError(f"cannot write {path}: {error.strerror}") from None


def _control_panes(view: View) -> list[tuple[Pane, Drawn]]:
    return [(pane, control_traces(view.run.load(pane.name), view)) for pane in control_panes(view)]


def _page_cache_panes(view: View, cache: PageCache) -> list[tuple[Pane, Drawn]]:
    window, zero_ns = view.window, view.run.zero_ns
    of_window = (window.start_ns, window.end_ns)
    draw = {
        "events": lambda: rate_traces(event_rates(cache, window), zero_ns),
        "dirty state": lambda: dirty_state_traces(cache.dirty_state.within(*of_window), zero_ns),
        "throttling": lambda: pause_asked_traces(cache.throttling.within(*of_window), zero_ns),
        "rate limits": lambda: rate_limit_traces(cache.throttling.within(*of_window), zero_ns),
    }
    return [(pane, draw[pane.name]()) for pane in page_cache_panes(view, cache)]


def _load_panes(view: View) -> list[tuple[Pane, Drawn]]:
    panes, top_s = load_panes(view), load_top_s(view)
    columns = LOAD_COLUMNS * 3 // max(3, len(panes))
    return [(pane, load_traces(view.run.load(pane.name), view, top_s, columns)) for pane in panes]


def _add_pane(figure: Any, number: int, pane: Pane, drawn: Drawn, domain: tuple[float, float]) -> None:
    """Add a pane, the n-th: its traces, its axis, its title, and its legend on the right, beside the title."""
    axis, legend = f"yaxis{number}", f"legend{number + 1}"  # the first legend is the page's own
    explained = [trace for trace in drawn.traces if trace.showlegend is not False]
    for trace in drawn.traces:
        trace.update(xaxis="x", yaxis=_y(number), legend=legend if trace in explained else "legend")
        trace.update(showlegend=trace in explained and len(explained) > 1)  # one line has the pane's title
        figure.add_trace(trace)
    look = {"showgrid": True, "gridcolor": GRID, "zeroline": False, "showline": True, "linecolor": MARK}
    figure.update_layout(
        {
            axis: {**look, "ticks": "outside", "ticklen": 4, "domain": domain} | drawn.axis,
            legend: {
                "orientation": "h",
                "x": 1,
                "xanchor": "right",
                "y": domain[1],
                "yanchor": "bottom",
                "bgcolor": "rgba(0,0,0,0)",
                "font": {"size": 11},
                "itemsizing": "constant",
                "traceorder": "normal",
            },
        }
    )
    text = f"<b>{plain(pane.name)}</b>  <span style='color:{MARK};font-size:12px'>{plain(pane.what)}</span>"
    place = {"xref": "paper", "x": 0, "xanchor": "left", "yref": f"{_y(number)} domain", "y": 1, "yanchor": "bottom"}
    figure.add_annotation(text=text, showarrow=False, font={"size": 13}, borderpad=0, **place)
    aside = {
        "xref": "paper",
        "x": 0,
        "xanchor": "center",
        "xshift": _LABEL_AT,
        "yref": f"{_y(number)} domain",
        "y": 0.5,
    }
    figure.add_annotation(text=drawn.unit, textangle=-90, showarrow=False, **aside)
    for time_s, value, said in drawn.words:
        at = {"xref": "x", "x": time_s, "yref": _y(number), "y": value, "yanchor": "bottom"}
        figure.add_annotation(text=said, showarrow=False, font={"size": 12, "color": PAUSE}, borderpad=1, **at)


def _room(pane: Pane, drawn: Drawn) -> float:
    """Return how much higher the space above a pane is for its legend, where that has no place beside the title."""
    widths = [_SWATCH + _LETTER * len(trace.name) for trace in drawn.traces if trace.showlegend is not False]
    inner = _LEAST_WIDTH - _LEFT - _RIGHT
    if len(widths) < 2 or sum(widths) < inner - _LETTER * len(pane.name + pane.what):
        return 0
    in_row = max(1, int(inner / max(widths)))
    return _LINE * -(-len(widths) // in_row)


def _mark(figure: Any, view: View, number: int) -> None:
    """Draw on a pane what all have: where offenders start, where events were lost, and, close by, innocent cycles."""
    on_pane = {"type": "path", "xref": "x", "yref": f"{_y(number)} domain"}
    frame = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "yref": f"{_y(number)} domain", "y0": 0, "y1": 0}
    figure.add_shape(line={"color": MARK, "width": 1}, **frame)
    if view.lost_ns:
        spans = "".join(f"M{view.seconds(start)},0V1H{view.seconds(end)}V0Z" for start, end in view.lost_ns)
        look = {"fillcolor": LOST, "opacity": 0.5, "line": {"width": 0}, "layer": "below"}
        figure.add_shape(path=spans, legendgroup=_LOST_GROUP, **look, **on_pane)
    if view.is_close:
        for item in view.run.loads:
            first, last = cycles_in(item, view.window)
            if item.load.role == "innocent" and 0 < last - first <= MOST_GUIDES:
                look = {"line": {"color": CYCLE, "width": 0.5}, "opacity": 0.45}
                lines = _lines(view, item.boundaries_ns[first : last + 1].tolist())
                figure.add_shape(path=lines, legendgroup=INNOCENT, **look, **on_pane)
    if starts_ns := list(view.run.offender_starts_ns().values()):
        dashed = {"color": MARK, "width": 1, "dash": "dash"}
        figure.add_shape(path=_lines(view, starts_ns), line=dashed, **on_pane)


def _y(number: int) -> str:
    return f"y{number}" if number > 1 else "y"


def _lines(view: View, times_ns: Sequence[int]) -> str:
    return "".join(f"M{view.seconds(time_ns)},0V1" for time_ns in times_ns)


def _name_offenders(figure: Any, view: View) -> None:
    starts_s = {
        name: view.seconds(start_ns)
        for name, start_ns in view.run.offender_starts_ns().items()
        if view.window.start_ns <= start_ns <= view.window.end_ns
    }
    for start_s, text in start_labels(starts_s, view.window.duration_ns / NS_PER_S):
        at = {"x": start_s, "xanchor": "left", "xshift": 2, "yref": "y domain", "y": 1, "yanchor": "top"}
        figure.add_annotation(text=plain(text), showarrow=False, font={"color": MARK}, borderpad=1, **at)


def _explain_colours(figure: Any, view: View, panes: int, place: float) -> None:
    """Add the page's own legend, whose entries switch their colour on all panes, and how to use the page."""
    meanings = {
        INNOCENT: (CYCLE, "cycles of an innocent load" + (" (also as lines on every pane)" if view.is_close else "")),
        OFFENDING: (OFFENDER, "cycles of an offender"),
        PAUSED: (PAUSE, f"paused for over {format_time(view.bound_ns)}"),
    }
    if view.lost_ns:
        meanings[_LOST_GROUP] = (LOST, "events lost")
    for group, (colour, name) in meanings.items():
        square = {"symbol": "square", "size": 12, "color": colour}
        figure.add_trace(
            go.Scatter(x=[None], y=[None], mode="markers", marker=square, name=name, legendgroup=group, yaxis=_y(panes))
        )
    figure.update_layout(
        legend={"orientation": "h", "x": 1, "xanchor": "right", "y": place, "yanchor": "bottom", "itemsizing": "trace"}
    )
    at = {"xref": "paper", "x": 1, "xanchor": "right", "yref": "paper", "y": place, "yanchor": "top", "yshift": -4}
    figure.add_annotation(text=_HELP, showarrow=False, font={"size": 11, "color": MARK}, **at)


def _time_axis(shown_s: list[float], panes: int) -> dict[str, Any]:
    return {
        "range": shown_s,
        "anchor": _y(panes),
        "title": {"text": "time since the loads started (s)", "standoff": 6},
        "gridcolor": GRID,
        "zeroline": False,
        "ticks": "outside",
        "ticklen": 4,
        "hoverformat": ".3f",
        "unifiedhovertitle": {"text": "at the line, or nearest to it"},  # the words below it have their times
        "showspikes": True,
        "spikemode": "across",
        "spikesnap": "cursor",
        "spikethickness": 1,
        "spikedash": "solid",
        "spikecolor": MARK,
    }
