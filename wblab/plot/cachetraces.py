"""Traces of what the page cache did, for a timeline's page."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from wblab.core.units import NS_PER_MS, NS_PER_S
from wblab.data.pagecache import DirtyState, Throttling
from wblab.data.rates import Rates
from wblab.plot.pagecache import rate_floor, rate_text, threshold_lines, top_bytes
from wblab.plot.reduction import changes, visible
from wblab.plot.style import DIRTY, MARK, SERIES, WRITEBACK, task_colours
from wblab.plot.traces import LINE_COLUMNS, Drawn, Floats, both_ends, line, plain, points

_POINT_COLUMNS = 20_000  # of all tasks together
_SVG_POINTS = 20_000  # in a pane; with more, a browser is slow unless its graphics card draws them
_MIB, _KIB = 1 << 20, 1 << 10
_SPAN = 1.5  # of a logarithmic axis, below and above its lines


def rate_traces(rates: Rates, zero_ns: int) -> Drawn:
    """Return events per second by type; where there are none, there is no line."""
    edges_s = (rates.edges_ns - zero_ns) / NS_PER_S
    inner_s = both_ends(edges_s).reshape(-1, 2)
    times_s = np.column_stack([edges_s[:-1], inner_s, edges_s[1:]]).ravel()
    traces = []
    for rank, ((name, per_s), colour) in enumerate(zip(rates.per_s.items(), SERIES, strict=False)):
        style = {"color": colour, "width": 1.3 if rank else 3.2}  # as in the picture: the first is seen behind another
        values = np.repeat(np.where(per_s > 0, per_s, np.nan), 4)
        words = f"{plain(name)}: %{{y:,.0f}} per second, from %{{customdata:.3f}} s"
        traces.append(line(name, times_s, values, words, line=style, customdata=np.repeat(edges_s[:-1], 4)))
    positive = [per_s[per_s > 0] for per_s in rates.per_s.values()]
    if not positive:
        return Drawn([], "events/s", {"range": [0, 1], "showticklabels": False})
    low = float(np.log10(min(part.min() for part in positive) / _SPAN))
    high = float(np.log10(max(part.max() for part in positive) * _SPAN))
    has_tick = np.ceil(low) <= high
    axis = {
        "type": "log",
        "range": [low if has_tick else float(np.floor(low)), high],
        "dtick": 1,
        "exponentformat": "SI",
    }
    return Drawn(traces, "events/s", axis)


def dirty_state_traces(state: DirtyState, zero_ns: int) -> Drawn:
    """Return how much is dirty and under writeback, one on the other, and the thresholds that it meets, in MiB."""
    total = state.dirty + state.writeback
    shown = state.where(visible(state.ts_ns, total, LINE_COLUMNS))
    times_ns, rows = _held(shown.ts_ns, LINE_COLUMNS)
    times_s = (times_ns - zero_ns) / NS_PER_S
    dirty, writeback = (_mib(column[rows]) for column in (shown.dirty, shown.writeback))
    area: dict[str, Any] = {"line": {"shape": "hv", "width": 0}}
    traces = [
        line("dirty", times_s, dirty, "dirty: %{y:.2f} MiB, at %{x:.3f} s", fill="tozeroy", fillcolor=DIRTY, **area),
        line(
            "+ writeback",
            times_s,
            dirty + writeback,
            "+ writeback: %{customdata:.2f} MiB; together %{y:.2f} MiB",
            fill="tonexty",
            fillcolor=WRITEBACK,
            customdata=writeback,
            **area,
        ),
    ]
    for name, (values, colour) in threshold_lines(state).items():
        at = changes(values)
        at = at[visible(state.ts_ns[at], values[at], LINE_COLUMNS)]
        style = {"color": colour, "width": 2, "shape": "hv"}
        words = f"{name}: %{{y:.2f}} MiB"
        traces.append(line(name, (state.ts_ns[at] - zero_ns) / NS_PER_S, _mib(values[at]), words, line=style))
    return Drawn(traces, "MiB", {"range": [0, top_bytes(state) / _MIB], "nticks": 6})


def pause_asked_traces(throttling: Throttling, zero_ns: int) -> Drawn:
    """Return each pause that the kernel asked of a task, in ms, as a point where it began."""
    asked = throttling.where(throttling.pause_ns > 0)
    traces = []
    for task, colour, of_task in _by_task(asked, throttling):
        shown = of_task.where(visible(of_task.ts_ns, of_task.pause_ns, _columns_each(throttling)))
        words = f"{plain(task)}: to pause for %{{y:.0f}} ms, at %{{x:.3f}} s"
        traces.append(
            points(task, _seconds(shown, zero_ns), shown.pause_ns / NS_PER_MS, words, marker=_marker(colour, 5))
        )
    # The longest that the kernel asks for is 200 ms: mm/page-writeback.c, MAX_PAUSE.
    return Drawn(_drawn_fast(traces), "ms", {"range": [0, 220], "tickvals": [0, 100, 200]})


def rate_limit_traces(throttling: Throttling, zero_ns: int) -> Drawn:
    """Return the rate that each task is allowed and the base rate behind it; a rate of 0 lies on the lower edge."""
    rates, base = throttling.task_rate, throttling.base_rate
    least = rate_floor(throttling)
    most = max(int(rates.max()), int(base.max()), 2 * least)
    traces = []
    for task, colour, of_task in _by_task(throttling, throttling):
        shown = of_task.where(visible(of_task.ts_ns, of_task.task_rate, _columns_each(throttling)))
        words = f"{plain(task)}: may dirty %{{customdata:,.0f}} KiB/s, at %{{x:.3f}} s"
        real = (shown.task_rate / _KIB).astype(np.float32)
        marker = _marker(colour, 4)
        traces.append(
            points(
                task,
                _seconds(shown, zero_ns),
                np.maximum(shown.task_rate, least),
                words,
                marker=marker,
                customdata=real,
            )
        )
    at = changes(base)
    at = at[visible(throttling.ts_ns[at], base[at], LINE_COLUMNS)]
    base_line = line(
        "base rate of the device",
        (throttling.ts_ns[at] - zero_ns) / NS_PER_S,
        np.maximum(base[at], least),
        "base rate of the device: %{customdata:,.0f} KiB/s",
        line={"color": MARK, "width": 1.5, "shape": "hv"},
        customdata=(base[at] / _KIB).astype(np.float32),
    )
    powers = range(int(np.ceil(np.log2(least))), int(np.log2(most)) + 1)
    ticks = [1 << power for power in powers][:: max(1, -(-len(powers) // 5))]
    axis = {
        "type": "log",
        "range": [float(np.log10(least)), float(np.log10(most * _SPAN))],
        "tickvals": ticks,
        "ticktext": [rate_text(tick) for tick in ticks],
    }
    return Drawn([*_drawn_fast(traces), base_line], "", axis)


def _drawn_fast(traces: list[Any]) -> list[Any]:
    """Return points as they are or, if they are many, as ones that the graphics card draws."""
    if sum(len(trace.x) for trace in traces) <= _SVG_POINTS:
        return traces
    return [go.Scattergl(trace.to_plotly_json() | {"type": "scattergl"}) for trace in traces]


def _by_task(throttling: Throttling, whole: Throttling) -> list[tuple[str, str, Throttling]]:
    tasks = [
        (task, colour, throttling.where(throttling.task == task)) for task, colour in task_colours(whole.task).items()
    ]
    return [(task, colour, of_task) for task, colour, of_task in tasks if len(of_task)]


def _columns_each(throttling: Throttling) -> int:
    return _POINT_COLUMNS // max(1, len(task_colours(throttling.task)))


def _held(times_ns: NDArray[np.int64], columns: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return times and the rows that hold then: wide steps also end, so that who points at one reads its values."""
    wide = np.flatnonzero(np.diff(times_ns) > max(1, int(times_ns[-1] - times_ns[0]) // columns))
    rows = np.insert(np.arange(len(times_ns)), wide + 1, wide)
    return np.insert(times_ns, wide + 1, times_ns[wide + 1] - 1), rows


def _marker(colour: str, size: float) -> dict[str, Any]:
    return {"color": colour, "size": size, "line": {"width": 0}}


def _mib(values: Floats) -> Floats:
    return (values / _MIB).astype(np.float32)


def _seconds(throttling: Throttling, zero_ns: int) -> Floats:
    return (throttling.ts_ns - zero_ns) / NS_PER_S
