"""Pictures of an exploration: which factors a response depends on, how, and where its worst tenth lies."""

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from wblab.analysis.sensitivity.analysis import Analysis, Sensitivities, View, floor, spans_decades
from wblab.analysis.sensitivity.observed import Factor, Observed, Response
from wblab.plot.artists import PictureFigure, new_axes, new_figure
from wblab.plot.explorationmaps import (
    plot_distribution,
    plot_front,
    plot_levels,
    plot_medians,
    plot_tail_levels,
    plot_tail_map,
)
from wblab.plot.picture import svg
from wblab.plot.style import CONTROL, CURVE, GRID, MARK, NEUTRAL, PAUSE, literal
from wblab.report.explorationreport import report
from wblab.report.explorationtext import SCALES, shown_effects
from wblab.report.report import Report

_UNKNOWN = "#BBBBBB"
_MOST_PANELS = 6


def plot_effects(view: View, names: Sequence[tuple[str, ...]], factors: Sequence[Factor], *, ax: Any = None) -> Any:
    """Draw the share of variance of each effect, with its interval; grey where no effect is found.

    The dummy is hatched. The dashed line is the noise floor.
    """
    ax = ax or new_axes(len(names) / 5)
    effects = {effect.factors: effect for effect in (*view.variance.mains, *view.variance.pairs)}
    dummies = {factor.name for factor in factors if factor.is_dummy}
    for place, name in enumerate(names):
        effect = effects[name]
        is_dummy = bool(dummies & set(name))
        if math.isnan(effect.share):
            continue
        look: dict[str, Any] = {"facecolor": "white", "edgecolor": NEUTRAL, "hatch": "////"}
        if not is_dummy:
            look = {"color": CURVE if effect.found else _UNKNOWN, "alpha": 0.85}
        ax.barh(place, 100 * effect.share, 0.62, **look, zorder=2)
        ax.plot([100 * effect.low, 100 * effect.high], [place, place], color=MARK, linewidth=1.5, zorder=3)
    limit = floor(view.variance, factors)
    if not math.isnan(limit):
        ax.axvline(100 * limit, color=PAUSE, linewidth=1.1, linestyle="--", zorder=4)
    ax.axvline(0, color=MARK, linewidth=0.8, zorder=1)
    ax.set_yticks(range(len(names)), [literal(" × ".join(name)) for name in names], fontsize=9)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel("share of the variance (%)", fontsize=8.5)
    ax.set_title(f"of {SCALES[view.scale]}", loc="left", fontsize=10, fontweight="bold")
    ax.grid(axis="x", color=GRID, linewidth=0.5)
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax


def effects_figure(finding: Sensitivities, factors: Sequence[Factor]) -> PictureFigure:
    """Return the figure of a response's effects, one column for each scale."""
    names = shown_effects(finding, factors)
    figure = _figure(max(2.2, 0.27 * len(names) + 1.3))
    axes = figure.subplots(1, len(finding.views), squeeze=False, sharey=True)[0]
    for ax, view in zip(axes, finding.views, strict=True):
        plot_effects(view, names, factors, ax=ax)
        ax.tick_params(labelleft=ax is axes[0])
    handles = [
        Patch(color=CURVE, alpha=0.85, label="found"),
        Patch(color=_UNKNOWN, alpha=0.85, label="no effect shown"),
        Line2D([], [], color=MARK, linewidth=1.5, label="interval"),
    ]
    if any(factor.is_dummy for factor in factors):
        handles += [
            Patch(facecolor="white", edgecolor=NEUTRAL, hatch="////", label="dummy: has no effect"),
            Line2D([], [], color=PAUSE, linewidth=1.1, linestyle="--", label="noise floor"),
        ]
    figure.legend(handles=handles, loc="outside lower right", ncols=5, frameon=False, fontsize=9)
    return figure


def distribution_figure(observed: Observed, finding: Sensitivities) -> PictureFigure:
    """Return the figure of a response's distribution and of its trade-offs with the others."""
    response = observed.responses[finding.response]
    figure = _figure(3.4)
    axes = figure.subplots(1, 1 + len(finding.fronts[:2]), squeeze=False)[0]
    log = _is_log(finding)
    plot_distribution(response, finding.tail.threshold if finding.tail else None, log=log, ax=axes[0])
    for ax, front in zip(axes[1:], finding.fronts, strict=False):
        other = observed.responses[front.against]
        plot_front(response, other, front.rows, logs=(log, spans_decades(other.values)), ax=ax)
    return figure


