"""One place for what all pictures share: colours that colour-blind readers can tell apart, and the rest."""

from typing import Any

# Okabe and Ito, "Color Universal Design" (2008).
CYCLE = "#0072B2"
PAUSE = "#D55E00"
CONTROL = "#009E73"
OFFENDER = "#6B6B6B"
MARK = "#333333"
GRID = "#DDDDDD"

WIDTH_IN = 12.0
PANE_HEIGHT_IN = 1.25
DPI = 120


def new_axes() -> Any:
    """Return the axes of a figure of its own, for a pane that is drawn alone. Needs no display."""
    from matplotlib.figure import Figure

    return Figure(figsize=(WIDTH_IN, 2 * PANE_HEIGHT_IN), dpi=DPI, layout="constrained").subplots()
