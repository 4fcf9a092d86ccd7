"""The tables and the figure of layers.ipynb: an fsync as a function of the disk's latency, fsync = a + n · latency."""

from collections.abc import Iterable
from statistics import median

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from wblab import Run
from wblab.analysis.runs.run import guest_spec
from wblab.plot.artists import new_axes
from wblab.plot.style import SERIES, literal

_DISK = ["filesystem", "model", "load", "call"]


def latency_frame(runs: Iterable[Run]) -> pd.DataFrame:
    """Return a row for each run, load and call: the disk, its latency, the medians of duration and `served`, in µs."""
    rows = []
    for run in runs:
        spec, found = guest_spec(run), run.layers()
        for load, call in dict.fromkeys((each.load, each.call) for each in found):
            disk = spec.disk[spec.disk_of(load)]
            mine = [each for each in found if (each.load, each.call) == (load, call)]
            key = disk.filesystem, disk.model, load, call, disk.latency / 1000
            rows.append((*key, median(it.duration_ns for it in mine) / 1000, median(it.served for it in mine)))
    return pd.DataFrame(rows, columns=[*_DISK, "latency_us", "median_us", "served"])


def fit_line(part: pd.DataFrame) -> tuple[float, float, float]:
    """Return a line through medians by latency: its software time (a, µs), slope (n) and largest deviation (µs)."""
    latency, time = part["latency_us"].to_numpy(), part["median_us"].to_numpy()
    slope, software = np.polyfit(latency, time, 1).tolist()
    return software, slope, float(np.abs(time - software - slope * latency).max())


def lines(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each disk, load and call of a `latency_frame` with several latencies: its line, and `served`."""
    rows = [
        (*key, *fit_line(part), f"{part['served'].min():g} to {part['served'].max():g}")
        for key, part in frame.groupby(_DISK, sort=False)
        if part["latency_us"].nunique() > 1
    ]
    return pd.DataFrame(rows, columns=[*_DISK, "software_us", "slope", "most_off_us", "served"]).set_index(_DISK)


def plot_latency(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the medians of a `latency_frame` against the disk's latency, in µs, and a fitted line per filesystem."""
    ax = ax or new_axes(3)
    for place, (name, part) in enumerate(frame.groupby("filesystem", sort=False)):
        colour, latency = SERIES[place % len(SERIES)], part["latency_us"]
        ax.plot(latency, part["median_us"], "o", color=colour, alpha=0.7)
        software, slope, _ = fit_line(part)
        ends = np.array([latency.min(), latency.max()])
        label = literal(f"{name}: {software:.0f} µs + {slope:.2f} · latency")
        ax.plot(ends, software + slope * ends, color=colour, label=label)
    ax.set(xlabel="latency of the device (µs)", ylabel="median of a call (µs)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="upper left", frameon=False)
    return ax
