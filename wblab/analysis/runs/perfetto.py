"""A run in the native format of Perfetto's viewer: a tree of tracks with slices, instants and counters.

Format: https://perfetto.dev/docs/reference/synthetic-track-event. Times are ns of the guest's CLOCK_MONOTONIC. Equal
runs give equal bytes.
"""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import tracecmd
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import CounterDescriptor, ProcessDescriptor, ThreadDescriptor
from tracecmd import TraceError

from wblab.analysis.runs.names import unplug_s
from wblab.analysis.runs.packets import PacketLabel, Packets
from wblab.analysis.runs.pagecache import DIRTY_STATE, THROTTLING, Bytes, DirtyState, PageCache, Throttling
from wblab.analysis.runs.run import LoadCycles, Run
from wblab.core.errors import InputError
from wblab.core.units import NS_PER_MS, NS_PER_S

MOST_EVENTS = 200_000
CYCLE, PAUSE, OFFENDER, THROTTLED, LOST = "cycle", "pause", "offender", "throttling", "lost events"  # categories
_TASK_COLUMNS = ("ts_ns", "pid", "comm")
_DIRTY_COUNTERS: dict[str, Callable[[DirtyState], Bytes]] = {
    "dirty": lambda state: state.dirty,
    "writeback": lambda state: state.writeback,
    "dirty + writeback": lambda state: state.dirty + state.writeback,
    "background threshold": lambda state: state.background,
    "dirty threshold": lambda state: state.threshold,
    "dirty limit": lambda state: state.limit,
}


def export(run: Run, cache: PageCache | None, bound_ns: int, most_events: int = MOST_EVENTS) -> bytes:
    """Return a run as a Perfetto trace; without its page cache, only the loads. Pauses over `bound_ns` are named.

    Events that are not slices or counters become instants, up to a limit; see `chosen_events`. Raises InputError for a
    damaged trace.
    """
    out = Packets(_facts(run, bound_ns))
    root = out.track(_title(run))
    starts_ns = sorted(run.offender_starts_ns().items(), key=lambda start: start[1])
    if starts_ns:
        track = out.track("offenders", root)
        for name, start_ns in starts_ns:
            out.instant(track, start_ns, PacketLabel(f"{name} starts to write", OFFENDER))
        for name, after_s in unplug_s(run).items():
            time_ns = int(run.load(name).boundaries_ns[-1]) + round(after_s * NS_PER_S)
            out.instant(track, time_ns, PacketLabel(f"writeback of {name}'s data finished", OFFENDER))
    loads = out.track("loads", root)
    for item in run.loads:
        _load(out, loads, item, bound_ns)
    if cache is not None:
        try:
            _dirty_state(out, root, cache.dirty_state)
            _throttling(out, root, cache.throttling)
            _lost(out, root, [item for item in cache.trace.lost if not item.buffer])
            _events(out, root, cache, chosen_events(cache, most_events)[0])
        except TraceError as error:
            raise InputError(str(error)) from None
    return out.data()


def chosen_events(cache: PageCache, most: int = MOST_EVENTS) -> tuple[tuple[str, ...], dict[str, int]]:
    """Return the event types that become instants, and the counts of the types that are left out.

    Whole types are taken, the rarest first; types that slices and counters show are not considered.
    """
    counts = {name: count for name, count in cache.counts.items() if name not in (DIRTY_STATE, THROTTLING)}
    names = sorted(counts, key=lambda name: (counts[name], name))
    room = sum(total <= most for total in itertools.accumulate(counts[name] for name in names))
    return tuple(names[:room]), {name: counts[name] for name in names[room:]}


def _title(run: Run) -> str:
    return f"{run.name.lstrip('_')}: Linux {_release(run)}, {run.spec.clock.mode} clock, seed {run.spec.seed}"


