"""Lanes as a picture: runs below each other on one time axis, readable on a phone."""

import re
from collections.abc import Sequence
from textwrap import shorten, wrap
from typing import Any

from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from wblab.analysis.runs.lanes import Lane, Lanes, axis_ns
from wblab.core.units import NS_PER_S
from wblab.plot.artists import PictureFigure, new_figure
from wblab.plot.style import FROZEN, GRID, MARK, WORKING, literal
from wblab.report.quantities import duration

Axes = Any  # matplotlib.axes.Axes

MOST_LANES = 30  # of a run
# In inches: margins (on the left room for names, at least and at most), a run's title above its lanes, a lane, the room
# between runs.
_MOST_LEFT = 1.85
_WIDTH, _LEFT, _RIGHT, _BOTTOM, _TITLE, _LANE, _BETWEEN = 8.0, 1.3, 0.92, 0.62, 0.68, 0.37, 0.1
_DPI = 150
_TOP_PT, _HEAD_PT, _LARGE_PT, _NAME_PT, _LONGEST_PT, _SMALL_PT = 24, 15, 20, 14, 13, 12
_CARD_IN = 4.2  # the height of a card: 1200 × 630 pixels, as pages that link to a site show it
_LETTER = 0.6  # of a letter's height: its width, at most
_NAME_LETTERS, _TITLE_LETTERS, _LONG_LETTERS, _KEY_LETTERS = 17, 29, 38, 87
_TIED = "\u00a0"  # between a number and its unit
_KEY_LINES, _KEY_LINE_IN = 5, 0.225
_TALL, _THIN, _HATCHED = 0.74, 0.16, 0.46  # of a lane's height
_ROOM = 1.02  # of the longest run: the axis is longer, so that a bar that ends with it is not taken for one cut off
_EDGE = 0.12  # in inches, of the picture: nothing is nearer to it
_LEAST_WIDTH = 0.0015  # of the time axis: of a freeze


def lanes_picture(runs: Sequence[Lanes], card: str = "") -> PictureFigure:
    """Return the figure of runs: a lane for each load, tall while it is frozen, and its longest freeze as a number.

    card: a headline; then the figure is a card with the headline above its lanes and no key below them.
    """
    shown = [run.shown(MOST_LANES) for run in runs]
    heights_in = [_LANE * max(1, len(lanes)) for lanes in shown]
    key = [] if card else _key(shown)
    letters = max((len(_name(lane)) for lanes in shown for lane in lanes), default=0)
    left_in = min(_MOST_LEFT, max(_LEFT, _EDGE + letters * _LETTER * _NAME_PT / 72))
    bottom_in = _BOTTOM + _KEY_LINE_IN * len(key)
    height_in = bottom_in + sum(heights_in) + _TITLE * len(runs) + _BETWEEN * (len(runs) - 1)
    above_in = _CARD_IN - height_in if card else 0.0
    height_in += above_in
    figure = new_figure(height_in, width_in=_WIDTH, dpi=_DPI)
    last_s = max(axis_ns(runs), 1) / NS_PER_S
    top_in = height_in - above_in
    if card:
        look: dict[str, Any] = {"fontsize": _TOP_PT, "fontweight": "bold", "va": "top"}
        figure.text(_EDGE / _WIDTH, 1 - _EDGE / height_in, literal(card), **look)
    for at, (run, lanes, run_in) in enumerate(zip(runs, shown, heights_in, strict=True)):
        top_in -= _TITLE + run_in
        box = (left_in / _WIDTH, top_in / height_in, 1 - (left_in + _RIGHT) / _WIDTH, run_in / height_in)
        ax = figure.add_axes(box, xlim=(0, _ROOM * last_s), ylim=(max(1, len(lanes)), 0))
        top_in -= _BETWEEN
        _draw_lanes(ax, run, lanes, left_in)
        _say_above(ax, run, left_in)
        ax.xaxis.set_major_locator(MaxNLocator(7, steps=(1, 2, 5, 10)))
        ax.tick_params(axis="x", labelsize=_NAME_PT, labelbottom=at == len(runs) - 1)
    ax.set_xlabel("seconds", fontsize=_NAME_PT, labelpad=0)
    if key:
        place = (_EDGE / _WIDTH, 0.1 / height_in)
        figure.text(*place, "\n".join(map(literal, key)), fontsize=_SMALL_PT, color=MARK, va="bottom")
    return figure


def _key(shown: Sequence[Sequence[Lane]]) -> list[str]:
    """Return the lines below the picture: how it is read, and what each load does."""
    who: dict[str, list[str]] = {}
    for says, name in dict.fromkeys((lane.says, lane.called) for lanes in shown for lane in lanes):
        who.setdefault(says, []).append(name)
    does = [f"{', '.join(names)}: {says}" for says, names in who.items()]
    stand = " The programs are stand-ins." if any(lane.called != lane.name for lanes in shown for lane in lanes) else ""
    hatched = " Hatched: writing fast." if any(lane.role == "offender" for lanes in shown for lane in lanes) else ""
    text = f"Line: at work. Tall bar: frozen; its longest is on the right.{hatched}{stand} {'; '.join(does)}."
    lines = [line.replace(_TIED, " ") for line in wrap(re.sub(r"(?<=\d) (?=\w)", _TIED, text), _KEY_LETTERS)]
    return lines if len(lines) <= _KEY_LINES else [*lines[: _KEY_LINES - 1], f"{lines[_KEY_LINES - 1]} …"]


