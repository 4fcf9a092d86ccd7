"""The common look of all pictures: colours of loads and of all else, sizes and legends."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from wblab.analysis.why.account import ASLEEP, RUNNABLE, RUNNING, UNEXPLAINED
from wblab.core.loads import Load
from wblab.lab.printable import printable

# Colours of loads and tasks: a load has the same one in every pane of a picture, on its page and in the monitor.
#
# Colour-blind readers can distinguish them (Okabe and Ito, "Color Universal Design", 2008). Innocent loads are blue and
# offenders are grey, so that roles can be recognised at once. No load has the colour of a pause.

PAUSE = "#D55E00"
CONTROL = "#009E73"
INNOCENT = ("#0072B2", "#56B4E9", "#332288", "#8DA0CB", "#0B4F6C", "#A6CEE3")
OFFENDERS = ("#6B6B6B", "#A0A0A0", "#3D3D3D")

# For everything without a colour of its own, most important first.
SERIES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#6B6B6B", "#000000")

OTHERS = "#BBBBBB"  # for the rest, when the series is used up


def load_colours(loads: Mapping[str, Load | type[Load]]) -> dict[str, str]:
    """Return the colour of each load by name: the next colour of its role, in the order of the spec."""
    colours, counts = {}, dict.fromkeys((INNOCENT, OFFENDERS), 0)
    for name, load in loads.items():
        if load.role == "control":
            colours[name] = CONTROL
            continue
        family = INNOCENT if load.role == "innocent" else OFFENDERS
        colours[name] = family[counts[family] % len(family)]
        counts[family] += 1
    return colours


def task_colours(tasks: Any, loads: Mapping[str, str]) -> dict[str, str]:
    """Return a colour for each task, the most frequent first; tasks without a colour are left out.

    loads: the colours of loads; a load's task has the same colour.
    """
    import numpy as np

    found, counts = np.unique(np.asarray(tasks, dtype=str), return_counts=True)
    ordered = sorted(zip(found.tolist(), counts.tolist(), strict=True), key=lambda item: (-item[1], item[0]))
    names = [name for name, _ in ordered][: len(SERIES)]
    others = dict(zip((name for name in names if name not in loads), unused(loads.values()), strict=False))
    colours = {**loads, **others}
    return {name: colours[name] for name in names if name in colours}


def unused(taken: Collection[str] | Iterable[str]) -> Sequence[str]:
    """Return the colours of the series that are not taken."""
    taken = set(taken)
    return [colour for colour in SERIES if colour not in taken]


# A latency heat map: how many cycles a cell has, from one on. One hue: the more, the darker on a light page, and the
# lighter on a dark one. One cycle has a contrast of 3 with its page, as WCAG 2.1 asks of graphics; each further step
# has 1.4 times as much.
HEAT = {1: "#4A99DE", 2: "#2F80C4", 5: "#1169AC", 20: "#03548C", 100: "#023F6B", 500: "#022847"}
HEAT_DARK = {1: "#1069AB", 2: "#2F81C5", 5: "#4A98DF", 20: "#65B4FB", 100: "#A2D0FD", 500: "#E0EEFD"}

# Lanes: a load at work, and one that is frozen.
WORKING = "#8A94A0"
FROZEN = "#B3261E"

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

# What colours of light pages become on a dark one: in pictures that change with it (`picture.themed`), on the page of
# a timeline and in the monitor. The contrast of each mark with the page is at least 3 (WCAG 2.1, 1.4.11).
DARK = {
    "#FFFFFF": "#16191C",  # the page
    "#0072B2": "#3D9BE0",
    "#332288": "#9C8CF2",
    "#0B4F6C": "#2F8FB0",
    "#6B6B6B": "#8C9298",
    "#A0A0A0": "#C3C8CD",
    "#3D3D3D": "#6A7077",
    "#000000": "#E6E8EA",
    MARK: "#E6E8EA",
    GRID: "#3A4148",
    WORKING: "#7B8791",
    WRITEBACK: "#9A5F83",
    DIRTY: "#3F83AD",
    FROZEN: "#FF7A6E",
    **{HEAT[least]: HEAT_DARK[least] for least in HEAT},
}


def on_dark(colour: str) -> str:
    """Return what stands for a colour on a dark page: often the same."""
    return DARK.get(colour, colour)


def look(loads: Mapping[str, Load | type[Load]]) -> dict[str, object]:
    """Return the colours of the lab's pictures, for the monitor's page; in `dark`, what they become on a dark one."""
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
        "dark": DARK,
    }


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


# The colour of each cause of a pause, the same in every picture and page; related kinds of wait share a hue.
#
# Eight hues, each of another lightness: L* of CIELAB from 30 to 86, in steps of 8. Colour-blind readers can distinguish
# the families' first colours from one another and from those of loads, on light pages and dark ones. What is no wait is
# grey: the less a task did, the darker.

UNKNOWN = "#FFFFFF"  # drawn with a border or hatched, so that it looks like a gap

FAMILIES = {
    "#881B35": ("buffer", "XFS block", "XFS block locked", "btrfs extent", "btrfs block"),
    "#864B0E": (
        *("request", "write-back throttling", "flush", "direct write", "direct writes of others", "queue frozen"),
        *("array", "served", "direct read"),
    ),
    "#9D3BD8": (
        *("journal writes block", "transaction locked", "transaction switching", "transaction full", "open handles"),
        *("journal full", "log space", "log buffer", "pinned inode", "busy extent", "btrfs transaction"),
        *("btrfs space", "checkpoint"),
    ),
    PAUSE: ("throttled", "group throttled", "flusher"),
    "#9688F2": ("commit", "log write", "fast commit"),
    "#FB8C7F": ("reclaim", "pool", "swap-out", "swap-in"),
    "#00DF56": ("folio under writeback", "folio locked", "inode under writeback"),
    "#ABEB29": ("lock", "file lock", "task", "io_uring", "work", "grace period"),
    "#DDDDDD": (RUNNING,),
    "#9AA3AD": (RUNNABLE,),
    "#5A6670": (ASLEEP, "stopped", "frozen"),
}
_LIGHTEST = 0.55  # of the way to white; the kinds of a family are evenly spaced
_OF = {
    what: (colour, _LIGHTEST * place / len(kinds))
    for colour, kinds in FAMILIES.items()
    for place, what in enumerate(kinds)
}


_LABELS = {"journal writes block": "block that the journal writes"}  # where a name alone sounds like a culprit


def cause_label(what: str) -> str:
    """Return what a legend calls one part of a pause: what was waited for, not who is to blame."""
    return _LABELS.get(what, what)


def cause_colours(parts: Iterable[str]) -> dict[str, str]:
    """Return the colour of each part of a pause: kinds of wait, and other states of a task, by name."""
    return {what: cause_colour(what) for what in parts}


def cause_colour(what: str) -> str:
    """Return the colour of one part of a pause."""
    if what == UNEXPLAINED:
        return UNKNOWN
    colour, share = _OF.get(what, (OTHERS, 0.0))
    mixed = (round(value + share * (255 - value)) for value in bytes.fromhex(colour[1:]))
    return f"#{bytes(mixed).hex().upper()}"
