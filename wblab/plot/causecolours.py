"""The colour of each cause of a pause, the same in every picture and page; related kinds of wait share a hue.

Colour-blind readers can distinguish the families' first colours from one another and from those of loads.
"""

from collections.abc import Iterable

from wblab.analysis.why.account import ASLEEP, RUNNABLE, RUNNING, UNEXPLAINED
from wblab.plot.colours import OTHERS, PAUSE

UNKNOWN = "#FFFFFF"  # drawn with a border or hatched, so that it looks like a gap

FAMILIES = {
    PAUSE: ("throttled", "group throttled", "flusher"),
    "#3B0A57": (
        *("journal writes block", "transaction locked", "transaction switching", "transaction full", "open handles"),
        *("journal full", "log space", "log buffer", "pinned inode", "busy extent", "btrfs transaction"),
        *("btrfs space", "checkpoint"),
    ),
    "#C45FE6": ("commit", "log write", "fast commit"),
    "#E3BE8F": ("folio under writeback", "folio locked"),
    "#F0E442": ("inode under writeback",),
    "#5A1A00": ("buffer", "XFS block", "XFS block locked", "btrfs extent", "btrfs block"),
    "#8A6239": (
        *("request", "write-back throttling", "flush", "direct write", "direct writes of others", "queue frozen"),
        *("array", "served"),
    ),
    "#FF9EC6": ("reclaim", "pool"),
    "#7FC845": ("lock", "file lock", "task", "io_uring", "work", "grace period"),
    "#DDDDDD": (RUNNING,),
    OTHERS: (RUNNABLE, ASLEEP, "stopped", "frozen"),
}
_LIGHTEST = 0.85  # of the way to white; the kinds of a family are evenly spaced
_OF = {
    what: (colour, _LIGHTEST * place / len(kinds))
    for colour, kinds in FAMILIES.items()
    for place, what in enumerate(kinds)
}


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
