"""Traces of loads for a timeline's page: lines that say in words what they are when they are pointed at."""

from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from wblab.core.units import NS_PER_MS, NS_PER_S
from wblab.data.run import LoadCycles
from wblab.data.window import cycles_in
from wblab.plot.figure import View
from wblab.plot.loads import CONTROL_RANGE
from wblab.plot.reduction import visible
from wblab.plot.steps import Steps, steps
from wblab.plot.style import CONTROL, CYCLE, OFFENDER, PAUSE

# More than a screen has pixels, so that a span of a run still has its detail; few enough for a file of some MB.
LOAD_COLUMNS = 20_000
LINE_COLUMNS = 10_000
_UNIT = "cycle (s)"
_INSET = 0.005  # of a step

PAUSED, INNOCENT, OFFENDING = "paused", "innocent", "offender"  # the groups that the page's legend switches

Floats = NDArray[Any]


@dataclass(frozen=True)
class Drawn:
    """What a pane holds: its traces, what its y axis counts, that axis, and words in it as (s, y, text)."""

    traces: list[Any]
    unit: str
    axis: dict[str, Any]
    words: list[tuple[float, float, str]] = field(default_factory=list)


def control_traces(item: LoadCycles, view: View) -> Drawn:
    """Return a control load: a line of its cycle times, in ms, around its idle time."""
    idle_ms = item.load.idle_ns(0) / NS_PER_MS
    low, high = CONTROL_RANGE[0] * idle_ms, CONTROL_RANGE[1] * idle_ms
    first, last = cycles_in(item, view.window)
    starts_ns, durations_ns = item.starts_ns[first:last], item.durations_ns[first:last]
    shown = visible(starts_ns, durations_ns, LINE_COLUMNS)
    times_s, durations_ms = (starts_ns[shown] - view.run.zero_ns) / NS_PER_S, durations_ns[shown] / NS_PER_MS
    words = f"{plain(item.name)}: cycle of %{{y:.2f}} ms, from %{{x:.3f}} s"
    drawn = line(item.name, times_s, durations_ms, words, line={"color": CONTROL, "width": 1, "shape": "hv"})
    axis = {"range": [low, high], "nticks": 3}
    if durations_ns.max(initial=0) / NS_PER_MS <= high:
        return Drawn([drawn], "cycle (ms)", axis)
    longest = first + int(item.pauses_ns[first:last].argmax())
    stalled_s = item.pauses_ns[longest] / NS_PER_S
    start_s = (int(item.starts_ns[longest]) - view.run.zero_ns) / NS_PER_S
    return Drawn([drawn], "cycle (ms)", axis, [(start_s, 1.1 * idle_ms, f"stalled for {stalled_s:.2f} s")])


def load_traces(item: LoadCycles, view: View, top_s: float, columns: int = LOAD_COLUMNS) -> Drawn:
    """Return a load: a block for each cycle, as wide and as high as it took; pauses over the bound stand out.

    A third trace is not seen: it has the words, which the two others would have for cycles that are not theirs.
    """
    drawn = steps(item, view.run.zero_ns, view.bound_ns, view.window, columns)
    is_span = not item.load.has_pauses  # how long it runs shows in the width alone
    axis = {"range": [0, top_s], "nticks": 4, "showticklabels": not is_span}
    unit = "" if is_span else _UNIT
    if not len(drawn.heights_s):
        return Drawn([], unit, axis)
    colour, group = (OFFENDER, OFFENDING) if item.load.role == "offender" else (CYCLE, INNOCENT)
    normal = np.append(np.where(drawn.paused, 0, drawn.heights_s), 0)
    cycles = _area(drawn.edges_s, normal, colour, group, line={"shape": "hv"}, fill="tozeroy")
    spoken = _spoken(item, drawn, view)
    if not drawn.paused.any():
        return Drawn([cycles, spoken], unit, axis)
    left, right, height = (part[drawn.paused] for part in (drawn.edges_s[:-1], drawn.edges_s[1:], drawn.heights_s))
    gap, ground = np.full(len(height), np.nan), np.zeros(len(height))
    times_s, heights_s = np.stack([left, left, right, right, left]), np.stack([ground, height, height, ground, gap])
    pauses = _area(times_s.T.ravel(), heights_s.T.ravel(), PAUSE, PAUSED, fill="toself")
    return Drawn([cycles, pauses, spoken], unit, axis, [_longest(item, view)])