def levels_figure(observed: Observed, finding: Sensitivities) -> PictureFigure:
    """Return the figure of a response by the levels of its most important factors."""
    response: Response = observed.responses[finding.response]
    names = [name[0] for name in shown_effects(finding, observed.factors) if len(name) == 1]
    dummies = {factor.name for factor in observed.factors if factor.is_dummy}
    names = [name for name in names if name not in dummies][:_MOST_PANELS]
    figure, axes = _panels(len(names), 2.7)
    for ax, name in zip(axes, names, strict=True):
        plot_levels(observed, response, name, log=_is_log(finding), ax=ax)
    share = "10 %" if finding.more_is_better else "90 %"
    handles = [
        Line2D([], [], color=CURVE, marker=".", linestyle="", label="one row"),
        Line2D([], [], color=MARK, linewidth=2, label="median"),
        Line2D([], [], color=PAUSE, marker="v", linestyle="", label=f"{share} quantile"),
    ]
    figure.legend(handles=handles, loc="outside lower right", ncols=3, frameon=False, fontsize=9)
    return figure


def pairs_figure(observed: Observed, finding: Sensitivities) -> PictureFigure | None:
    """Return the figure of the pairs of factors that interact; None if none is found."""
    dummies = {factor.name for factor in observed.factors if factor.is_dummy}
    pairs = [effect for effect in finding.views[0].variance.pairs if effect.found and not dummies & set(effect.factors)]
    pairs = sorted(pairs, key=lambda effect: -effect.share)[:_MOST_PANELS]
    if not pairs:
        return None
    figure, axes = _panels(len(pairs), 3.0)
    for ax, effect in zip(axes, pairs, strict=True):
        first, second = effect.factors
        plot_medians(observed, observed.responses[finding.response], (first, second), log=_is_log(finding), ax=ax)
    return figure


def tail_figure(finding: Sensitivities) -> PictureFigure | None:
    """Return the figure of the levels that are more or less frequent in the worst tenth; None if there are none."""
    tail = finding.tail
    names = list(dict.fromkeys(level.factor for level in tail.levels if level.leads)) if tail else []
    if tail is None or not names:
        return None
    of = {name: [level for level in tail.levels if level.factor == name] for name in names}
    ranked = sorted(names, key=lambda name: -max(level.share for level in of[name]))[:_MOST_PANELS]
    figure, axes = _panels(len(ranked), 2.5)
    for ax, name in zip(axes, ranked, strict=True):
        plot_tail_levels(of[name], tail.share, ax=ax)
    handles = [
        Patch(color=PAUSE, alpha=0.85, label="more frequent in the worst tenth"),
        Patch(color=CONTROL, alpha=0.85, label="less frequent"),
        Patch(color=_UNKNOWN, alpha=0.85, label="neither shown"),
        Line2D([], [], color=NEUTRAL, linewidth=1, linestyle="--", label="all rows"),
    ]
    figure.legend(handles=handles, loc="outside lower right", ncols=4, frameon=False, fontsize=9)
    return figure


def maps_figure(finding: Sensitivities) -> PictureFigure | None:
    """Return the figure of the worst tenth by pairs of factors, for the pairs that explain most of it."""
    maps = finding.maps[:_MOST_PANELS]
    if not maps:
        return None
    figure, axes = _panels(len(maps), 3.0)
    for ax, found in zip(axes, maps, strict=True):
        plot_tail_map(found, ax=ax)
    handle = Line2D(
        [], [], color=CONTROL, marker="o", markerfacecolor="none", linestyle="", label="no row near the worst tenth"
    )
    figure.legend(handles=[handle], loc="outside lower right", frameon=False, fontsize=9)
    return figure


def exploration_figures(analysis: Analysis, observed: Observed, finding: Sensitivities) -> dict[str, PictureFigure]:
    """Return the figures of one response by title; empty ones are left out."""
    if not finding.views:
        return {}
    figures = {
        "What it depends on": effects_figure(finding, analysis.factors),
        "How it is distributed, and what it costs": distribution_figure(observed, finding),
        "By the levels of what it depends on most": levels_figure(observed, finding),
        "Two factors together: the median": pairs_figure(observed, finding),
        "More or less frequent in the worst tenth": tail_figure(finding),
        "Two factors together: the worst tenth": maps_figure(finding),
    }
    return {title: figure for title, figure in figures.items() if figure is not None}


def _is_log(finding: Sensitivities) -> bool:
    return finding.views[0].scale == "log2"


def _figure(height_in: float) -> PictureFigure:
    return new_figure(height_in, layout="constrained")


def _panels(count: int, height_in: float) -> tuple[PictureFigure, list[Any]]:
    """Return a figure with `count` panels, three side by side."""
    rows = -(-count // 3)
    figure = _figure(height_in * rows + 0.35)
    grid = figure.subplots(rows, max(2, min(3, count)) if rows == 1 else 3, squeeze=False)
    for spare in grid.flat[count:]:  # a single panel would be as wide as the page
        spare.set_visible(False)
    return figure, list(grid.flat[:count])


# The report of an exploration with its pictures.


def drawn_report(analysis: Analysis, observed: Observed, title: str) -> Report:
    """Return the report of an exploration's analysis, with pictures."""
    figures = {
        finding.response: {
            name: svg(figure) for name, figure in exploration_figures(analysis, observed, finding).items()
        }
        for finding in analysis.findings
    }
    return report(analysis, observed, title, figures)
