"""One place for what all pictures share: colours that colour-blind readers can tell apart, and the rest."""

from collections.abc import Collection
from typing import Any

from wblab.lab.printable import printable

# Okabe and Ito, "Color Universal Design" (2008).
CYCLE = "#0072B2"
PAUSE = "#D55E00"
CONTROL = "#009E73"
OFFENDER = "#6B6B6B"
MARK = "#333333"
GRID = "#DDDDDD"

# The page cache: areas are light, the thresholds that they meet are lines.
DIRTY = "#9CCBE8"
WRITEBACK = "#E3B5D0"
LIMIT = "#D55E00"
THRESHOLD = "#E69F00"
BACKGROUND = "#009E73"
LOST = "#F0E442"

# For series that have no colour of their own, in the order of their weight.
SERIES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#6B6B6B", "#000000")

# What fits beside a title, in letters; a line or patch in a legend takes as much as so many.
_ROW_LETTERS = 95
_HANDLE_LETTERS = 6
LEGEND_ROW_IN = 0.17

WIDTH_IN = 12.0
PANE_HEIGHT_IN = 1.25
DPI = 120


def new_axes(panes: float = 2) -> Any:
    """Return the axes of a figure of its own, as high as so many panes. Needs no display."""
    from matplotlib.figure import Figure

    return Figure(figsize=(WIDTH_IN, panes * PANE_HEIGHT_IN), dpi=DPI, layout="constrained").subplots()


def literal(text: str) -> str:
    """Return a text of somebody else so that Matplotlib draws it as it is: on one line, and $ begins no formula."""
    return printable(text).replace("$", r"\$")


def task_colours(tasks: Any) -> dict[str, str]:
    """Return a colour for each task that occurs: the most frequent first, those without a colour left out."""
    import numpy as np

    names, counts = np.unique(np.asarray(tasks, dtype=str), return_counts=True)
    ordered = sorted(zip(names.tolist(), counts.tolist(), strict=True), key=lambda item: (-item[1], item[0]))
    return dict(zip((name for name, _ in ordered), SERIES, strict=False))


def legend_rows(labels: Collection[str]) -> int:
    """Return how many rows a legend needs beside a pane's title."""
    return 1 if sum(len(label) + _HANDLE_LETTERS for label in labels) <= _ROW_LETTERS else 2


def legend_above(ax: Any) -> None:
    """Explain a pane's lines on its right, beside its title; in a second row above where one is not enough."""
    if labels := ax.get_legend_handles_labels()[1]:
        ax.legend(
            loc="lower right",
            bbox_to_anchor=(1.0, 0.98),
            ncols=-(-len(labels) // legend_rows(labels)),
            frameon=False,
            fontsize=8.5,
            handlelength=1.2,
            columnspacing=1.2,
            borderaxespad=0,
            markerscale=3,
        )
