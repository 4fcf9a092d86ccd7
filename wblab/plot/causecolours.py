"""Which colour a cause of a pause has, in every picture and page: kinds of wait for the same thing have shades of one.

Colour-blind readers can tell the first colours of the families from one another, and from those of loads.
"""

from collections.abc import Iterable

from wblab.plot.colours import OTHERS, PAUSE
from wblab.why.account import ASLEEP, RUNNABLE, RUNNING, UNTOLD

UNKNOWN = "#FFFFFF"  # drawn with a border, or hatched, so that it is seen as a gap

FAMILIES = {
    PAUSE: ("throttled", "group throttled", "flusher"),
    "#3B0A57": (
        *("journal writes block", "transaction locked", "transaction switching", "open handles"),
        *("journal full", "log space", "log buffer", "pinned inode"),
    ),
    "#C45FE6": ("commit", "log write", "fast commit", "btrfs transaction", "checkpoint"),
    "#7B5EA7": ("transaction full", "busy extent", "btrfs space"),
    "#E3BE8F": ("folio under writeback", "folio locked", "btrfs extent"),
    "#F0E442": ("inode under writeback",),
    "#5A1A00": ("buffer", "XFS block", "XFS block locked"),
    "#8A6239": (
        *("request", "write-back throttling", "flush", "direct write", "direct writes of others", "queue frozen"),
        *("array", "served"),
    ),
    "#FF9EC6": ("reclaim", "pool"),
    "#7FC845": ("lock", "task", "file lock", "work", "grace period"),
    "#DDDDDD": (RUNNING,),
    OTHERS: (RUNNABLE, ASLEEP),
}
_OF = {what: (colour, place) for colour, kinds in FAMILIES.items() for place, what in enumerate(kinds)}
_LIGHTER = 0.12  # of what is left to white, with each further kind of a family
_MOST_LIGHT = 0.85


def cause_colours(parts: Iterable[str]) -> dict[str, str]:
    """Return the colour of each part: a kind of wait by its name, or what else a task did."""
    return {what: cause_colour(what) for what in parts}


def cause_colour(what: str) -> str:
    """Return the colour of one part."""
    if what == UNTOLD:
        return UNKNOWN
    colour, place = _OF.get(what, (OTHERS, 0))
    share = min(_MOST_LIGHT, _LIGHTER * place)
    mixed = (round(value + share * (255 - value)) for value in bytes.fromhex(colour[1:]))
    return f"#{bytes(mixed).hex().upper()}"
