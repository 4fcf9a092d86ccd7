"""Panes of single loads: the duration of each cycle over time."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from textwrap import shorten

import numpy as np

from wblab.analysis.runs.pagecache import PageCache
from wblab.analysis.runs.pauses import DEFAULT_BOUND_NS, Window, cycles_in
from wblab.analysis.runs.rates import Rates, dirtied_rates, load_rates
from wblab.analysis.runs.run import LoadCycles, Run
from wblab.analysis.runs.writers import label
from wblab.core.units import NS_PER_MS, NS_PER_S, format_time
from wblab.lab.callings import called
from wblab.plot.causes import Causes
from wblab.plot.lines import count_axis, rate_axis, shown, width_of
from wblab.plot.marks import Axis, Blocks, Label, LevelMarks, Line, Mark, Pane, Side
from wblab.plot.style import CONTROL, MARK, OTHERS, PAUSE, load_colours, unused
from wblab.report.quantities import duration, quantity

# Panes of writers: each load's write rate and disk and, where traced, which task dirties how much.

_MOST = 7  # writers; more lines cannot be distinguished


def writer_panes(run: Run, cache: PageCache | None, window: Window, loads: Mapping[str, str]) -> Iterator[Pane]:
    """Yield the panes of writers; loads' write rates only for runs with several disks. loads: their colours."""
    disks = {item.name: item.load.disk for item in run.loads}
    if any(disks.values()) and (rates := load_rates(run, window)).per_s:
        yield load_rates_pane(_largest(rates), loads, disks)
    if cache and (dirtied := dirtied_rates(cache, window)).per_s:
        colours = {label(name, disks[name]): colour for name, colour in loads.items()}
        yield dirtied_pane(_largest(dirtied), colours, has_sizes=cache.dirtied.has_sizes)


def load_rates_pane(rates: Rates, loads: Mapping[str, str], disks: Mapping[str, str]) -> Pane:
    """Return each load's write rate, in bytes/s on a logarithmic scale; no line while it completes no cycle.

    disks: the disk of each load; if all have the same, the pane names it once.
    """
    first, *others = dict.fromkeys(disks[name] for name in rates.per_s)
    words = "{name}: writes {value:.3~s}B/s, from {time:.3f} s"
    lines = tuple(
        LevelMarks(
            label(name, disks[name] if others else ""),
            rates.edges_ns,
            shown(per_s),
            loads[name],
            words,
            width_of(rank),
        )
        for rank, (name, per_s) in enumerate(rates.per_s.items())
    )
    where = " and its disk" if others else f" to {first}"
    what = f"write rate of each load{where}, in spans of {format_time(rates.bin_ns)}"
    return Pane("writers", what, rate_axis(lines), lines, 0.9)


def dirtied_pane(rates: Rates, loads: Mapping[str, str], *, has_sizes: bool) -> Pane:
    """Return what each task dirties per second, whichever task writes it: bytes or, without their sizes, folios.

    loads: colours by label.
    """
    free = iter(unused(loads.values()))
    amount = "{value:.3~s}B/s" if has_sizes else "{value:,.0f} folios per second"
    words = f"{{name}}: dirties {amount}, from {{time:.3f}} s"
    lines = tuple(
        LevelMarks(name, rates.edges_ns, shown(per_s), loads.get(name) or next(free, OTHERS), words, width_of(rank))
        for rank, (name, per_s) in enumerate(rates.per_s.items())
    )
    what = f"{'data' if has_sizes else 'folios'} dirtied per second, by task, in spans of {format_time(rates.bin_ns)}"
    return Pane("dirtied", what, rate_axis(lines) if has_sizes else count_axis("folios/s", lines), lines, 0.9)


def _largest(rates: Rates) -> Rates:
    """Return the largest rates, in their old order."""
    totals = sorted(rates.per_s, key=lambda name: -float(rates.per_s[name].sum()))[:_MOST]
    return Rates(rates.edges_ns, {name: per_s for name, per_s in rates.per_s.items() if name in totals})


CONTROL_RANGE = (0.95, 1.25)  # of the idle time: the range of a control load's cycles, unless the host stalls
INNOCENT, OFFENDING = "innocent", "offender"  # groups of the legend
_HEADROOM = 1.35  # above a pause, for its length
_LABEL = 0.05  # of the time axis: the width of a length
_WORDS = 80  # letters above a pane
_ERROR_LETTERS = 50  # in a pane


def describe(item: LoadCycles) -> str:
    """Return a short description of a load, with its disk if there are several."""
    disk = f", on {item.load.disk}" if item.load.disk and item.load.role != "control" else ""
    return shorten(item.load.description, _WORDS, placeholder=" …") + disk


def control_panes(loads: Iterable[LoadCycles], window: Window) -> list[Pane]:
    """Return a pane for each control load."""
    return [control_pane(item, window) for item in loads if item.load.role == "control"]


