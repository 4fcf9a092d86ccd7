"""The figure of a trial: each value on each scenario, the innocents' longest pause beside the default's."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D

from wblab.claims.trial.judged import Tried
from wblab.claims.trial.plan import AS_IT_IS
from wblab.claims.trial.recommendations import Wisdom
from wblab.plot.style import DPI, GRID, NEUTRAL
from wblab.report.palette import NO, YES

_WIDTH_IN, _ROW_IN, _HEAD_IN = 16.5, 0.27, 1.9
_MARKS = {"by seconds": "o", "by memory": "s", "as it is": "D"}
_OFF = {"by seconds": -0.16, "by memory": 0.16, "as it is": 0.0}
_LONGEST_NAME = 62
_DECADES = (0.01, 100.0)


@dataclass(frozen=True)
class Drawn:
    """A picture, and what it shows in a sentence."""

    picture: Picture
    what: str


def drawn(tried: Sequence[Tried], wisdom: Wisdom) -> Drawn:
    """Draw a column for each scenario, a row for each value; on the left of the line the innocent are better off."""
    tried = [item for item in tried if item.others is not None and item.value.is_setting]
    keys = [key for key in wisdom.values() if any(item.key == key for item in tried)]
    scenarios = [name for name in wisdom.scenario if any(item.scenario == name for item in tried)]
    picture = Picture(figsize=(_WIDTH_IN, _HEAD_IN + _ROW_IN * len(keys)), dpi=DPI, layout="constrained")
    axes = picture.subplots(1, len(scenarios), sharey=True, sharex=True, squeeze=False)[0]
    for scenario, ax in zip(scenarios, axes, strict=True):
        _draw([item for item in tried if item.scenario == scenario], keys, ax)
        ax.set_title(f"{scenario}\n{wisdom.scenario[scenario].title}", fontsize=9)
    axes[0].set_yticks(range(len(keys)), [_name(key, wisdom) for key in keys], fontsize=8.5)
    axes[0].set_ylim(len(keys) - 0.5, -0.5)
    picture.supxlabel("light writers' longest pause, divided by that with the kernel's defaults")
    picture.legend(handles=_legend(), loc="outside upper center", ncols=6, frameon=False, fontsize=9)
    what = (
        "The light writers' longest pause with each recommendation, divided by that with the kernel's defaults: left "
        "of the line it is shorter. The bar through a mark is its 95 % interval."
    )
    return Drawn(picture, what)


def _draw(items: Sequence[Tried], keys: Sequence[str], ax: Any) -> None:
    ax.axvline(1.0, color=NEUTRAL, linewidth=1.0, zorder=1)
    for item in items:
        if item.others is None or item.key not in keys:
            continue
        at, found = keys.index(item.key) + _OFF[item.way], item.others.interval
        colour = _colour(item)
        if found.low is not None and found.high is not None:
            ax.plot([found.low, found.high], [at, at], color=colour, linewidth=1.6, zorder=2)
        ax.plot([found.estimate], [at], _MARKS[item.way], color=colour, markersize=4.5, zorder=3)
    ax.set_xscale("log")
    ax.set_xlim(*_DECADES)
    ax.xaxis.set_major_formatter(lambda value, place: f"×{value:g}")
    ax.grid(axis="x", color=GRID, linewidth=0.5)
    for edge in range(len(keys)):
        ax.axhline(edge + 0.5, color=GRID, linewidth=0.5, zorder=0)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize=8)
    ax.spines[["top", "right", "left"]].set_visible(False)


def _colour(item: Tried) -> str:
    return YES if item.helps_others else NO if item.harms_others else NEUTRAL


def _name(key: str, wisdom: Wisdom) -> str:
    entry, value = wisdom.values()[key]
    text = f"{entry.who}: {value.name}"
    text = text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"
    return f"{text}  {key}".replace("$", r"\$")


def _legend() -> list[Line2D]:
    marks = [
        Line2D(
            [],
            [],
            color=NEUTRAL,
            marker=mark,
            linestyle="",
            markersize=5,
            label=way if way == AS_IT_IS else f"scaled {way}",
        )
        for way, mark in _MARKS.items()
    ]
    colours = ((YES, "shorter"), (NEUTRAL, "no difference shown"), (NO, "longer: harm"))
    return [*marks, *(Line2D([], [], color=colour, linewidth=3, label=label) for colour, label in colours)]
