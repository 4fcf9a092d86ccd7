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
_HEADROOM = 1.35  # above the longest cycle, for its label
_WORDS = 80  # letters above a pane
_ERROR_LETTERS = 50  # in a pane
_LEAST_TOP_S = 0.5  # so that a run without pauses does not look like one with pauses


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
    """Return a pane for each load that writes, all on one scale, so that heights can be compared.

    In a close-up, a load without a cycle in the window has no pane.
    """
    colours = load_colours({item.name: item.load for item in loads})
    writing = [
        (item, causes.of(cycles(item, colours, bound_ns, window))) for item in loads if item.load.role != "control"
    ]
    middle_ns = (window.start_ns + window.end_ns) // 2
    heights_s = (blocks.heights_s.max(initial=0) for item, blocks in writing if item.load.has_pauses)
    top_s = max(_LEAST_TOP_S, _HEADROOM * float(max(heights_s, default=0)))
    shown = [(item, blocks) for item, blocks in writing if not is_close or len(blocks.heights_s)]
    return [with_error(load_pane(item, blocks, top_s), item, middle_ns) for item, blocks in shown]


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
    return Pane(item.name, describe(item), Axis("cycle (ms)", low, high, count=3), tuple(marks), 0.6)


def load_pane(item: LoadCycles, blocks: Blocks, top_s: float) -> Pane:
    """Return a load's cycles as blocks as high as their duration, up to `top_s`; the longest pause has a label.

    For a command, only the horizontal extent of a block has a meaning: when it ran.
    """
    if not item.load.has_pauses:
        axis = Axis("", 0, float(blocks.heights_s.max(initial=0)) or 1.0, ticks={})
        return Pane(item.name, describe(item), axis, (blocks,), 0.25)
    marks: list[Mark] = [blocks]
    if blocks.paused.any():
        longest = int(blocks.pauses_s.argmax())
        middle_ns = (int(blocks.edges_ns[longest]) + int(blocks.edges_ns[longest + 1])) // 2
        text = quantity(blocks.pauses_s[longest], "s")
        colour = MARK if blocks.explained[longest] else PAUSE  # PAUSE is also the colour of a cause
        marks.append(Label(middle_ns, float(blocks.heights_s[longest]), text, colour))
    return Pane(item.name, describe(item), Axis("cycle (s)", 0, top_s, count=4), tuple(marks), 0.85)


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
        colours[item.name],
        INNOCENT if item.load.role == "innocent" else OFFENDING,
    )
