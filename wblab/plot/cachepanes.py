"""Panes of what the page cache did: event rates, dirty state, throttling.

To add one, write a function here and add a line for it to `cache_panes`.
"""

from collections.abc import Iterator, Mapping
from itertools import cycle

import numpy as np

from wblab.analysis.runs.pagecache import DirtyState, PageCache, Throttling
from wblab.analysis.runs.pauses import Window
from wblab.analysis.runs.rates import Rates, event_rates, written_rates
from wblab.core.units import NS_PER_MS, format_time
from wblab.plot.lines import SPAN, changes, count_axis, rate_axis, rate_ticks, shown, width_of
from wblab.plot.marks import Axis, Layer, LevelMarks, Line, Pane, PointMarks, Stack
from wblab.plot.style import BACKGROUND, DIRTY, LIMIT, MARK, SERIES, THRESHOLD, WRITEBACK, task_colours

_MIB, _KIB = 1 << 20, 1 << 10
_HEADROOM = 1.08


def cache_panes(cache: PageCache, window: Window, loads: Mapping[str, str]) -> Iterator[Pane]:
    """Yield a pane for each kind of event that was traced. loads: the colours of loads."""
    if cache.counts:
        yield event_rates_pane(event_rates(cache, window))
    state = cache.dirty_state.within(window.start_ns, window.end_ns)
    if state.reaches(window.start_ns, window.end_ns):
        yield dirty_state_pane(state)
    throttling = cache.throttling.within(window.start_ns, window.end_ns)
    if throttling.reaches(window.start_ns, window.end_ns):
        yield imposed_pauses_pane(throttling, loads)
        for disk in cache.disks.values() or ("",):
            rows = throttling.where(throttling.disk == disk)
            if len(rows):
                yield rate_limits_pane(rows, loads, disk)
    if cache.disks:
        yield from disk_panes(cache, window)


def disk_panes(cache: PageCache, window: Window) -> Iterator[Pane]:
    """Yield the panes of runs with several disks: dirty data and write rate of each."""
    names = list(cache.disks.values())
    if len(names) > len(SERIES):  # a machine may have many that nobody uses
        seen = {*cache.throttling.disk, *cache.written.disk}
        names.sort(key=lambda name: name not in seen)
    colours = dict(zip(names, cycle(SERIES), strict=False))
    throttling = cache.throttling.within(window.start_ns, window.end_ns)
    if throttling.reaches(window.start_ns, window.end_ns):
        yield disks_dirty_pane(throttling, colours)
    rates = written_rates(cache, window)
    if rates.per_s:
        yield disks_rates_pane(rates, colours)


def event_rates_pane(rates: Rates) -> Pane:
    """Return events per second by type; without events there is no line."""
    words = "{name}: {value:,.0f} per second, from {time:.3f} s"
    lines = tuple(
        LevelMarks(name, rates.edges_ns, shown(per_s), colour, words, width_of(rank))
        for rank, ((name, per_s), colour) in enumerate(zip(rates.per_s.items(), SERIES, strict=False))
    )
    what = f"per second, by type, in spans of {format_time(rates.bin_ns)}"
    return Pane("events", what, count_axis("events/s", lines), lines, 0.9)


def dirty_state_pane(state: DirtyState) -> Pane:
    """Return dirty and writeback memory, stacked, and the thresholds, in MiB."""
    both = Stack(
        state.ts_ns,
        (
            Layer("dirty", state.dirty / _MIB, DIRTY, "{name}: {value:.2f} MiB, at {time:.3f} s"),
            Layer("+ writeback", state.writeback / _MIB, WRITEBACK, "{name}: {value:.2f} MiB; together {top:.2f} MiB"),
        ),
    )
    thresholds = {
        "dirty limit": (state.limit, LIMIT),
        "dirty threshold": (state.threshold, THRESHOLD),
        "background threshold": (state.background, BACKGROUND),
    }
    lines = []
    for name, (values, colour) in thresholds.items():
        at = changes(values)
        lines.append(Line(name, state.ts_ns[at], values[at] / _MIB, colour, "{name}: {value:.2f} MiB"))
    most = max(int(values.max()) for values in (state.limit, state.threshold, state.dirty + state.writeback))
    axis = Axis("MiB", 0, _HEADROOM * most / _MIB, count=6)
    return Pane("dirty state", "of the page cache, against the thresholds", axis, (both, *lines), 2.2)


