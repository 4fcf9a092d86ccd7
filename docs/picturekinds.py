"""Pictures only of the docs: kept figures as a curve, cells of tables as bars, and where a file lies on its disk."""

import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from words import Cell

from wblab.analysis.runs.fileextents import read_extents
from wblab.analysis.runs.run import Run
from wblab.claims.finding import kept
from wblab.claims.finding.finding import Point, read
from wblab.core.fiemap import Extent
from wblab.plot.artists import PictureFigure, new_figure
from wblab.plot.style import CURVE, FROZEN, GRID, MARK, NEUTRAL
from wblab.report.quantities import duration, size

_WIDTH_IN, _DPI = 8.0, 150
_HEAD_PT, _NAME_PT, _LABEL_PT, _SMALL_PT = 15, 14, 11.5, 11
_NS = 1e9
Axes = Any  # matplotlib.axes.Axes


def curve(finding: Path, given: Mapping[str, Any]) -> tuple[PictureFigure, str]:
    """Return a finding's kept values as a curve: median and range for each point, and what one sees.

    given: title, x, key: texts; like: the value of the finding whose matrix, loads and metric they have; axis: of the
    matrix; point: of each the level on it, and its label.
    """
    measured = kept.read(finding)
    labels, middles, lows, highs = [], [], [], []
    value = read(finding).value[given["like"]]
    for each in given["point"]:
        values = measured[Point(value.matrix, ((given["axis"], each["level"]),))].values(value)
        labels.append(each["label"])
        middles.append(statistics.median(values))
        lows.append(min(values))
        highs.append(max(values))
    figure = new_figure(4.8, width_in=_WIDTH_IN, dpi=_DPI)
    ax: Axes = figure.add_axes((0.115, 0.27, 0.865, 0.6))
    at = range(len(labels))
    ax.fill_between(at, lows, highs, color=FROZEN, alpha=0.18, linewidth=0)
    ax.plot(at, middles, "o-", color=FROZEN, linewidth=2.5, markersize=9)
    top = max(middles)
    for x, middle in zip(at, middles, strict=True):
        ax.annotate(
            duration(round(middle * _NS)), (x, middle), (0, 12), textcoords="offset points", ha=_beside(middles, x),
            fontsize=_LABEL_PT, fontweight="bold", color=FROZEN if middle > top / 100 else MARK,
        )  # fmt: skip
    ax.set_xticks(list(at), labels, fontsize=_NAME_PT)
    ax.tick_params(axis="y", labelsize=_NAME_PT)
    ax.set(xlim=(-0.4, len(labels) - 0.6), ylim=(-0.02 * top, 1.22 * max(highs)))
    ax.set_xlabel(given["x"], fontsize=_NAME_PT, labelpad=2)
    ax.set_ylabel("seconds", fontsize=_NAME_PT)
    ax.grid(axis="y", color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    figure.text(0.015, 0.93, given["title"], fontsize=_HEAD_PT, fontweight="bold", color=MARK)
    figure.text(0.015, 0.025, given["key"], fontsize=_SMALL_PT, color=MARK)
    ends = [
        f"{label.replace(chr(10), ' ')}: {duration(round(middle * _NS))}"
        for label, middle in zip(labels, middles, strict=True)
    ]
    return figure, f"{given['title']}. {'; '.join(ends)}"


def _beside(values: Sequence[float], at: int) -> str:
    """Return where a point's label stands, so that no steep line goes through it: left, right, or above the point."""
    before, after = values[max(0, at - 1)], values[min(len(values) - 1, at + 1)]
    steep = max(values) / 3
    return "right" if after - values[at] > steep else "left" if before - values[at] > steep else "center"


def places(runs: Sequence[tuple[Run, str]]) -> tuple[PictureFigure, str]:
    """Return where the pieces of each run's one file lie on its disk, a line for each disk, and what one sees."""
    height_in = 0.72 * len(runs) + 1.1
    figure = new_figure(height_in, width_in=_WIDTH_IN, dpi=_DPI)
    ax: Axes = figure.add_axes((0.03, 0.9 / height_in, 0.94, 1 - 0.95 / height_in))
    said: dict[str, list[str]] = {}
    for at, (run, title) in enumerate(runs):
        pieces = _pieces(run)
        first, last = pieces[0].physical, max(one.physical + one.length for one in pieces)
        apart = size(last - first)
        said.setdefault(title, []).append(apart)
        far = last - first > _disk_bytes(run) / 100
        colour = FROZEN if far else CURVE
        ax.plot([0, _disk_bytes(run) / 2**30], [at, at], color=GRID, linewidth=9, solid_capstyle="butt", zorder=1)
        ax.plot([first / 2**30, last / 2**30], [at, at], color=colour, linewidth=2, zorder=2)
        ax.plot(
            [one.physical / 2**30 for one in pieces], [at] * len(pieces), "s", color=colour, markersize=11, zorder=3
        )
        ax.annotate(title, (0, at), (0, 12), textcoords="offset points", fontsize=_NAME_PT, color=MARK)
        ax.annotate(
            f"{apart} apart", (1, at), (0, 12), xycoords=("axes fraction", "data"), textcoords="offset points",
            ha="right", fontsize=_NAME_PT, fontweight="bold", color=colour,
        )  # fmt: skip
    ax.set(ylim=(len(runs) - 0.6, -0.75), xlim=(-0.1, _disk_bytes(runs[0][0]) / 2**30))
    ax.set_yticks([])
    ax.tick_params(axis="x", labelsize=_NAME_PT)
    ax.set_xlabel("place on the disk, GiB", fontsize=_NAME_PT)
    ax.spines[["top", "right", "left"]].set_visible(False)
    figure.text(0.03, 0.1 / height_in, "Squares: the pieces of one file of 128 KiB.", fontsize=_SMALL_PT, color=NEUTRAL)
    words = [f"{title}: {', '.join(dict.fromkeys(each))}" for title, each in said.items()]
    return figure, f"How far apart the pieces of one file of 128 KiB lie. {'. '.join(words)}"


def _pieces(run: Run) -> list[Extent]:
    ((record,),) = (files.values() for files in read_extents(run.path, run.spec).values())
    return sorted(record.extents, key=lambda one: one.physical)


def _disk_bytes(run: Run) -> int:
    ((_, disk),) = run.spec.disks.items() if hasattr(run.spec, "disks") else run.spec.disk.items()
    return int(disk.size)


_OF = re.compile(r"([\d,]+) of ([\d,]+)")  # a count: how many of how many
_BAR_IN, _LABEL_SHARE, _TEXT_SHARE = 0.42, 0.33, 0.25


def bars(given: Mapping[str, Any]) -> tuple[PictureFigure, str]:
    """Return cells of a page's tables as bars, each with what the cell says beside it, and what one sees.

    given: bars: the page; title, key: texts; bar: of each the row and the column of its cell, its label, and whether
    it is one of those that the title is about.
    """
    cells = [
        (each["label"], Cell(given["bars"], each["row"], each["column"]), each.get("red", False))
        for each in given["bar"]
    ]
    key_in = 0.42 if given.get("key") else 0.12
    height_in = 0.62 + _BAR_IN * len(cells) + key_in
    figure = new_figure(height_in, width_in=_WIDTH_IN, dpi=_DPI)
    box = (_LABEL_SHARE, key_in / height_in, 1 - _LABEL_SHARE - _TEXT_SHARE, 1 - (key_in + 0.62) / height_in)
    ax: Axes = figure.add_axes(box)
    for at, (_, cell, is_red) in enumerate(cells):
        colour = FROZEN if is_red else NEUTRAL
        ax.barh(at, _length(cell), height=0.62, color=colour, linewidth=0)
        if "(" in cell.text() and not _OF.search(cell.text()):
            low, high = (replace(cell, part=part).value() for part in ("least", "most"))
            ax.plot([low, high], [at, at], "|-", color=MARK, linewidth=1.5, markersize=9)
        ax.annotate(
            cell.text().split(" (")[0], (1, at), (6, 0), xycoords=("axes fraction", "data"), va="center",
            textcoords="offset points", fontsize=_NAME_PT, fontweight="bold",
            color=FROZEN if is_red and _length(cell) else MARK,
        )  # fmt: skip
    most = max(ax.dataLim.x1, *(_length(cell) for _, cell, _ in cells))
    ax.set(xlim=(0, most or 1), ylim=(len(cells) - 0.5, -0.5), xticks=[])
    ax.set_yticks(range(len(cells)), [label for label, *_ in cells], fontsize=_NAME_PT)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    figure.text(0.015, 1 - 0.42 / height_in, given["title"], fontsize=_HEAD_PT, fontweight="bold", color=MARK)
    figure.text(0.015, 0.1 / height_in, given.get("key", ""), fontsize=_SMALL_PT, color=MARK)
    return figure, f"{given['title']}. {'; '.join(f'{label}: {cell.text()}' for label, cell, _ in cells)}"


def _length(cell: Cell) -> float:
    """Return how long a cell's bar is: of a count, its share."""
    if found := _OF.search(cell.text()):
        part, whole = (int(number.replace(",", "")) for number in found.groups())
        return part / whole
    return cell.value()
