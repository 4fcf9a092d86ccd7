"""Pictures of a comparison: the groups' values and the effects of changes, all with intervals."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from wblab.analysis.groups.comparison import Comparison, GroupValues, Sort
from wblab.analysis.statistics.intervals import Interval
from wblab.core.loads import KINDS, Write
from wblab.plot.artists import PictureFigure, new_axes, new_figure
from wblab.plot.style import GRID, MARK, NEUTRAL, literal, load_colours
from wblab.report import quantities

TITLES = {
    "longest_pause_s": "longest pause (s)",
    "wait_time_s": "wait time (s)",
    "paused_s": "total paused time (s)",
    "paused_fraction": "paused fraction",
    "cycle_p999_s": "cycle time, 99.9 % quantile (s)",
    "cycle_p99_s": "cycle time, 99 % quantile (s)",
    "cycle_p90_s": "cycle time, 90 % quantile (s)",
    "cycle_p50_s": "cycle time, median (s)",
    "mean_cycle_s": "cycle time, mean (s)",
    "cycle_rate_hz": "cycles per second",
    "unplug_s": "writeback after the load's end (s)",
    "throughput_bps": "throughput (bytes/s)",
    "dspan_bytes": "from a file's first block to its last (bytes)",
    "extents": "extents of all files",
    "layout_index": "layout index",
}
METRICS = ("longest_pause_s", "wait_time_s", "paused_s")  # of the thesis's figure 16
_LINE_IN = 0.21  # for one load of one group
_MARGIN_IN = 1.25
_SPREAD = 0.8  # of a group's height, for its loads
_NONE = "#999999"


def loads_of(comparison: Comparison) -> list[str]:
    """Return the innocent loads, whose pauses are of interest."""
    roles = {item.about.load: item.about.sort.role for item in comparison.distributions}
    return [load for load, role in roles.items() if role == "innocent"]


def plot_groups(comparison: Comparison, metric: str, *, ax: Any = None) -> Any:
    """Draw a metric by group and innocent load: every run, the mean and its interval; a line at the baseline's mean.

    The mark of a mean is filled if a difference from the first group is claimed, else hollow.
    """
    ax = ax or new_axes()
    loads = loads_of(comparison)
    claims = {(item.name, item.about): item.claim for item in comparison.of("group")}
    colours = _colours(comparison)
    for place, load in enumerate(loads):
        colour = colours[load]
        for item in comparison.distributions:
            if item.about.load == load and item.about.metric == metric:
                row = comparison.groups.index(item.group)
                at = _at(row, place, len(loads))
                filled = row == 0 or claims.get((item.group, item.about), 0) != 0
                ax.barh(at, item.mean.estimate, 0.85 * _SPREAD / len(loads), color=colour, alpha=0.22, zorder=2)
                _draw_runs(ax, at, item, colour, 0.28 * _SPREAD / len(loads))
                _draw_mark(ax, at, item.mean, colour, filled)
                if row == 0:
                    ax.axvline(item.mean.estimate, color=colour, linewidth=0.8, linestyle="--", zorder=1)
    _rows(ax, comparison.groups)
    ax.set_title(TITLES.get(metric, literal(metric)), loc="left", fontsize=10, fontweight="bold")
    ax.set_xlim(left=0)
    return ax


def plot_effects(
    comparison: Comparison, metric: str, sorts: Sequence[Sort] = ("effect", "interaction"), *, ax: Any = None
) -> Any:
    """Draw the effect of each change on a metric, with its interval; grey where no difference is claimed."""
    ax = ax or new_axes()
    loads = loads_of(comparison)
    names, colours = effect_names(comparison, sorts), _colours(comparison)
    for item in (item for sort in sorts for item in comparison.of(sort)):
        if item.about.metric == metric and item.about.load in loads:
            place = loads.index(item.about.load)
            at = _at(names.index(item.name), place, len(loads))
            claimed = item.claim != 0
            _draw_mark(ax, at, item.interval, colours[item.about.load] if claimed else _NONE, claimed)
    ax.axvline(0, color=MARK, linewidth=1, zorder=1)
    _rows(ax, names)
    ax.set_title(f"difference in {TITLES.get(metric, literal(metric))}", loc="left", fontsize=9, fontweight="bold")
    return ax


def effect_names(comparison: Comparison, sorts: Sequence[Sort] = ("effect", "interaction")) -> list[str]:
    """Return the names of the changes, in order."""
    return list(dict.fromkeys(item.name for sort in sorts for item in comparison.of(sort)))


def comparison_figure(comparison: Comparison, metrics: Sequence[str] = METRICS) -> PictureFigure:
    """Return the figure of a comparison: groups and, for a factorial experiment, effects and interactions below."""
    measured = {item.about.metric for item in comparison.distributions}
    metrics = [metric for metric in metrics if metric in measured] or sorted(measured)[: len(metrics)]
    loads = loads_of(comparison)
    changes = effect_names(comparison)
    counts = [len(comparison.groups), *([len(changes)] if changes else [])]
    heights = [max(1.2, _LINE_IN * max(2, len(loads)) * count + 0.3) for count in counts]
    height = sum(heights) + _MARGIN_IN + 0.75 * (len(counts) - 1)
    figure = new_figure(height, layout="constrained")
    grid = figure.subplots(len(counts), len(metrics), squeeze=False, height_ratios=heights)
    for column, metric in enumerate(metrics):
        plot_groups(comparison, metric, ax=grid[0, column])
        if changes:
            plot_effects(comparison, metric, ax=grid[1, column])
    for ax in grid[:, 1:].flat:
        ax.tick_params(labelleft=False)
    colours = {load: _colours(comparison)[load] for load in loads}
    figure.legend(handles=_legend(colours), loc="outside lower right", ncols=8, frameon=False, fontsize=9)
    lines = map(literal, headline(comparison).splitlines())
    figure.suptitle("\n".join(lines), fontsize=10.5, x=0.01, ha="left")
    return figure


def headline(comparison: Comparison) -> str:
    """Return two lines that name the groups, the runs and the intervals."""
    most: dict[str, int] = {}  # not every run has every metric
    for item in comparison.distributions:
        most[item.group] = max(most.get(item.group, 0), len(item.values))
    runs = sorted(set(most.values()))
    count = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    groups = len(comparison.groups)
    alone, confidence = comparison.resampling.confidence, comparison.confidence
    widened = f", of differences {quantities.confidence(confidence)}" if confidence != alone else ""
    return (
        f"{', '.join(comparison.axes)}: {groups} groups of {count} runs\n"
        f"against {comparison.groups[0]}; intervals of {quantities.confidence(alone)}{widened}"
    )


def _at(row: int, place: int, loads: int) -> float:
    return row + _SPREAD * ((place + 0.5) / loads - 0.5)


def _draw_runs(ax: Axes, at: float, item: GroupValues, colour: str, reach: float) -> None:
    """Draw each run's value, spread out so that equal values stay visible."""
    shifts = np.linspace(-reach, reach, len(item.values)) if len(item.values) > 1 else np.zeros(1)
    ax.plot(item.values, at + shifts, "o", color=colour, markersize=2.6, alpha=0.6, zorder=3)


