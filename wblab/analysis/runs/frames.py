"""Pauses and single events as pandas frames for a notebook."""

from collections.abc import Collection

import numpy as np
import pandas as pd
import tracecmd

from wblab.analysis.runs.pagecache import DirtyState, PageCache, Throttling
from wblab.analysis.runs.pauses import PauseReport
from wblab.analysis.runs.throttling import dirty_limit
from wblab.analysis.runs.window import Window
from wblab.core.units import NS_PER_MS, NS_PER_S

_HIDDEN = {"bdi", "cgroup_ino"}  # the same in every event of a run with one disk
_MIB = 1 << 20
_TASK_COLUMNS = 4  # ts_ns, cpu, pid, comm: they come first
MOST_EVENTS = 2000


def loads_frame(report: PauseReport) -> pd.DataFrame:
    """Return the figures of all loads, one row each; times in s. With several disks each row names its own."""
    has_disks = any(item.disk for item in report.loads)
    rows = [
        {
            "load": item.name,
            "kind": item.kind,
            **({"disk": item.disk} if has_disks else {}),
            "cycles": item.cycles,
            "longest pause (s)": item.longest_pause_s,
            "wait time (s)": item.wait_time_s,
            "paused (s)": item.paused_s,
            "paused (%)": 100 * item.paused_fraction,
        }
        for item in report.loads
    ]
    return pd.DataFrame(rows).set_index("load").round(3)


def pauses_frame(report: PauseReport) -> pd.DataFrame:
    """Return every pause over the report's threshold, one row each, in the order of time; times in s."""
    rows = [
        {"at (s)": pause.start_s, "load": item.name, "kind": item.kind, "pause (s)": pause.duration_s}
        for item in report.loads
        for pause in item.pauses
    ]
    frame = pd.DataFrame(rows, columns=["at (s)", "load", "kind", "pause (s)"])
    return frame.sort_values("at (s)", kind="stable", ignore_index=True).round(3)


def events_frame(cache: PageCache, window: Window, zero_ns: int, most: int = MOST_EVENTS) -> pd.DataFrame:
    """Return the events of a window, one row each, in the order of time: time, task, event, fields.

    At most the first `most` are returned; `attrs["left_out"]` is the number of the others.
    """
    rows: list[tuple[int, int, str, str, str]] = []
    for name in cache.counts:
        events = cache.trace.events(name)
        first = int(np.searchsorted(events.ts_ns, window.start_ns))
        last = int(np.searchsorted(events.ts_ns, window.end_ns, side="right"))
        hidden = _HIDDEN - {"bdi"} if cache.disks else _HIDDEN
        rows += _rows(events, name, range(first, min(last, first + most)), hidden)
    rows.sort(key=lambda row: row[:2])
    frame = pd.DataFrame(
        [((time - zero_ns) / NS_PER_S, *rest) for time, _, *rest in rows[:most]],
        columns=["at (s)", "task", "event", "fields"],
    )
    frame.attrs["left_out"] = _count(cache, window) - len(frame)
    return frame


def decisions_frame(throttling: Throttling, zero_ns: int) -> pd.DataFrame:
    """Return the kernel's throttling decisions: the pause that it imposed, and the dirty memory, in MiB."""
    disks = {"disk": throttling.disk} if (throttling.disk != "").any() else {}
    return pd.DataFrame(
        {
            "at (s)": (throttling.ts_ns - zero_ns) / NS_PER_S,
            "task": throttling.task,
            **disks,
            "imposed pause (ms)": throttling.pause_ns // NS_PER_MS,
            "paused so far (ms)": throttling.paused_ns // NS_PER_MS,
            "dirty (MiB)": throttling.dirty / _MIB,
            "limit (MiB)": throttling.limit / _MIB,
            "task rate (KiB/s)": throttling.task_rate // 1024,
            "base rate (KiB/s)": throttling.base_rate // 1024,
        }
    ).round(3)


def limit_steps_frame(state: DirtyState, page_bytes: int, zero_ns: int) -> pd.DataFrame:
    """Return every change of the dirty limit next to the result of the kernel's update_dirty_limit() for that state.

    In pages. A change shows in the first event after it; the state that led to it is that of the event before.
    """
    limit, threshold = state.limit // page_bytes, state.threshold // page_bytes
    dirty = (state.dirty + state.writeback) // page_bytes
    at = np.flatnonzero(np.diff(limit))
    computed = [int(dirty_limit(threshold[i], dirty[i], int(limit[i]))[0]) for i in at.tolist()]
    return pd.DataFrame(
        {
            "at (s)": (state.ts_ns[at + 1] - zero_ns) / NS_PER_S,
            "threshold": threshold[at],
            "dirty": dirty[at],
            "limit before": limit[at],
            "limit after": limit[at + 1],
            "computed": computed,
        }
    )


def _rows(
    events: tracecmd.Events, name: str, span: range, hidden: Collection[str]
) -> list[tuple[int, int, str, str, str]]:
    if not span:
        return []
    part = slice(span.start, span.stop)
    fields = [key for key in events.columns[_TASK_COLUMNS:] if key not in hidden]
    columns = [events[key][part].tolist() for key in fields]
    texts = [
        " ".join(f"{key}={value}" for key, value in zip(fields, row, strict=True)) for row in zip(*columns, strict=True)
    ]
    times, places, tasks = events.ts_ns[part].tolist(), events.places[part].tolist(), events.comm[part].tolist()
    return [
        (time, place, task, name, text)
        for time, place, task, text in zip(times, places, tasks, texts or [""] * len(times), strict=True)
    ]


def _count(cache: PageCache, window: Window) -> int:
    times = [cache.times_ns(name) for name in cache.counts]
    return sum(int(((ts >= window.start_ns) & (ts <= window.end_ns)).sum()) for ts in times)
