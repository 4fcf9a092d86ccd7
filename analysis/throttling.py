"""The figures and tables of throttling.ipynb: the kernel's control line, and what a run's trace shows of it.

The functions that draw take axes, or make new ones, and return them.
"""

from typing import Any

import numpy as np
import pandas as pd

from wblab import Run
from wblab.analysis.runs.run import guest_spec
from wblab.analysis.runs.throttling import (
    DirtyLimits,
    dirty_limit,
    dirty_thresholds,
    flush_time_s,
    freerun,
    hard_dirty_limit,
    position_ratio,
    setpoint,
)
from wblab.core.units import NS_PER_S
from wblab.plot.artists import new_axes
from wblab.plot.lines import changes, visible
from wblab.plot.style import BACKGROUND, CURVE, LIMIT, MARK, NEUTRAL, THRESHOLD, legend_above
from wblab.report.quantities import quantity

Axes = Any  # matplotlib.axes.Axes
_MIB = 1 << 20
_PANES = 2.8  # height, in panes of the timeline
_POINTS, _CURVE_POINTS = 4000, 400
_TOP_RATIO = 3.0


def limits_at(run: Run, row: int) -> DirtyLimits:
    """Return the limits of the page cache in one event of a run, in pages: 0 is the first, -1 the last."""
    state, page = run.trace.dirty_state, run.trace.trace.info.page_bytes
    return DirtyLimits(*(int(column[row]) // page for column in (state.background, state.threshold, state.limit)))


def plot_control_line(limits: DirtyLimits, page_bytes: int = 4096, *, ax: Axes = None) -> Axes:
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
    look = {"textcoords": "offset points", "fontsize": 8.5}
    for rank, (name, (pages, colour)) in enumerate(marks.items()):
        at = pages * mib
        ax.axvline(at, color=colour, linewidth=1, linestyle="--")
        ax.annotate(f"{name} {at:.1f}", (at, 2.55 - 0.16 * (rank % 3)), (3, 0), color=colour, **look)
    ax.plot([center * mib], [1], "o", color=CURVE)
    ax.text(free * mib / 2, 0.12, "free to write", ha="center", fontsize=9, color=BACKGROUND)
    ax.text(1.07 * limit * mib, 0.12, "blocked", ha="center", fontsize=9, color=LIMIT)
    ax.set(xlim=(0, 1.15 * limit * mib), ylim=(0, 2.75), ylabel="position ratio")
    ax.set_xlabel("dirty pages, with those under writeback (MiB)")
    return ax


def plot_observed_ratios(run: Run, *, ax: Axes = None) -> Axes:
    """Plot a run's observed ratios, task rate over base rate, with the curve of the whole system.

    Limits move during a run; therefore the axis runs from the setpoint (0) to the limit (1). Points off the curve are
    due to the device's own control line. Colours are times.
    """
    ax = new_axes(_PANES) if ax is None else ax
    found = run.trace.throttling
    usable = found.where((found.base_rate > 0) & (found.limit > found.setpoint))
    usable = usable.where(np.linspace(0, len(usable) - 1, min(len(usable), _POINTS)).astype(np.int64))
    place = (usable.dirty - usable.setpoint) / (usable.limit - usable.setpoint)
    ratio = np.minimum(usable.task_rate / usable.base_rate, _TOP_RATIO)
    times_s = (usable.ts_ns - run.zero_ns) / NS_PER_S
    points = ax.scatter(place, ratio, c=times_s, s=6, cmap="viridis", linewidths=0, zorder=3)
    x = np.linspace(-1.5, 1, _CURVE_POINTS)
    ax.plot(x, np.clip(1 - x**3, 0, 2), color=MARK, linewidth=1.4, label="1 − x³: position ratio of the whole system")
    ax.plot([1, 1.1], [0, 0], color=MARK, linewidth=1.4)
    ax.set(xlim=(min(-1.1, float(place.min(initial=0)) - 0.05), 1.1), ylim=(-0.05, _TOP_RATIO + 0.05))
    ax.set(xlabel="dirty pages, relative: 0 at the setpoint, 1 at the limit", ylabel="task rate ⁄ base rate")
    ax.figure.colorbar(points, ax=ax, label="time since the loads started (s)", pad=0.01)
    legend_above(ax)
    return ax


def plot_limit_over_threshold(run: Run, *, ax: Axes = None) -> Axes:
    """Plot dirty limit and dirty pages over time as multiples of the dirty threshold."""
    ax = new_axes(_PANES) if ax is None else ax
    state = run.trace.dirty_state
    times_s = (state.ts_ns - run.zero_ns) / NS_PER_S
    total, ratio = (state.dirty + state.writeback) / state.threshold, state.limit / state.threshold
    at, steps = visible(state.ts_ns, total), changes(ratio)
    ax.plot(times_s[at], total[at], color=NEUTRAL, linewidth=0.7, label="dirty + writeback")
    look = {"drawstyle": "steps-post", "color": LIMIT, "linewidth": 1.8}
    ax.plot(times_s[steps], ratio[steps], label="dirty limit", **look)
    ax.axhline(1, color=THRESHOLD, linewidth=1.4, label="dirty threshold")
    ax.set(ylim=(0, 1.1 * float(max(ratio.max(), total.max()))), ylabel="multiple of the dirty threshold")
    ax.set_xlabel("time since the loads started (s)")
    legend_above(ax)
    return ax


def limit_steps(run: Run) -> pd.DataFrame:
    """Return every change of the dirty limit next to the result of the kernel's update_dirty_limit() for that state.

    In pages. A change shows in the first event after it; the state that led to it is that of the event before.
    """
    state, page = run.trace.dirty_state, run.trace.trace.info.page_bytes
    limit, threshold, dirty = state.limit // page, state.threshold // page, (state.dirty + state.writeback) // page
    at = np.flatnonzero(np.diff(limit))
    columns = {
        "at_s": (state.ts_ns[at + 1] - run.zero_ns) / NS_PER_S,
        "threshold": threshold[at],
        "dirty": dirty[at],
        "limit_before": limit[at],
        "limit_after": limit[at + 1],
        "computed": [int(dirty_limit(threshold[i], dirty[i], int(limit[i]))[0]) for i in at.tolist()],
    }
    return pd.DataFrame(columns)


def plot_settings(
    dirtyable_mib: int, dirty_ratio: int, background_ratio: int, write_mib_per_s: float, *, ax: Axes = None
) -> Axes:
    """Plot the thresholds that result from memory and settings; the title has the times to flush them to a device.

    dirtyable_mib: free and file pages. The ratios are vm.dirty_ratio and vm.dirty_background_ratio, in per cent.
    """
    background, threshold = dirty_thresholds(dirtyable_mib * _MIB // 4096, dirty_ratio, background_ratio)
    ax = plot_control_line(DirtyLimits(background, threshold, threshold), ax=ax)
    flush_s, all_s = flush_time_s(np.array([int(background), int(threshold)]) * 4096, write_mib_per_s * _MIB).tolist()
    of_background, of_all = quantity(flush_s, "s"), quantity(all_s, "s")
    title = f"at {write_mib_per_s:g} MiB/s, writing the background threshold takes {of_background}, "
    ax.set_title(f"{title}the dirty threshold {of_all}", loc="left", fontsize=10)
    return ax


def settings_of(run: Run) -> dict[str, Any]:
    """Return the arguments of `plot_settings` for the beginning of a run with the default ratios."""
    dirtyable = int(run.trace.dirty_state.threshold[0] / 0.2)
    spec = guest_spec(run)
    rate = spec.disk[spec.first_disk].write_bps / _MIB
    return {"dirtyable_mib": dirtyable >> 20, "dirty_ratio": 20, "background_ratio": 10, "write_mib_per_s": rate}


def sliders(dirtyable_mib: int, dirty_ratio: int, background_ratio: int, write_mib_per_s: float) -> Any:
    """Return `plot_settings` with a slider for each argument, which begins at the value given."""
    from ipywidgets import FloatSlider, IntSlider, interactive

    look = {"continuous_update": False, "style": {"description_width": "10em"}, "layout": {"width": "36em"}}
    return interactive(
        lambda **values: plot_settings(**values).figure,
        dirtyable_mib=IntSlider(value=dirtyable_mib, min=16, max=16384, step=16, **look),
        dirty_ratio=IntSlider(value=dirty_ratio, min=1, max=60, **look),
        background_ratio=IntSlider(value=background_ratio, min=1, max=50, **look),
        write_mib_per_s=FloatSlider(value=write_mib_per_s, min=0.5, max=500.0, step=0.5, **look),
    )
