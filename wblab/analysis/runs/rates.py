"""Rates: events and bytes per second."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wblab.analysis.runs.pagecache import PageCache
from wblab.analysis.runs.pauses import Window
from wblab.analysis.runs.run import Run
from wblab.analysis.runs.writers import common_name, label
from wblab.core.units import NS_PER_MS, NS_PER_S

_BINS = 120  # approximate number in the whole span
_LEAST_BIN_NS = NS_PER_MS
_COARSER = 4  # spans of loads are longer than those of events by this factor, because some loads write once a second
_SHOWN = 7
OTHERS = "others"


@dataclass(frozen=True)
class Rates:
    """Rates in n spans of equal length: `edges_ns` has n + 1 items, `per_s` has n items for each name."""

    edges_ns: NDArray[np.int64]
    per_s: dict[str, NDArray[np.float64]]

    @property
    def bin_ns(self) -> int:
        """The length of a span in ns."""
        return int(self.edges_ns[1] - self.edges_ns[0])


def event_rates(cache: PageCache, window: Window, shown: int = _SHOWN) -> Rates:
    """Return events per second, for each of the most frequent types and for all others together.

    Types that do not occur in the window are left out.
    """
    edges_ns = _edges_ns(window)
    names = list(cache.counts)
    own, rest = (names, []) if len(names) <= shown + 1 else (names[:shown], names[shown:])
    per_s = {name: _per_s(cache, [name], edges_ns) for name in own}
    if rest:
        per_s[f"{len(rest)} {OTHERS}"] = _per_s(cache, rest, edges_ns)
    return Rates(edges_ns, {name: values for name, values in per_s.items() if values.any()})


def written_rates(cache: PageCache, window: Window) -> Rates:
    """Return the bytes per second written by each disk, by name; for runs with several disks."""
    edges_ns, written = _edges_ns(window), cache.written
    per_s = {}
    for disk in cache.disks.values():
        rows = written.where(written.disk == disk)
        sizes, _ = np.histogram(rows.ts_ns, edges_ns, weights=rows.size)
        per_s[disk] = sizes * (NS_PER_S / int(edges_ns[1] - edges_ns[0]))
    return Rates(edges_ns, {name: values for name, values in per_s.items() if values.any()})


def load_rates(run: Run, window: Window) -> Rates:
    """Return the bytes per second written by each load, by name, as far as known from its cycles.

    A cycle counts at its end. A load that dropped work is left out, because the cycles that dropped it are not
    recorded.
    """
    edges_ns = _edges_ns(window, _COARSER)
    per_s = {
        item.name: _scaled(item.boundaries_ns[1:], edges_ns, item.load.cycle_bytes)
        for item in run.loads
        if not item.dropped
    }
    return Rates(edges_ns, {name: values for name, values in per_s.items() if values.any()})


def dirtied_rates(cache: PageCache, window: Window) -> Rates:
    """Return the bytes per second that tasks dirtied, by label, the largest first; folios, if sizes are not known."""
    edges_ns, rows = _edges_ns(window), cache.dirtied
    names = np.array([label(common_name(task), disk) for task, disk in zip(rows.task, rows.disk, strict=True)], object)
    each = rows.size if rows.has_sizes else np.ones(len(rows), np.int64)
    per_s = {
        name: _scaled(rows.ts_ns[names == name], edges_ns, each[names == name])
        for name in dict.fromkeys(names.tolist())
    }
    ordered = sorted(per_s.items(), key=lambda item: (-float(item[1].sum()), item[0]))
    return Rates(edges_ns, {name: values for name, values in ordered if values.any()})


def _scaled(
    times_ns: NDArray[np.int64], edges_ns: NDArray[np.int64], each: int | NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the sums of `each` in the spans of the times, per second."""
    sums = np.histogram(times_ns, edges_ns, weights=np.broadcast_to(each, times_ns.shape))[0]
    return sums * (NS_PER_S / int(edges_ns[1] - edges_ns[0]))


def _edges_ns(window: Window, coarser: int = 1) -> NDArray[np.int64]:
    bin_ns = round_bin_ns(coarser * window.duration_ns)
    return np.arange(window.start_ns // bin_ns * bin_ns, window.end_ns + bin_ns, bin_ns, dtype=np.int64)


def round_bin_ns(duration_ns: int) -> int:
    """Return 1, 2 or 5 times a power of ten, in ns, so that about 120 such spans make up `duration_ns`."""
    target = max(_LEAST_BIN_NS, duration_ns / _BINS)
    power = 10 ** math.floor(math.log10(target))
    return int(next(power * step for step in (1, 2, 5, 10) if power * step >= target))


def _per_s(cache: PageCache, names: list[str], edges_ns: NDArray[np.int64]) -> NDArray[np.float64]:
    bin_ns = int(edges_ns[1] - edges_ns[0])
    counts = np.zeros(len(edges_ns) - 1, np.int64)
    for name in names:
        index = (cache.times_ns(name) - edges_ns[0]) // bin_ns
        counts += np.bincount(index[(index >= 0) & (index < len(counts))], minlength=len(counts))
    return counts.astype(np.float64) * (NS_PER_S / bin_ns)