def _facts(run: Run, bound_ns: int) -> dict[str, str | int]:
    return {
        "run": run.name,
        "experiment": run.spec.name,
        "kernel": _release(run),
        "seed": run.spec.seed,
        "clock": run.spec.clock.mode,
        "times": "ns of the guest's CLOCK_MONOTONIC",
        "loads_started_ns": run.zero_ns,
        "pauses_over_ns": bound_ns,
        "outcome": run.failure or "succeeded",
    }


def _release(run: Run) -> str:
    kernel = run.record.get("kernel")
    return str(kernel.get("release", "unknown")) if isinstance(kernel, dict) else "unknown"


def _load(out: Packets, parent: int, item: LoadCycles, bound_ns: int) -> None:
    """Write a load's cycles. An offender's cycles up to its next pause become one slice, "writing".

    A pause is a slice within its cycle, at the time of the load's writes; an innocent load writes before it sleeps.
    """
    track = out.track(f"{item.name} ({item.load.kind})", parent)
    pauses_ns, idle_ns, bounds_ns = item.pauses_ns, item.idle_ns, item.boundaries_ns
    is_over = pauses_ns > bound_ns
    is_joined = ~is_over & (idle_ns == 0) & (item.load.role == "offender")
    firsts = np.flatnonzero(np.append(True, ~(is_joined[1:] & is_joined[:-1])))
    ends = np.append(firsts[1:], len(pauses_ns))
    longest_ns = np.maximum.reduceat(pauses_ns, firsts)
    for first, end, pause_ns in zip(firsts.tolist(), ends.tolist(), longest_ns.tolist(), strict=True):
        start_ns, end_ns, idle = int(bounds_ns[first]), int(bounds_ns[end]), int(idle_ns[first])
        duration_ms = (end_ns - start_ns) / NS_PER_MS
        if is_joined[first]:
            facts = {"cycles": end - first, "duration_ms": duration_ms, "longest_pause_ms": pause_ns / NS_PER_MS}
            out.slice(track, start_ns, end_ns, PacketLabel("writing", CYCLE, facts))
            continue
        facts = {"duration_ms": duration_ms, "idle_ms": idle / NS_PER_MS, "pause_ms": pause_ns / NS_PER_MS}
        out.begin(track, start_ns, PacketLabel("cycle", CYCLE, facts | {"number": first}))
        if is_over[first]:
            from_ns = end_ns - pause_ns if item.load.sleeps_first else start_ns
            out.slice(
                track, from_ns, from_ns + pause_ns, PacketLabel(f"paused {pause_ns / NS_PER_S:.2f} s", PAUSE, facts)
            )
        out.end(track, end_ns)


def _dirty_state(out: Packets, root: int, state: DirtyState) -> None:
    if not len(state):
        return
    group = out.track("page cache", root)
    for name, values in _DIRTY_COUNTERS.items():
        counter = CounterDescriptor(unit=CounterDescriptor.UNIT_SIZE_BYTES, y_axis_share_key="page cache")
        out.counter(out.track(name, group, counter=counter), state.ts_ns, values(state))