def imposed_pauses_pane(throttling: Throttling, loads: Mapping[str, str]) -> Pane:
    """Return each pause that the kernel imposed on a task, in ms, as a point at its start."""
    asked = throttling.where(throttling.pause_ns > 0)
    words = "{name}: throttled for {value:.0f} ms, at {time:.3f} s"
    points = tuple(
        PointMarks(task, rows.ts_ns, rows.pause_ns / NS_PER_MS, colour, words)
        for task, colour in task_colours(throttling.task, loads).items()
        if len(rows := asked.where(asked.task == task))
    )
    # The kernel imposes 200 ms at most: mm/page-writeback.c, MAX_PAUSE.
    axis = Axis("ms", 0, 220, ticks={tick: f"{tick}" for tick in (0, 100, 200)})
    return Pane("throttling", "pauses that the kernel imposes on tasks, one point each", axis, points, 0.8)


def disks_dirty_pane(throttling: Throttling, disks: Mapping[str, str]) -> Pane:
    """Return dirty and writeback memory of each disk, in MiB, whenever the kernel throttles a writer to it."""
    lines = []
    for name, colour in disks.items():
        rows, words = throttling.where(throttling.disk == name), "{name}: {value:.2f} MiB, at {time:.3f} s"
        if len(rows):
            lines.append(Line(name, rows.ts_ns, rows.wb_dirty / _MIB, colour, words))
    most = max(1, int(throttling.wb_dirty.max())) / _MIB
    what = "dirty or under writeback, whenever the kernel throttles a writer"
    return Pane("disks", what, Axis("MiB", 0, _HEADROOM * most, count=4), tuple(lines), 0.9)


def disks_rates_pane(rates: Rates, disks: Mapping[str, str]) -> Pane:
    """Return the write rate of each disk, in bytes/s on a logarithmic scale; no line while it writes nothing."""
    words = "{name}: {value:.3~s}B/s, from {time:.3f} s"
    lines = tuple(
        LevelMarks(name, rates.edges_ns, shown(per_s), disks[name], words, width_of(rank))
        for rank, (name, per_s) in enumerate(rates.per_s.items())
    )
    what = f"by each disk, in spans of {format_time(rates.bin_ns)}"
    return Pane("written", what, rate_axis(lines), lines, 0.9)


def rate_limits_pane(throttling: Throttling, loads: Mapping[str, str], disk: str = "") -> Pane:
    """Return each task's rate limit and the device's base rate, in bytes/s on a logarithmic scale.

    A rate of 0, near the dirty limit or above, is drawn on the lower edge.
    """
    rates, base = throttling.task_rate, throttling.base_rate
    least = max(_KIB, int(min(rates[rates > 0].min(initial=1 << 40), base.min(initial=1 << 40))) // 2)
    most = max(int(rates.max()), int(base.max()), 2 * least)
    words = "{name}: may dirty {value:,.0f} KiB/s, at {time:.3f} s"
    points = []
    for task, colour in task_colours(throttling.task, loads).items():
        rows = throttling.where(throttling.task == task)
        shown, said = np.maximum(rows.task_rate, least), rows.task_rate / _KIB
        points.append(PointMarks(task, rows.ts_ns, shown, colour, words, 1.9, said))
    at = changes(base)
    line = Line(
        "base rate of the device",
        throttling.ts_ns[at],
        np.maximum(base[at], least),
        MARK,
        "{name}: {value:,.0f} KiB/s",
        1.2,
        base[at] / _KIB,
    )
    axis = Axis("", least, SPAN * most, is_log=True, ticks=rate_ticks(least, most))
    what = "how fast tasks may dirty pages; points on the lower edge: 0, it may write nothing"
    return Pane(f"rate limits: {disk}" if disk else "rate limits", what, axis, (*points, line), 1.1)