def writing_panes(
    loads: Iterable[LoadCycles], bound_ns: int, window: Window, causes: Causes, *, is_close: bool
) -> list[Pane]:
    """Return a pane for each load that writes.

    In a close-up, a load without a cycle in the window has no pane.
    """
    colours = load_colours({item.name: item.load for item in loads})
    writing = [
        (item, causes.of(cycles(item, colours, bound_ns, window))) for item in loads if item.load.role != "control"
    ]
    middle_ns = (window.start_ns + window.end_ns) // 2
    shown = [(item, blocks) for item, blocks in writing if not is_close or len(blocks.pauses_s)]
    return [with_error(load_pane(item, blocks, window), item, middle_ns) for item, blocks in shown]


def control_pane(item: LoadCycles, window: Window | None = None) -> Pane:
    """Return a line of a control load's cycle times, in ms, around its idle time; a stall beyond that is labelled."""
    idle_ms = item.load.idle_ns(0) / NS_PER_MS
    low, high = (share * idle_ms for share in CONTROL_RANGE)
    first, last = cycles_in(item, window)
    durations_ms = item.durations_ns[first:last] / NS_PER_MS
    words = "{name}: cycle of {value:.2f} ms, from {time:.3f} s"
    marks: list[Mark] = [Line(item.name, item.starts_ns[first:last], durations_ms, CONTROL, words, width=0.8)]
    if durations_ms.max(initial=0) > high:
        longest = first + int(item.pauses_ns[first:last].argmax())
        side: Side = "left" if 2 * longest > len(item.pauses_ns) else "right"  # the side with room
        text = f"stalled for {duration(item.pauses_ns[longest])}"
        marks.append(Label(int(item.starts_ns[longest]), 1.1 * idle_ms, text, PAUSE, side))
    return _pane(item, Axis("cycle (ms)", low, high, count=3), tuple(marks), 0.6)


def load_pane(item: LoadCycles, blocks: Blocks, window: Window) -> Pane:
    """Return a load's cycles as blocks; above each pause that is wide enough, and above the longest, its length.

    For a command, only the horizontal extent of a block has a meaning: when it ran.
    """
    if not item.load.has_pauses:
        axis = Axis("", 0, float(blocks.heights_s.max(initial=0)) or 1.0, ticks={})
        return _pane(item, axis, (blocks,), 0.25)
    labels = [
        Label(middle_ns, blocks.full_s, quantity(blocks.pauses_s[at], "s"), MARK if blocks.explained[at] else PAUSE)
        for at, middle_ns in _labelled(blocks, window)
    ]
    # Pauses are cut off there: their length is above them, and in their width.
    ticks = {0.0: "0", blocks.full_s / 2: f"{blocks.full_s / 2:.3g}", blocks.full_s: f"> {blocks.full_s:.3g}"}
    axis = Axis("cycle (s)", 0, _HEADROOM * blocks.full_s, ticks=ticks)
    return _pane(item, axis, (blocks, *labels), 0.65)


def _pane(item: LoadCycles, axis: Axis, marks: tuple[Mark, ...], height: float) -> Pane:
    return Pane(item.name, describe(item), axis, marks, height, called(item.load.kind, item.name))


def _labelled(blocks: Blocks, window: Window) -> Iterator[tuple[int, int]]:
    """Yield the places of the pauses to label, and where their visible middles are, in ns."""
    longest = int(blocks.pauses_s.argmax()) if blocks.paused.any() else -1
    for at in np.flatnonzero(blocks.paused).tolist():
        start_ns, end_ns = (int(blocks.edges_ns[at + side]) for side in (0, 1))
        start_ns, end_ns = max(start_ns, window.start_ns), min(end_ns, window.end_ns)
        if at == longest or end_ns - start_ns > _LABEL * window.duration_ns:
            yield at, (start_ns + end_ns) // 2


def with_error(pane: Pane, item: LoadCycles, middle_ns: int) -> Pane:
    """Return a load's pane with a label for its error, if it ended with one."""
    if not item.error:
        return pane
    end_ns = int(item.boundaries_ns[-1])
    side: Side = "left" if end_ns > middle_ns else "right"
    text = f"ended: {shorten(item.error, _ERROR_LETTERS, placeholder=' …')}"
    return replace(pane, marks=(*pane.marks, Label(end_ns, pane.axis.high / 2, text, PAUSE, side)))


def cycles(
    item: LoadCycles, colours: Mapping[str, str], bound_ns: int = DEFAULT_BOUND_NS, window: Window | None = None
) -> Blocks:
    """Return the cycles of a load in a window. An offender's first wait is left out, because it is not work."""
    first, last = cycles_in(item, window)
    if item.load.role == "offender":
        first = min(max(first, 1), last)
    return Blocks(
        item.name,
        item.boundaries_ns[first : last + 1],
        item.durations_ns[first:last] / NS_PER_S,
        item.pauses_ns[first:last] / NS_PER_S,
        np.ones(last - first, np.int64),
        bound_ns / NS_PER_S,
        (item.load.idle_ns(1) + bound_ns) / NS_PER_S if item.load.has_pauses else np.inf,
        colours[item.name],
        INNOCENT if item.load.role == "innocent" else OFFENDING,
    )