def _throttling(out: Packets, root: int, decisions: Throttling) -> None:
    if not len(decisions):
        return
    group = out.track("throttling", root)
    rate = CounterDescriptor(unit_name="bytes/s", y_axis_share_key="rates")
    for disk in dict.fromkeys(decisions.disk.tolist()):
        of_disk = decisions.where(decisions.disk == disk)
        name = f"base rate of {disk}" if disk else "base rate"
        out.counter(out.track(name, group, counter=rate), of_disk.ts_ns, of_disk.base_rate)
    for pid in np.unique(decisions.pid).tolist():
        rows = decisions.where(decisions.pid == pid)
        task = f"{rows.task[0]} ({pid})"
        out.counter(out.track(f"{task} rate limit", group, counter=rate), rows.ts_ns, rows.task_rate)
        # The kernel sleeps in whole jiffies: a task may return a little earlier than requested.
        back_ns = np.append(rows.ts_ns[1:], np.iinfo(np.int64).max)
        ends_ns = np.minimum(rows.ts_ns + rows.pause_ns, back_ns)
        stopped = np.flatnonzero(rows.pause_ns > 0).tolist()
        track = out.track(f"{task} throttled", group) if stopped else 0
        for row in stopped:
            facts = {
                "pause_ms": int(rows.pause_ns[row]) / NS_PER_MS,
                "paused_before_ms": int(rows.paused_ns[row]) / NS_PER_MS,
                "limit_bytes": int(rows.limit[row]),
                "setpoint_bytes": int(rows.setpoint[row]),
                "dirty_bytes": int(rows.dirty[row]),
                "task_rate_bytes_per_s": int(rows.task_rate[row]),
                "base_rate_bytes_per_s": int(rows.base_rate[row]),
            }
            if rows.disk[row]:
                facts["disk"] = rows.disk[row]
            out.slice(track, int(rows.ts_ns[row]), int(ends_ns[row]), PacketLabel("throttled", THROTTLED, facts))


def _lost(out: Packets, root: int, lost: Iterable[tracecmd.LostEvents]) -> None:
    """Write the spans with lost events, on one track for each CPU, so that they do not overlap."""
    tracks: dict[int, int] = {}
    ended_ns: dict[int, int] = defaultdict(int)
    for item in sorted(lost, key=lambda item: (item.cpu, item.start_ns)):
        if item.cpu not in tracks:
            tracks[item.cpu] = out.track(f"lost events of CPU {item.cpu}", root)
        start_ns = max(item.start_ns, ended_ns[item.cpu])
        ended_ns[item.cpu] = max(item.end_ns, start_ns)
        name = f"{item.count} lost" if item.count >= 0 else "lost"
        out.slice(tracks[item.cpu], start_ns, ended_ns[item.cpu], PacketLabel(name, LOST, {"count": item.count}))


def _events(out: Packets, root: int, cache: PageCache, names: Iterable[str]) -> None:
    """Write events as instants on a track for each task, in the order of their times."""
    types = [cache.trace.events(name) for name in names]
    if not types:
        return
    facts = [{name: _values(events, name) for name in events if name not in _TASK_COLUMNS} for events in types]
    rows = [(pid, comm) for events in types for pid, comm in zip(events.pid.tolist(), events.comm, strict=True)]
    places = [(number, row) for number, events in enumerate(types) for row in range(len(events))]
    times_ns = np.concatenate([events.ts_ns for events in types])
    tracks: dict[int, int] = {}
    for place in np.argsort(times_ns, kind="stable").tolist():
        (pid, comm), (number, row) = rows[place], places[place]
        if pid not in tracks:
            tracks[pid] = _task(out, root, pid, cache.load_names.get(pid, comm))
        arguments = {name: values[row] for name, values in facts[number].items()}
        event = types[number].format
        out.instant(tracks[pid], int(times_ns[place]), PacketLabel(event.name, event.system, arguments))


def _task(out: Packets, root: int, pid: int, name: str) -> int:
    if pid <= 0:  # the idle tasks, one for each CPU, which share pid 0
        return out.track(f"{name} ({pid})", root)
    process = out.track(name, process=ProcessDescriptor(pid=pid, process_name=name))
    return out.track(name, process, thread=ThreadDescriptor(pid=pid, tid=pid, thread_name=name))


def _values(events: tracecmd.Events, name: str) -> list[Any]:
    """Return a column for the viewer: flags and symbols with their names."""
    values = [item.tolist() if isinstance(item, np.ndarray) else item for item in events[name].tolist()]
    try:
        texts = events.decode(name)
    except (KeyError, TraceError):  # plain numbers, or names that only the kernel can resolve
        return values
    pairs = zip(texts, values, strict=True)
    return [value if text == hex(value) else f"{text} ({value})" for text, value in pairs]
