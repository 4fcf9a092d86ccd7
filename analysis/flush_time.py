"""The tables and figures of flush-time.ipynb: is the longest pause bounded by background threshold / throughput?

The fit is of logarithms, pause = slope × background^a × throughput^b, because relative errors are similar from half a
second to half a minute. The law says a = 1, b = -1, slope at most 1.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from wblab import InputError, Run
from wblab.analysis.runs.run import guest_spec
from wblab.analysis.runs.throttling import flush_time_s
from wblab.analysis.statistics.intervals import Interval, interval
from wblab.core.stacks import write_bps
from wblab.core.units import NS_PER_S
from wblab.plot.artists import PictureFigure, new_axes, new_figure
from wblab.plot.style import GRID, INNOCENT, LIMIT, MARK, NEUTRAL, PAUSE, SERIES, literal
from wblab.report import quantities
from wblab.report.quantities import quantity

Axes = Any  # matplotlib.axes.Axes
BACKGROUND, LIMIT_BYTES = "vm.dirty_background_bytes", "vm.dirty_bytes"
# The most that writeback takes from one file at a time, with a dirty limit below 32 MiB: writeback_chunk_size() in
# fs/fs-writeback.c. A full queue: 128 requests, the default with a scheduler, of 255 sectors each, ubd's most.
CHUNK_BYTES, QUEUE_BYTES = 4 << 20, 128 * 255 * 512
CELL = ["disk", "write_bps", "background_bytes"]
_LEAST_S = 1 / NS_PER_S  # a pause of 0 has no logarithm
_MIB = 1 << 20
_PANES = 3.6  # height, in panes of the timeline
_MARKERS = "os^Dv"  # one for each throughput
_ASIDE = 1.07  # horizontal shift of points that would overlap


@dataclass(frozen=True)
class Fit:
    """The longest pause of any innocent load as a function of the flush time, on one disk.

    slope: of pause = slope × flush time. background, throughput: the exponents if both are fitted, 1 and -1 by the law;
    None if one of the two does not vary.
    """

    disk: str
    slope: Interval
    background: Interval | None
    throughput: Interval | None

    @property
    def is_linear(self) -> bool | None:
        """Whether both exponents' intervals include the law's values; None if they are unknown."""
        sides = [_holds(self.background, 1.0), _holds(self.throughput, -1.0)]
        return None if None in sides else all(sides)


def flush_table(runs: Iterable[Run]) -> pd.DataFrame:
    """Return a row for each run and innocent load: disk, write_bps, both thresholds in bytes, flush_s, pause_s.

    pause_s is the longest. A disk is named by model and filesystem. Raises InputError for a run whose thresholds are
    ratios, because its spec does not determine their bytes.
    """
    rows = []
    for run in runs:
        spec = guest_spec(run)
        background, limit = (int(spec.sysctl.get(key, 0)) for key in (BACKGROUND, LIMIT_BYTES))
        if not background:
            raise InputError(f"{run.name} has no sysctl.{BACKGROUND}, so its flush time is unknown: set it in bytes")
        for item in run.loads:
            if item.load.role == "innocent":
                name = spec.disk_of(item.name)
                disk, rate_bps = spec.disk[name], write_bps(spec, name)
                flush_s = float(flush_time_s(background, rate_bps))
                cell = (f"{disk.model} {disk.filesystem}", rate_bps, background, limit, flush_s, spec.seed)
                rows.append((*cell, item.name, int(item.pauses_ns.max()) / NS_PER_S))
    return pd.DataFrame(rows, columns=[*CELL, "limit_bytes", "flush_s", "seed", "load", "pause_s"])


def longest_of_any(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each run: the longest pause of any load, and the I/O that was ahead of it.

    ahead_bytes: how much the disk writes during that pause.
    """
    longest = table.loc[table.groupby([*CELL, "seed"], sort=False)["pause_s"].idxmax()].reset_index(drop=True)
    return longest.assign(ahead_bytes=longest["pause_s"] * longest["write_bps"])


