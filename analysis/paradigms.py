"""The tables and figures of paradigms.ipynb: main loops compared by their way of doing I/O."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from wblab import Run
from wblab.analysis.runs.run import guest_spec
from wblab.core.loads import Loop, Serve
from wblab.core.units import NS_PER_S, format_bytes
from wblab.plot.artists import new_axes
from wblab.plot.style import GRID, SERIES

_LEAST_S = 1e-5  # smaller values, and 0, are drawn here
_APART = 0.15


def loop_frame(runs: Iterable[Run]) -> pd.DataFrame:
    """Return a row for each main loop of each run: its work, disk and paradigm, and how it responded.

    longest_s: the longest time without a response. stopped, dropped: the shares of its time without a response, and of
    its work that it dropped.
    """
    loops = [
        (item, item.load, spec.seed, spec.disk[spec.disk_of(item.name)])
        for run in runs
        for spec in (guest_spec(run),)
        for item in run.loads
        if isinstance(item.load, Loop | Serve)
    ]
    rows = [
        {
            "work": "log" if isinstance(load, Loop) else "objects",
            "filesystem": disk.filesystem,
            "write_bps": disk.write_bps,
            "paradigm": load.paradigm,
            "seed": seed,
            "longest_s": float(item.pauses_ns.max(initial=0)) / NS_PER_S,
            "stopped": float(item.pauses_ns.sum() / max(int(item.durations_ns.sum()), 1)),
            "dropped": item.dropped / max(len(item.durations_ns), 1),
        }
        for item, load, seed, disk in loops
    ]
    return pd.DataFrame(rows)


def worst(frame: pd.DataFrame, figure: str = "longest_s") -> pd.DataFrame:
    """Return a figure's worst seed by work and paradigm (rows), and by filesystem and rate of the disk (columns)."""
    index, columns = ["work", "paradigm"], ["filesystem", "write_bps"]
    table = frame.pivot_table(index=index, columns=columns, values=figure, aggfunc="max")
    return table.iloc[np.lexsort((table.max(axis=1), table.index.get_level_values("work")))]


def plot_stops(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw each run's longest time without a response in a `loop_frame`: a row per paradigm, a colour per disk."""
    ax = ax or new_axes(2.6)
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
