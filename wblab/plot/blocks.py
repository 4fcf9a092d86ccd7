"""Sizes of writes on their way down to the disk, and waits at a mirror's barrier."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import LinearSegmentedColormap

from wblab.analysis.runs.blocks import Submitted
from wblab.core.units import NS_PER_S
from wblab.plot.colours import SERIES
from wblab.plot.style import GRID, MARK, NEUTRAL, literal

_KIB, _MIB = 1 << 10, 1 << 20
_SHARE = LinearSegmentedColormap.from_list("share", ["#FFFFFF", SERIES[0]])
_DARK = 0.6  # from this share on, the number is white
_WAITED_MS = 0.1  # a shorter delay does not count as a wait at the barrier
_BOX = 0.7  # a box's share of its row's height


def plot_size_classes(classes: pd.DataFrame, *, ax: Axes) -> Axes:
    """Draw `size_classes`, one row per step: the number of writes of each size; darker: more of the row's bytes."""
    counts = classes.to_numpy()
    weights = counts * classes.columns.to_numpy(np.int64)
    shares = weights / weights.sum(axis=1, keepdims=True)
    ax.imshow(shares, cmap=_SHARE, vmin=0, vmax=1, aspect="auto")
    for (row, column), count in np.ndenumerate(counts):
        if count:
            colour = "white" if shares[row, column] > _DARK else MARK
            ax.text(column, row, str(count), ha="center", va="center", color=colour, fontsize=9)
    ax.set_xticks(range(len(classes.columns)), [str(size) for size in classes.columns])
    ax.set_yticks(range(len(classes)), [_row(*place) for place in classes.index])
    for row, (above, below) in enumerate(zip(classes.index, classes.index[1:], strict=False)):
        if above[0] != below[0]:
            ax.axhline(row + 0.5, color=NEUTRAL, linewidth=1)
    ax.set_xlabel("size of a write (at most, KiB)")
    ax.tick_params(length=0)
    ax.spines[:].set_color(GRID)
    return ax


def plot_spans(rows: Mapping[tuple[str, str], Submitted], place: int, size: int, *, ax: Axes) -> Axes:
    """Draw a stretch of the disk, given in bytes: one row per step, one box for each bio or request."""
    for row, found in enumerate(rows.values()):
        inside = found.inside(place, size)
        starts, ends = (inside.place - place) / _KIB, (inside.place + inside.size - place) / _KIB
        low, high = row - _BOX / 2, row + _BOX / 2
        boxes = [
            [(start, low), (end, low), (end, high), (start, high)] for start, end in zip(starts, ends, strict=True)
        ]
        colour = SERIES[row % len(SERIES)]
        ax.add_collection(PolyCollection(boxes, facecolors=colour, edgecolors="white", linewidths=0.8))
        ax.annotate(
            f"{len(inside)}", (1, row), (4, 0), ("axes fraction", "data"), "offset points", va="center", color=colour
        )
    ax.set_xlim(0, size / _KIB)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_yticks(range(len(rows)), [_row(*step) for step in rows])
    ax.set_xlabel(f"offset on the disk (KiB after {place / _MIB:g} MiB); right: number of bios or requests")
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax


def plot_barrier(delayed: pd.DataFrame, copied: Submitted, unit: int, zero_ns: int, *, ax: Axes) -> Axes:
    """Draw the `delayed` writes to a mirror by time and offset, larger the longer they waited, and the resync's reads.

    unit: the barrier's, in bytes.
    """
    ax.plot(_seconds(copied.ts_ns, zero_ns), copied.place / _MIB, color=NEUTRAL, linewidth=1.2, label="resync")
    waited = delayed["delay_ms"] > _WAITED_MS
    for rows, colour, label in (
        (~waited, SERIES[4], "writes that did not wait"),
        (waited, SERIES[5], "writes that waited"),
    ):
        some = delayed[rows]
        areas = 8 + 4 * some["delay_ms"].to_numpy()
        at = _seconds(some["ts_ns"].to_numpy(), zero_ns)
        ax.scatter(at, some["place"] / _MIB, s=areas, color=colour, alpha=0.7, linewidths=0, label=label)
    highest = delayed["place"].max()
    for border in np.arange(0, highest + unit, unit):
        ax.axhline(border / _MIB, color=GRID, linewidth=0.8, zorder=0)
    ax.set_xlabel("time (s)")
    ax.set_ylabel("offset on the mirror (MiB)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return ax


def _row(disk: str, step: str) -> str:
    return literal(f"{disk}: {step}" if disk else step)


def _seconds(times_ns: np.ndarray, zero_ns: int) -> np.ndarray:
    return (times_ns - zero_ns) / NS_PER_S