def cells_frame(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each cell and load: its runs' pauses (s), the number over the bound, and the worst ratio."""
    groups = table.assign(over=table["pause_s"] > table["flush_s"]).groupby([*CELL, "flush_s", "load"], sort=False)
    of = {"runs": "size", "least_s": "min", "mean_s": "mean", "longest_s": "max"}
    frame = groups.agg(**{name: ("pause_s", how) for name, how in of.items()}, over=("over", "sum")).reset_index()
    return frame.assign(ratio=frame["longest_s"] / frame["flush_s"])


def fit_flush(table: pd.DataFrame) -> list[Fit]:
    """Return the fit of each disk, with intervals from resampling the seeds of each cell."""
    return [_fit(str(disk), part) for disk, part in longest_of_any(table).groupby("disk", sort=False)]


def _fit(disk: str, part: pd.DataFrame) -> Fit:
    cells = list(part.groupby(CELL[1:], sort=False))
    logs = [np.log(np.maximum(runs["pause_s"].to_numpy(np.float64), _LEAST_S)) for _, runs in cells]
    keys = np.log(np.array([key for key, _ in cells], np.float64))  # throughput, background
    ratios = [log - (key[1] - key[0]) for log, key in zip(logs, keys, strict=True)]
    # A least-squares coefficient is a weighted sum of the cells' means, for which there are intervals.
    slope = interval(ratios, np.full(len(cells), 1 / len(cells)).tolist())
    low, high = (None if end is None else float(np.exp(end)) for end in (slope.low, slope.high))
    weights = np.linalg.pinv(np.column_stack([np.ones(len(cells)), keys]))
    varies = all(len(set(column)) > 1 for column in keys.T.tolist())
    throughput, background = (interval(logs, weights[at + 1].tolist()) if varies else None for at in (0, 1))
    return Fit(disk, Interval(float(np.exp(slope.estimate)), low, high, slope.runs), background, throughput)


def _holds(found: Interval | None, value: float) -> bool | None:
    if found is None or found.low is None or found.high is None:
        return None
    return found.low <= value <= found.high


def fits_frame(fits: Iterable[Fit]) -> pd.DataFrame:
    """Return fits in words, a row for each disk."""

    def text(found: Interval | None) -> str:
        return quantities.interval(found.estimate, found.low, found.high, "") if found else "-"

    agrees = {None: "-", True: "yes", False: "no"}
    rows = [(it.disk, text(it.slope), text(it.background), text(it.throughput), agrees[it.is_linear]) for it in fits]
    columns = ["disk", "slope", "exponent of background", "exponent of throughput", "agrees with the law"]
    return pd.DataFrame(rows, columns=columns).set_index("disk")


def plot_flush(table: pd.DataFrame, fit: Fit, *, ax: Axes = None) -> Axes:
    """Plot the longest pauses on one disk against the flush time: mean and range of each cell, the bound, and the fit.

    A ring marks a cell with a run above the bound. The band is the interval of the fit's slope, if it has one.
    """
    ax = new_axes(_PANES) if ax is None else ax
    table, slope = table[table["disk"] == fit.disk], fit.slope
    ends = np.array([table["flush_s"].min() / 1.6, table["flush_s"].max() * 1.6])
    ax.plot(ends, ends, color=LIMIT, linewidth=1.6, label="the bound")
    ax.plot(ends, slope.estimate * ends, color=MARK, linewidth=1.2, linestyle="--", label="fit")
    if slope.low is not None and slope.high is not None:
        ax.fill_between(ends, slope.low * ends, slope.high * ends, color=MARK, alpha=0.18, linewidth=0)
    for place, (load, part) in enumerate(cells_frame(table).groupby("load", sort=False)):
        colour, at, over = INNOCENT[place % len(INNOCENT)], part["flush_s"] * _ASIDE**place, part["over"] > 0
        ax.vlines(at, part["least_s"], part["longest_s"], color=colour, linewidth=1.4, zorder=3)
        ax.plot(at, part["mean_s"], "o", color=colour, markersize=4.5, label=literal(str(load)), zorder=4)
        ax.plot(at[over], part["longest_s"][over], "o", markersize=11, markerfacecolor="none", color=PAUSE, zorder=5)
    _logarithmic(ax, sorted(set(table["flush_s"])))
    title = f"{literal(fit.disk)}: slope {quantity(slope.estimate, '')}"
    ax.set_title(title, loc="left", fontsize=10, fontweight="bold")
    ax.set(xlabel="flush time (s)", ylabel="longest pause (s)")
    return ax


def flush_figure(table: pd.DataFrame, fits: Sequence[Fit]) -> PictureFigure:
    """Return a figure with a pane for each disk, on the same axes."""
    rows = -(-len(fits) // 2)
    figure = new_figure(3.9 * rows, layout="constrained")
    panes = list(figure.subplots(rows, 2, sharex=True, sharey=True, squeeze=False).flat)
    for ax, fit in zip(panes, fits, strict=False):
        plot_flush(table, fit, ax=ax).tick_params(labelbottom=True, labelleft=True)
    for ax in panes[len(fits) :]:
        ax.remove()
    return figure


def plot_ahead(table: pd.DataFrame, *, ax: Axes = None) -> Axes:
    """Plot the data written during each run's longest pause against the background threshold, both in MiB.

    If a pause is a wait for a queue, runs with all throughputs coincide. Lines show the I/O that may be ahead in it:
    the background threshold, the dirty limit, one chunk of writeback, a full queue of requests.
    """
    ax, longest = new_axes(_PANES) if ax is None else ax, longest_of_any(table)
    background, rates = longest["background_bytes"] / _MIB, sorted(set(longest["write_bps"]))
    for place, (disk, part) in enumerate(longest.groupby("disk", sort=False)):
        colour = SERIES[place % len(SERIES)]
        ax.plot([], [], "s", color=colour, label=literal(str(disk)))
        for rate, runs in part.groupby("write_bps"):
            at, marker = background[runs.index] * _ASIDE ** (place - 1.5), _MARKERS[rates.index(rate) % len(_MARKERS)]
            ax.plot(at, runs["ahead_bytes"] / _MIB, marker, color=colour, markersize=4.5, alpha=0.75, linewidth=0)
    for rate, marker in zip(rates, _MARKERS, strict=False):
        ax.plot([], [], marker, color=NEUTRAL, label=f"{rate / _MIB:g} MiB/s")
    x = np.array([background.min() / 1.4, background.max() * 1.4])
    lines = {"background threshold": (x, LIMIT, "-"), "dirty limit": (2 * x, MARK, "--")}
    lines |= {
        "one chunk": (0 * x + CHUNK_BYTES / _MIB, MARK, ":"),
        "128 requests": (0 * x + QUEUE_BYTES / _MIB, MARK, "-."),
    }
    for name, (y, colour, style) in lines.items():
        ax.plot(x, y, style, color=colour, linewidth=1.3, label=name, zorder=1)
    _logarithmic(ax, sorted(set(background)))
    ax.set(xlim=x, xlabel="background threshold (MiB)", ylabel="written during the longest pause (MiB)")
    return ax


def _logarithmic(ax: Axes, ticks: Sequence[float]) -> None:
    ax.set(xscale="log", yscale="log")
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_minor_locator(NullLocator())
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    ax.grid(color=GRID, linewidth=0.5)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    look = {"frameon": False, "fontsize": 8.5, "handlelength": 1.6, "borderaxespad": 0}
    ax.legend(loc="lower right", bbox_to_anchor=(1, 0.99), ncols=6, **look)