def _draw_lanes(ax: Axes, run: Lanes, lanes: Sequence[Lane], left_in: float) -> None:
    last_s = ax.get_xlim()[1]
    per_letter_s = last_s * _NAME_PT / 72 * _LETTER / (_WIDTH - left_in - _RIGHT)
    for at, lane in enumerate(lanes):
        middle = at + 0.5
        if lane.worked:
            _bar(ax, lane.start_ns, lane.end_ns, middle, **_working(lane))
        for start_ns, end_ns in lane.frozen_ns:
            _bar(ax, start_ns, end_ns, middle, _TALL, facecolor=FROZEN, zorder=3)
            text, center_s = duration(end_ns - start_ns), (start_ns + end_ns) / 2 / NS_PER_S
            if per_letter_s * len(text) < (end_ns - start_ns) / NS_PER_S:
                look = {"ha": "center", "va": "center", "color": "white", "fontweight": "bold", "zorder": 4}
                ax.text(center_s, middle, text, fontsize=_NAME_PT, **look)
        if lane.frozen_ns:
            said: dict[str, Any] = {"fontsize": _LONGEST_PT, "fontweight": "bold", "color": FROZEN, "va": "center"}
            beside = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "annotation_clip": False}
            ax.annotate(duration(lane.longest_ns), (1, middle), (5, 0), **said, **beside)
    names = [_name(lane) for lane in lanes]
    room_pt = 72 * (left_in - _EDGE) / (_LETTER * max(map(len, names), default=1))
    ax.set_yticks([at + 0.5 for at in range(len(lanes))], names, fontsize=min(_NAME_PT, room_pt))
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.grid(axis="x", color=GRID, linewidth=0.8)
    for at in range(1, len(lanes)):
        ax.axhline(at, color=GRID, linewidth=0.8)  # or two programs that freeze together look like one
    ax.set_axisbelow(True)
    if run.begins_ns is not None:
        ax.axvline(run.begins_ns / NS_PER_S, color=MARK, linewidth=1.4, linestyle=(0, (4, 3)), zorder=5)


def _name(lane: Lane) -> str:
    name = lane.called if len(lane.called) <= _NAME_LETTERS else lane.name
    return literal(shorten(name, _NAME_LETTERS, placeholder="…") or name[:_NAME_LETTERS])


def _working(lane: Lane) -> dict[str, Any]:
    if lane.role == "offender":
        return {"height": _HATCHED, "facecolor": "white", "edgecolor": WORKING, "hatch": "////", "linewidth": 1.0}
    return {"height": _THIN, "facecolor": WORKING}


def _bar(ax: Axes, start_ns: int, end_ns: int, middle: float, height: float, **look: Any) -> None:
    start_s, end_s = start_ns / NS_PER_S, end_ns / NS_PER_S
    wide = max(end_s - start_s, _LEAST_WIDTH * ax.get_xlim()[1])
    ax.add_artist(Rectangle((start_s, middle - height / 2), wide, height, **({"linewidth": 0} | look)))


def _say_above(ax: Axes, run: Lanes, left_in: float) -> None:
    """Write a run's title, its longest freeze, and who begins at the dashed line."""
    place = {"xycoords": "axes fraction", "textcoords": "offset points", "annotation_clip": False}
    left_pt = -72 * (left_in - _EDGE)
    failed = " (this run did not succeed)" if run.failure else ""
    title, size_pt, at_pt = run.title + failed, float(_HEAD_PT), 24
    if len(title) > _TITLE_LETTERS:
        title, size_pt, at_pt = "\n".join(wrap(title, _LONG_LETTERS, max_lines=2, placeholder=" …")), _SMALL_PT, 21
    look: dict[str, Any] = {"fontsize": size_pt, "fontweight": "bold", "va": "baseline", "linespacing": 1.1}
    ax.annotate("\n".join(map(literal, title.split("\n"))), (0, 1), (left_pt, at_pt), **look, **place)
    longest = run.longest_ns
    text = f"longest freeze {duration(longest)}" if longest else f"no freeze over {duration(run.bound_ns)}"
    large: dict[str, Any] = {"fontsize": _LARGE_PT, "fontweight": "bold", "color": FROZEN if longest else MARK}
    ax.annotate(text, (1, 1), (72 * (_RIGHT - _EDGE), 24), ha="right", va="baseline", **large, **place)
    if run.begins_ns is not None:
        begins_s = run.begins_ns / NS_PER_S
        is_left = begins_s < ax.get_xlim()[1] / 2
        offender = next(
            lane.called
            for lane in run.lanes
            if lane.role == "offender" and lane.worked and lane.start_ns == run.begins_ns
        )
        ax.annotate(
            literal(f"{offender} begins"),
            (begins_s, 1), (4 if is_left else -4, 5), xycoords=("data", "axes fraction"), textcoords="offset points",
            ha="left" if is_left else "right", fontsize=_SMALL_PT, color=MARK, annotation_clip=False,
        )  # fmt: skip
