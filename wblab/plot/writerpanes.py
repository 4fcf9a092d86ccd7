"""Panes of writers: each load's write rate and disk and, where traced, which task dirties folios."""

from collections.abc import Iterator, Mapping

from wblab.analysis.runs.pagecache import PageCache
from wblab.analysis.runs.rates import Rates, dirtied_rates, load_rates
from wblab.analysis.runs.run import Run
from wblab.analysis.runs.window import Window
from wblab.analysis.runs.writers import label
from wblab.core.units import format_time
from wblab.plot.colours import OTHERS, unused
from wblab.plot.marks import Levels
from wblab.plot.pane import Pane
from wblab.plot.rateaxes import count_axis, rate_axis, shown, width_of

_MOST = 7  # writers; more lines cannot be distinguished


def writer_panes(run: Run, cache: PageCache | None, window: Window, loads: Mapping[str, str]) -> Iterator[Pane]:
    """Yield the panes of writers; loads' write rates only for runs with several disks. loads: their colours."""
    disks = {item.name: item.load.disk for item in run.loads}
    if any(disks.values()) and (rates := load_rates(run, window)).per_s:
        yield load_rates_pane(_largest(rates), loads, disks)
    if cache and (dirtied := dirtied_rates(cache, window)).per_s:
        yield dirtied_pane(_largest(dirtied), {label(name, disks[name]): colour for name, colour in loads.items()})


def load_rates_pane(rates: Rates, loads: Mapping[str, str], disks: Mapping[str, str]) -> Pane:
    """Return each load's write rate, in bytes/s on a logarithmic scale; no line while it completes no cycle.

    disks: the disk of each load; if all have the same, the pane names it once.
    """
    first, *others = dict.fromkeys(disks[name] for name in rates.per_s)
    words = "{name}: writes {value:.3~s}B/s, from {time:.3f} s"
    lines = tuple(
        Levels(
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


def dirtied_pane(rates: Rates, loads: Mapping[str, str]) -> Pane:
    """Return the folios per second that each task dirties, whichever task writes them. loads: colours by label."""
    free = iter(unused(loads.values()))
    words = "{name}: dirties {value:,.0f} folios per second, from {time:.3f} s"
    lines = tuple(
        Levels(name, rates.edges_ns, shown(per_s), loads.get(name) or next(free, OTHERS), words, width_of(rank))
        for rank, (name, per_s) in enumerate(rates.per_s.items())
    )
    what = f"folios dirtied per second, by task, in spans of {format_time(rates.bin_ns)}"
    return Pane("dirtied", what, count_axis("folios/s", lines), lines, 0.9)


def _largest(rates: Rates) -> Rates:
    """Return the largest rates, in their old order."""
    totals = sorted(rates.per_s, key=lambda name: -float(rates.per_s[name].sum()))[:_MOST]
    return Rates(rates.edges_ns, {name: per_s for name, per_s in rates.per_s.items() if name in totals})
