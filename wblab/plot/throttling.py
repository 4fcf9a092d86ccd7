"""Figures of the kernel's throttling: the position ratio, a run's observed ratios, and the dirty limit over time."""

from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from wblab.analysis.runs.pagecache import DirtyState, Throttling
from wblab.analysis.runs.throttling import (
    Limits,
    dirty_thresholds,
    flush_time_s,
    freerun,
    hard_dirty_limit,
    position_ratio,
    setpoint,
)
from wblab.core.units import NS_PER_S
from wblab.plot.reduction import changes, visible
from wblab.plot.style import BACKGROUND, CURVE, LIMIT, MARK, NEUTRAL, THRESHOLD, legend_above, new_axes
from wblab.report.quantities import quantity

Axes = Any  # matplotlib.axes.Axes
_MIB = 1 << 20
_PANES = 2.8  # height, in panes of the timeline
_POINTS = 4000
_CURVE_POINTS = 400
_TOP_RATIO = 3.0


def plot_control_line(limits: Limits, page_bytes: int = 4096, *, ax: Axes = None) -> Axes:
    """Plot the position ratio against the dirty pages, in MiB: free to write, steered to the setpoint, blocked."""
    ax = new_axes(_PANES) if ax is None else ax
    background, threshold = int(np.asarray(limits.background)), int(np.asarray(limits.threshold))
    limit = int(hard_dirty_limit(threshold, limits.limit))
    free, center = int(freerun(background, threshold)), int(setpoint(background, threshold, limit))
    mib = page_bytes / _MIB
    dirty = np.unique(np.linspace(free, 1.05 * limit, _CURVE_POINTS).astype(np.int64))
    ax.axvspan(0, free * mib, color=BACKGROUND, alpha=0.12, linewidth=0)
    ax.axvspan(limit * mib, 1.15 * limit * mib, color=LIMIT, alpha=0.15, linewidth=0)
    ax.plot(dirty * mib, position_ratio(dirty, center, limit), color=CURVE, linewidth=2)
    marks = {
        "background threshold": (background, BACKGROUND),
        "freerun": (free, MARK),
        "setpoint": (center, MARK),
        "dirty threshold": (threshold, THRESHOLD),
        "limit": (limit, LIMIT),
    }
    for rank, (name, (pages, colour)) in enumerate(marks.items()):
        ax.axvline(pages * mib, color=colour, linewidth=1, linestyle="--")
        ax.annotate(
            f"{name} {pages * mib:.1f}",
            (pages * mib, 2.55 - 0.16 * (rank % 3)),
            (3, 0),
            textcoords="offset points",
            fontsize=8.5,
            color=colour,
        )
    ax.plot([center * mib], [1], "o", color=CURVE)
    ax.text(free * mib / 2, 0.12, "free to write", ha="center", fontsize=9, color=BACKGROUND)
    ax.text(1.07 * limit * mib, 0.12, "blocked", ha="center", fontsize=9, color=LIMIT)
    ax.set_xlim(0, 1.15 * limit * mib)
    ax.set_ylim(0, 2.75)
    ax.set_xlabel("dirty pages, with those under writeback (MiB)")
    ax.set_ylabel("position ratio")
    return ax


def plot_observed_ratios(throttling: Throttling, zero_ns: int = 0, *, ax: Axes = None) -> Axes:
    """Plot a run's observed ratios, task rate over base rate, with the curve of the whole system.

    Limits move during a run; therefore the axis runs from the setpoint (0) to the limit (1). Points off the curve are
    due to the device's own control line. Colours are times.
    """
    ax = new_axes(_PANES) if ax is None else ax
    usable = throttling.where((throttling.base_rate > 0) & (throttling.limit > throttling.setpoint))
    usable = usable.where(np.linspace(0, len(usable) - 1, min(len(usable), _POINTS)).astype(np.int64))
    place = (usable.dirty - usable.setpoint) / (usable.limit - usable.setpoint)
    ratio = usable.task_rate / usable.base_rate
    x = np.linspace(-1.5, 1, _CURVE_POINTS)
    times_s = (usable.ts_ns - zero_ns) / NS_PER_S
    points = ax.scatter(place, np.minimum(ratio, _TOP_RATIO), c=times_s, s=6, cmap="viridis", linewidths=0, zorder=3)
    ax.plot(x, np.clip(1 - x**3, 0, 2), color=MARK, linewidth=1.4, label="1 − x³: position ratio of the whole system")
    ax.plot([1, 1.1], [0, 0], color=MARK, linewidth=1.4)
    ax.set_xlim(min(-1.1, float(place.min(initial=0)) - 0.05), 1.1)
    ax.set_ylim(-0.05, _TOP_RATIO + 0.05)
    ax.set_xlabel("dirty pages, relative: 0 at the setpoint, 1 at the limit")
    ax.set_ylabel("task rate ⁄ base rate")
    ax.figure.colorbar(points, ax=ax, label="time since the loads started (s)", pad=0.01)
    legend_above(ax)
    return ax


def plot_limit_over_threshold(state: DirtyState, zero_ns: int = 0, *, ax: Axes = None) -> Axes:
    """Plot dirty limit and dirty pages over time as multiples of the dirty threshold."""
    ax = new_axes(_PANES) if ax is None else ax
    total = (state.dirty + state.writeback) / state.threshold
    at = visible(state.ts_ns, total)
    ax.plot((state.ts_ns[at] - zero_ns) / NS_PER_S, total[at], color=NEUTRAL, linewidth=0.7, label="dirty + writeback")
    ratio = state.limit / state.threshold
    at = changes(ratio)
    ax.plot(
        (state.ts_ns[at] - zero_ns) / NS_PER_S,
        ratio[at],
        drawstyle="steps-post",
        color=LIMIT,
        linewidth=1.8,
        label="dirty limit",
    )
    ax.axhline(1, color=THRESHOLD, linewidth=1.4, label="dirty threshold")
    ax.set_ylim(0, 1.1 * float(max(ratio.max(), total.max())))
    ax.yaxis.set_major_locator(MaxNLocator(6))
    ax.set_xlabel("time since the loads started (s)")
    ax.set_ylabel("multiple of the dirty threshold")
    legend_above(ax)
    return ax


def plot_settings(
    dirtyable_mib: int, dirty_ratio: int, background_ratio: int, write_mib_per_s: float, *, ax: Axes = None
) -> Axes:
    """Plot the thresholds that result from memory and settings; the title has the times to flush them to a device.

    dirtyable_mib: free and file pages. The ratios are vm.dirty_ratio and vm.dirty_background_ratio, in per cent.
    """
    ax = new_axes(_PANES) if ax is None else ax
    background, threshold = dirty_thresholds(dirtyable_mib * _MIB // 4096, dirty_ratio, background_ratio)
    plot_control_line(Limits(background, threshold, threshold), ax=ax)
    flush_s, all_s = flush_time_s(np.array([int(background), int(threshold)]) * 4096, write_mib_per_s * _MIB).tolist()
    ax.set_title(
        f"at {write_mib_per_s:g} MiB/s, writing the background threshold takes {quantity(flush_s, 's')}, "
        f"the dirty threshold {quantity(all_s, 's')}",
        loc="left",
        fontsize=10,
    )
    return ax
