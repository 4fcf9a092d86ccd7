"""A response by the levels of factors: its distribution, medians and worst tenths, and maps of two factors at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator
from numpy.typing import NDArray

from wblab.analysis.sensitivity.observed import Observed, Response, joined
from wblab.analysis.sensitivity.tail import LevelTail, PairMap
from wblab.analysis.statistics.intervals import generator
from wblab.plot.artists import new_axes
from wblab.plot.style import CONTROL, CURVE, GRID, MARK, NEUTRAL, PAUSE, literal
from wblab.report.quantities import fitting_unit, quantity

_MOST_LETTERS = 20  # of a level's name below an axis
_MANY = 14  # levels: with more, their names are small and vertical
_UPRIGHT = 7  # levels whose names fit side by side


def plot_levels(observed: Observed, response: Response, factor: str, *, log: bool = False, ax: Any = None) -> Any:
    """Draw a response by a factor's levels: every row, the median as a bar, the start of the worst tenth as a mark."""
    ax = ax or new_axes()
    place = [one.name for one in observed.factors].index(factor)
    levels = observed.factors[place].levels
    known = np.isfinite(response.values) & ((response.values > 0) | (not log))
    codes, values = observed.codes[known, place], response.values[known]
    spread = 0.8 * (generator(0, "spread").random(len(values)) - 0.5)  # horizontal, only to separate points
    alpha = min(0.7, max(0.2, 256 / max(1, len(values))))
    ax.plot(codes + spread, values, ".", color=CURVE, markersize=3, alpha=alpha, zorder=1, rasterized=True)
    share = 0.1 if response.more_is_better else 0.9
    for level in np.unique(codes).tolist():
        of = values[codes == level]
        ax.plot([level - 0.4, level + 0.4], [np.median(of)] * 2, color=MARK, linewidth=2, zorder=3)
        ax.plot(level, np.quantile(of, share), "v", color=PAUSE, markersize=6, markeredgecolor="white", zorder=4)
    _level_axis(ax, levels)
    _value_axis(ax.yaxis, response.unit, log=log)
    ax.set_ylabel(literal(response.name), fontsize=8.5)
    ax.set_title(literal(factor), loc="left", fontsize=10, fontweight="bold")
    ax.set_xlim(-0.6, len(levels) - 0.4)
    _bare(ax)
    return ax


def plot_medians(
    observed: Observed, response: Response, factors: tuple[str, str], *, log: bool = False, ax: Any = None
) -> Any:
    """Draw the median of a response in each cell of two factors' levels; empty cells are grey.

    Neighbouring levels are joined. On a logarithmic scale, a median of 0 is drawn as the smallest of the others.
    """
    ax = ax or new_axes(4)
    names = [one.name for one in observed.factors]
    (rows, of_rows), (columns, of_columns) = (
        joined(observed.factors[place], observed.codes[:, place]) for place in map(names.index, factors)
    )
    known = np.isfinite(response.values)
    table = np.full((len(rows.levels), len(columns.levels)), np.nan)
    for row, column in np.ndindex(table.shape):
        of = response.values[known & (of_rows == row) & (of_columns == column)]
        table[row, column] = np.median(of) if len(of) else np.nan
    norm = None
    positive = table[table > 0]
    if log and len(positive) and np.ptp(positive):
        norm = LogNorm(positive.min(), positive.max())
        table = np.where(table <= 0, positive.min(), table)
    _draw_map(ax, table, (rows.levels, columns.levels), factors, {"cmap": "viridis", "norm": norm})
    _colour_bar(ax, f"median {response.name}", response.unit)
    return ax


def plot_tail_map(found: PairMap, *, ax: Any = None) -> Any:
    """Draw the share of each cell's rows in the worst tenth. A ring: no row is near it; grey: an empty cell."""
    ax = ax or new_axes(4)
    rows, inside, reached = (np.array(of) for of in (found.rows, found.inside, found.reached))
    shares = np.divide(inside, rows, out=np.full(rows.shape, np.nan), where=rows > 0)
    colours = {"cmap": "OrRd", "vmin": 0, "vmax": max(0.3, np.nanmax(shares))}
    _draw_map(ax, shares, (found.first, found.second), found.factors, colours)
    free = np.argwhere((rows > 0) & ~reached)
    ax.plot(free[:, 1], free[:, 0], "o", color=CONTROL, markerfacecolor="none", markersize=6, linestyle="")
    _colour_bar(ax, "share in the worst tenth", "%")
    return ax


def plot_tail_levels(levels: Sequence[LevelTail], share: float, *, ax: Any = None) -> Any:
    """Draw the share of each level's rows in the worst tenth, with intervals; a line marks the share of all rows."""
    ax = ax or new_axes()
    colours = {1: PAUSE, -1: CONTROL, 0: "#BBBBBB"}
    for place, level in enumerate(levels):
        ax.bar(place, 100 * level.share, 0.75, color=colours[level.leads], alpha=0.85, zorder=2)
        ax.plot([place, place], [100 * level.low, 100 * level.high], color=MARK, linewidth=1.4, zorder=3)
    ax.axhline(100 * share, color=NEUTRAL, linewidth=1, linestyle="--", zorder=1)
    _level_axis(ax, [level.level for level in levels])
    ax.set_ylabel("in the worst tenth (%)", fontsize=8.5)
    ax.set_ylim(bottom=0)
    ax.tick_params(axis="y", labelsize=8)
    ax.set_title(literal(levels[0].factor), loc="left", fontsize=10, fontweight="bold")
    _bare(ax)
    return ax


