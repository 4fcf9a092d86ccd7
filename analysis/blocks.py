"""The tables and figures of blocks.ipynb: sizes of writes on their way down to the disk, and a mirror's barrier.

The functions that draw take axes, or make new ones, and return them.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import LinearSegmentedColormap

from wblab import Run
from wblab.analysis.runs.blocks import BIOS, disks_from_above, names_of, steps, submitted
from wblab.core.units import NS_PER_MS, NS_PER_S
from wblab.plot.artists import new_axes
from wblab.plot.style import GRID, MARK, NEUTRAL, SERIES, literal

_SECTOR, _KIB, _MIB = 512, 1 << 10, 1 << 20
_SHARE = LinearSegmentedColormap.from_list("share", ["#FFFFFF", SERIES[0]])
_DARK = 0.6  # from this share on, the number is white
_WAITED_MS = 0.1  # a shorter delay does not count as a wait at the barrier
_BOX = 0.7  # a box's share of its row's height
_BARRIER_BYTES = 64 << 20  # BARRIER_UNIT_SECTOR_SIZE, drivers/md/raid1-10.h
_STRETCH_BYTES, _SHOWN_BYTES = 2 << 20, 512 << 10


def steps_frame(run: Run) -> pd.DataFrame:
    """Return the number and the sizes (KiB) of a run's writes by disk and step, from the top down."""
    rows = [
        (*place, len(it), *(size / _KIB for size in (it.size.sum(), it.size.min(), it.size.mean(), it.size.max())))
        for place, it in steps(run.trace).items()
    ]
    columns = ["disk", "step", "writes", "total_kib", "smallest_kib", "mean_kib", "largest_kib"]
    return pd.DataFrame(rows, columns=columns).set_index(columns[:2])


def splits(run: Run) -> dict[str, int]:
    """Return the number of bios that each disk's layer split."""
    names = names_of(run.trace, run.trace.events("block_split")["dev"])
    return {disk: int((names == disk).sum()) for disk in disks_from_above(run.trace)}


def size_classes(run: Run) -> pd.DataFrame:
    """Return the number of writes by step (rows, as `steps_frame`) and largest size in KiB (columns)."""
    counts = {}
    for place, found in steps(run.trace).items():
        exponents = np.ceil(np.log2(found.size / _KIB)).astype(int).clip(min=0)
        sizes, numbers = np.unique(exponents, return_counts=True)
        counts[place] = {1 << size: number for size, number in zip(sizes.tolist(), numbers.tolist(), strict=True)}
    frame = pd.DataFrame.from_dict(counts, orient="index").fillna(0).astype(int)
    return frame[sorted(frame.columns)]


def plot_sizes(run: Run, *, ax: Axes | None = None) -> Axes:
    """Draw `size_classes`, one row per step: the number of writes of each size; darker: more of the row's bytes."""
    classes = size_classes(run)
    ax = ax or new_axes(0.35 * len(classes) + 0.7)
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


def plot_spans(run: Run, *places: tuple[str, str], ax: Axes | None = None) -> Axes:
    """Draw the first 512 KiB of the busiest 2 MiB of the disk: one row per place, one box for each bio or request.

    places: disks and steps of `steps_frame`; the last decides which stretch is the busiest.
    """
    ax = ax or new_axes(1.8)
    found = steps(run.trace)
    last = found[places[-1]]
    stretches, of = np.unique(last.place // _STRETCH_BYTES, return_inverse=True)
    start = int(stretches[np.argmax(np.bincount(of, last.size))]) * _STRETCH_BYTES
    for row, place in enumerate(places):
        inside, colour = found[place].inside(start, _SHOWN_BYTES), SERIES[row % len(SERIES)]
        low, high = row - _BOX / 2, row + _BOX / 2
        starts, ends = (inside.place - start) / _KIB, (inside.place + inside.size - start) / _KIB
        boxes = [[(a, low), (b, low), (b, high), (a, high)] for a, b in zip(starts, ends, strict=True)]
        ax.add_collection(PolyCollection(boxes, facecolors=colour, edgecolors="white", linewidths=0.8))
        at_end = ("axes fraction", "data")
        ax.annotate(f"{len(inside)}", (1, row), (4, 0), at_end, "offset points", va="center", color=colour)
    ax.set(xlim=(0, _SHOWN_BYTES / _KIB), ylim=(len(places) - 0.5, -0.5))
    ax.set_yticks(range(len(places)), [_row(*place) for place in places])
    ax.set_xlabel(f"offset on the disk (KiB after {start / _MIB:g} MiB); right: number of bios or requests")
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax


def delayed(run: Run, mirror: str) -> pd.DataFrame:
    """Return for each write to a RAID1 its time (s), its offset (bytes), and the delay until it was remapped (ms).

    The barrier causes the delay: raid1_write_request() in drivers/md/raid1.c.
    """
    bios = submitted(run.trace, BIOS).of(mirror)
    bios = bios.where(bios.write)
    remaps = run.trace.events("block_bio_remap")
    own = names_of(run.trace, remaps["old_dev"]) == mirror
    places = remaps["old_sector"][own].astype(np.int64) * _SECTOR
    below = pd.DataFrame({"ts_ns": remaps.ts_ns[own], "place": places, "on_ns": remaps.ts_ns[own]})
    came = pd.DataFrame({"ts_ns": bios.ts_ns, "place": bios.place})
    pairs = pd.merge_asof(came, below, on="ts_ns", by="place", direction="forward").dropna()
    delay_ms = (pairs["on_ns"] - pairs["ts_ns"]) / NS_PER_MS
    return pd.DataFrame(
        {"at_s": (pairs["ts_ns"] - run.zero_ns) / NS_PER_S, "place": pairs["place"], "delay_ms": delay_ms}
    )


def plot_barrier(run: Run, mirror: str, disk: str, *, ax: Axes | None = None) -> Axes:
    """Draw the `delayed` writes to a mirror by time and offset, larger the longer they waited, and the resync's reads.

    disk: the one from which the resync copies.
    """
    ax, writes = ax or new_axes(2.8), delayed(run, mirror)
    copied = submitted(run.trace, BIOS).of(disk).by("resync")
    copied_s = (copied.ts_ns - run.zero_ns) / NS_PER_S
    ax.plot(copied_s, copied.place / _MIB, color=NEUTRAL, linewidth=1.2, label="resync")
    waited = writes["delay_ms"] > _WAITED_MS
    looks = (~waited, SERIES[4], "writes that did not wait"), (waited, SERIES[5], "writes that waited")
    for rows, colour, label in looks:
        some = writes[rows]
        areas = 8 + 4 * some["delay_ms"]
        ax.scatter(some["at_s"], some["place"] / _MIB, s=areas, color=colour, alpha=0.7, linewidths=0, label=label)
    for border in np.arange(0, writes["place"].max() + _BARRIER_BYTES, _BARRIER_BYTES):
        ax.axhline(border / _MIB, color=GRID, linewidth=0.8, zorder=0)
    ax.set(xlabel="time (s)", ylabel="offset on the mirror (MiB)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return ax


def _row(disk: str, step: str) -> str:
    return literal(f"{disk}: {step}" if disk else step)