def _draw_mark(ax: Axes, at: float, found: Interval, colour: str, filled: bool) -> None:
    """Draw an estimate and its interval."""
    if found.low is not None and found.high is not None:
        ax.plot([found.low, found.high], [at, at], color=colour, linewidth=2.2, zorder=4)
    mark = Line2D([found.estimate], [at], marker="D", markersize=6, color=colour, markeredgewidth=1.4, zorder=5)
    mark.set_markerfacecolor(colour if filled else "white")
    ax.add_line(mark)


def _rows(ax: Axes, names: Sequence[str]) -> None:
    ax.set_yticks(range(len(names)), [literal(name) for name in names], fontsize=9)
    ax.set_ylim(len(names) - 0.5, -0.5)
    for edge in range(len(names) - 1):
        ax.axhline(edge + 0.5, color=GRID, linewidth=0.8, zorder=0)
    ax.grid(axis="x", color=GRID, linewidth=0.5)
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.xaxis.set_major_locator(MaxNLocator(6))


def _legend(colours: Mapping[str, str]) -> list[Line2D]:
    def mark(inside: str, label: str) -> Line2D:
        return Line2D([], [], marker="D", linewidth=2.2, color=NEUTRAL, markerfacecolor=inside, label=label)

    return [
        *(
            Line2D([], [], color=colour, linewidth=5, alpha=0.7, label=literal(load))
            for load, colour in colours.items()
        ),
        Line2D([], [], color=NEUTRAL, marker="o", linestyle="", markersize=3, label="one run"),
        mark(NEUTRAL, "mean and interval: differs from the first group, or from zero"),
        mark("white", "no clear difference"),
    ]


def _colours(comparison: Comparison) -> dict[str, str]:
    """Return the colours of loads, as in their timelines; an unknown kind counts as innocent."""
    kinds = {item.about.load: item.about.kind for item in comparison.distributions}
    return load_colours({load: KINDS.get(kind, Write) for load, kind in kinds.items()})