def plot_distribution(response: Response, threshold: float | None = None, *, log: bool = False, ax: Any = None) -> Any:
    """Draw the cumulative distribution of a response; a line marks the start of the worst tenth."""
    ax = ax or new_axes()
    values = np.sort(response.values[np.isfinite(response.values)])
    shares = 100 * np.arange(1, len(values) + 1) / max(1, len(values))
    ax.step(values, shares, where="post", color=CURVE, linewidth=1.6)
    if threshold is not None:
        ax.axvline(threshold, color=PAUSE, linewidth=1.2, linestyle="--")
        near = {"xytext": (4, 6), "textcoords": "offset points", "color": PAUSE, "fontsize": 8.5}
        ax.annotate("worst tenth", (threshold, 0), **near)
    _value_axis(ax.xaxis, response.unit, log=log and bool((values > 0).any()))
    ax.set_ylim(0, 101)
    ax.set_ylabel("share of the rows (%)", fontsize=8.5)
    ax.set_title(f"{literal(response.name)}: at most", loc="left", fontsize=10, fontweight="bold")
    _bare(ax)
    return ax


def plot_front(one: Response, two: Response, rows: Sequence[int], *, logs: tuple[bool, bool], ax: Any = None) -> Any:
    """Draw two responses of every row, and the Pareto front: the rows that no other beats in both."""
    ax = ax or new_axes(3)
    best: NDArray[np.int64] = np.array(rows, np.int64)
    ax.plot(one.values, two.values, ".", color=CURVE, markersize=3, alpha=0.35, rasterized=True)
    ax.plot(
        one.values[best],
        two.values[best],
        "o-",
        color=PAUSE,
        markersize=5,
        linewidth=1,
        label="no row is better in both",
    )
    for axis, response, log in ((ax.xaxis, one, logs[0]), (ax.yaxis, two, logs[1])):
        _value_axis(axis, response.unit, log=log and bool((response.values > 0).any()))
    ax.set_xlabel(f"{literal(one.name)} ({'more' if one.more_is_better else 'less'} is better)", fontsize=8.5)
    ax.set_ylabel(f"{literal(two.name)} ({'more' if two.more_is_better else 'less'} is better)", fontsize=8.5)
    ax.set_title("Trade-off of the two", loc="left", fontsize=10, fontweight="bold")
    ax.legend(frameon=False, fontsize=8.5)
    _bare(ax)
    return ax


def _draw_map(
    ax: Any,
    table: NDArray[np.float64],
    levels: tuple[Sequence[str], Sequence[str]],
    factors: tuple[str, str],
    colours: dict[str, Any],
) -> None:
    ax.set_facecolor("#E4E4E4")
    ax.imshow(table, aspect="auto", interpolation="nearest", **colours)
    ax.set_yticks(range(len(levels[0])), [_short(level) for level in levels[0]], fontsize=8)
    _level_axis(ax, levels[1])
    ax.set_ylabel(literal(factors[0]), fontsize=9)
    ax.set_xlabel(literal(factors[1]), fontsize=9)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _colour_bar(ax: Any, title: str, unit: str) -> None:
    bar = ax.figure.colorbar(ax.images[0], ax=ax, shrink=0.9, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8)
    if isinstance(ax.images[0].norm, LogNorm):
        bar.ax.yaxis.set_major_locator(LogLocator(base=_base(unit)))
    bar.ax.minorticks_off()
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value, unit)))
    ax.set_title(literal(title), loc="left", fontsize=9)


def _level_axis(ax: Any, levels: Sequence[str]) -> None:
    many = len(levels) > _MANY
    upright = len(levels) <= _UPRIGHT and sum(map(len, levels)) < 48
    turned = {} if upright else {"rotation": 90 if many else 50, "ha": "right", "rotation_mode": "anchor"}
    turned |= {"va": "center"} if many else {}
    ax.set_xticks(range(len(levels)), [_short(level) for level in levels], fontsize=6.5 if many else 8, **turned)


def _value_axis(axis: Any, unit: str, *, log: bool) -> None:
    if log:
        scaled = axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale
        scaled("log", base=_base(unit))
    else:
        low, high = axis.get_view_interval()
        factor = fitting_unit(max(abs(low), abs(high)), unit)[0]
        axis.set_major_locator(
            FixedLocator([factor * tick for tick in MaxNLocator(6).tick_values(low / factor, high / factor)])
        )
        axis.axes.set(**{f"{axis.axis_name}lim": (low, high)})
    axis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value, unit)))
    axis.axes.tick_params(labelsize=8)


def _base(unit: str) -> int:
    """Return the base whose powers are round numbers in this unit: 2 for bytes, else 10."""
    return 2 if unit.startswith("bytes") else 10


def _tick(value: float, unit: str) -> str:
    if unit == "%":
        return f"{100 * value:.0f} %"
    number, _, name = quantity(value, unit).partition(" ")
    short = number.rstrip("0").rstrip(".") if "." in number else number
    return literal(f"{short} {name}".rstrip()) if value else "0"


def _short(level: str) -> str:
    return literal(level if len(level) <= _MOST_LETTERS else f"{level[: _MOST_LETTERS - 1]}…")


def _bare(ax: Any) -> None:
    ax.grid(color=GRID, linewidth=0.5)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
