"""The longest time that main loops were blocked, by their way of doing I/O."""

import pandas as pd
from matplotlib.axes import Axes

from wblab.core.units import format_bytes
from wblab.plot.colours import SERIES
from wblab.plot.style import GRID

_LEAST_S = 1e-5  # smaller values, and 0, are drawn here
_APART = 0.15


def plot_stops(frame: pd.DataFrame, *, ax: Axes) -> Axes:
    """Draw each run's longest time without a response in a `loop_frame`: a row per paradigm, a colour per disk."""
    order = frame.groupby("paradigm")["longest_s"].max().sort_values().index.tolist()
    disks = frame["filesystem"].astype(str) + ", " + frame["write_bps"].map(format_bytes) + "/s"
    middle = (disks.nunique() - 1) / 2
    for place, (disk, rows) in enumerate(frame.groupby(disks)):
        at = [order.index(name) + _APART * (place - middle) for name in rows["paradigm"]]
        colour = SERIES[place % len(SERIES)]
        ax.plot(rows["longest_s"].clip(lower=_LEAST_S), at, "o", color=colour, alpha=0.7, label=str(disk))
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(lambda value, place: f"{value:g}")
    ax.set_yticks(range(len(order)), order)
    ax.set_ylim(len(order) - 0.5, -0.5)
    ax.set_xlabel("longest time without a response from the loop (s); each point is a run")
    ax.grid(color=GRID, linewidth=0.5)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return ax
