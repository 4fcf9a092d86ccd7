"""The common look of all pictures: colours other than those of loads (see colours.py), sizes and legends."""

from collections.abc import Collection, Mapping
from typing import Any

from wblab.core.loads import Load
from wblab.lab.printable import printable
from wblab.plot.colours import OTHERS, PAUSE, SERIES, load_colours

MARK = "#333333"
GRID = "#DDDDDD"
CURVE = "#0072B2"
NEUTRAL = "#6B6B6B"

# The page cache: areas are light, thresholds are lines.
DIRTY = "#9CCBE8"
WRITEBACK = "#E3B5D0"
LIMIT = "#D55E00"
THRESHOLD = "#E69F00"
BACKGROUND = "#009E73"
LOST = "#F0E442"

# Letters that fit beside a title, and the width of a legend's line or patch in letters.
_ROW_LETTERS = 95
_HANDLE_LETTERS = 6
LEGEND_ROW_IN = 0.17

WIDTH_IN = 12.0
PANE_HEIGHT_IN = 1.25
DPI = 120


def look(loads: Mapping[str, Load | type[Load]]) -> dict[str, object]:
    """Return the colours of the lab's pictures, for the monitor's page."""
    return {
        "dirty": DIRTY,
        "writeback": WRITEBACK,
        "limit": LIMIT,
        "threshold": THRESHOLD,
        "background": BACKGROUND,
        "pause": PAUSE,
        "others": OTHERS,
        "series": SERIES,
        "loads": load_colours(loads),
    }


def new_axes(panes: float = 2) -> Any:
    """Return the axes of a new figure, as high as `panes` panes. Needs no display."""
    from wblab.plot.figure import new_figure

    return new_figure(panes * PANE_HEIGHT_IN, layout="constrained").subplots()


def literal(text: str) -> str:
    """Return an untrusted text escaped for Matplotlib: on one line, without formulas."""
    return printable(text).replace("$", r"\$")


def legend_rows(labels: Collection[str]) -> int:
    """Return the number of rows of a legend beside a pane's title."""
    return 1 if sum(len(label) + _HANDLE_LETTERS for label in labels) <= _ROW_LETTERS else 2


def legend_above(ax: Any) -> None:
    """Add a legend above a pane, to the right of its title, in one row or two."""
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