def _longest(item: LoadCycles, view: View) -> tuple[float, float, str]:
    """Return where the longest pause is, and how long."""
    first, last = cycles_in(item, view.window)
    longest = first + int(item.pauses_ns[first:last].argmax())
    middle_ns = (int(item.boundaries_ns[longest]) + int(item.boundaries_ns[longest + 1])) // 2
    words = f"<b>{item.pauses_ns[longest] / NS_PER_S:.1f} s</b>"
    return view.seconds(middle_ns), item.durations_ns[longest] / NS_PER_S, words


def _spoken(item: LoadCycles, drawn: Steps, view: View) -> Any:
    """Return a line that is not seen, with both ends of every step: the nearer one is of the step pointed at."""
    first, last = cycles_in(item, view.window)
    first = max(first, 1) if item.load.role == "offender" else first  # as the steps
    starts_s = (item.starts_ns[first:last] - view.run.zero_ns) / NS_PER_S
    merged = np.diff(np.append(np.searchsorted(starts_s, drawn.edges_s[:-1]), len(starts_s))) > 1
    words = np.where(merged, "longest ", "").astype(object)
    pauses_ns = item.pauses_ns[first:last]
    words[drawn.paused] = [f"paused for {ns / NS_PER_S:.2f} s in a " for ns in pauses_ns[pauses_ns > view.bound_ns]]
    return line(
        item.name,
        both_ends(drawn.edges_s),
        np.repeat(drawn.heights_s, 2),
        f"{plain(item.name)}: %{{text}}cycle of %{{y:.3~s}}s, from %{{customdata:.3f}} s",
        line={"width": 0, "color": OFFENDER if item.load.role == "offender" else CYCLE},
        customdata=np.repeat(drawn.edges_s[:-1], 2),
        text=np.repeat(words, 2),
        showlegend=False,
    )


def _area(times_s: Floats, heights_s: Floats, colour: str, group: str, **style: Any) -> Any:
    thin = {"width": 0.5, "color": colour} | style.pop("line", {})  # so that what is narrow is seen
    silent = {"mode": "lines", "hoverinfo": "skip", "legendgroup": group, "showlegend": False}
    return go.Scatter(x=times_s, y=heights_s.astype(np.float32), line=thin, fillcolor=colour, **silent, **style)


def line(name: str, times_s: Floats, values: Floats, words: str, **style: Any) -> Any:
    """Return a line, with the words (a Plotly template) that it says when it is pointed at."""
    return go.Scatter(**_said(name, times_s, values, words), mode="lines", **style)


def points(name: str, times_s: Floats, values: Floats, words: str, **style: Any) -> Any:
    """Return points, with their words."""
    return go.Scatter(**_said(name, times_s, values, words), mode="markers", **style)


def both_ends(edges_s: Floats) -> Floats:
    """Return where to point at each step, near its begin and near its end: the nearer one is of the step pointed at."""
    inset_s = _INSET * np.diff(edges_s)  # else where a step ends is as near as where the next begins
    return np.stack([edges_s[:-1] + inset_s, edges_s[1:] - inset_s]).T.ravel()


def plain(text: str) -> str:
    """Return a text so that Plotly, which reads a little HTML, shows it as it is."""
    return escape(text, quote=False)


def _said(name: str, times_s: Floats, values: Floats, words: str) -> dict[str, Any]:
    alone = f"{words}<extra></extra>"  # without the trace's name, which the words have
    return {"x": times_s, "y": values.astype(np.float32), "name": plain(name), "hovertemplate": alone}
