"""Which colour a part of a pause has: kinds of wait for the same thing have shades of one colour."""

from collections.abc import Iterable

from wblab.plot.colours import OTHERS, SERIES
from wblab.why.account import ASLEEP, RUNNABLE, RUNNING, UNTOLD

UNKNOWN = "#FFFFFF"  # drawn with a border, so that it is seen as a gap

_BLUE, _ORANGE, _GREEN, _PINK, _SKY, _RED, _GREY, _ = SERIES
_FAMILIES = {
    _RED: ("throttled", "group throttled", "flusher"),
    _BLUE: (
        *("journal writes block", "commit", "transaction locked", "transaction switching", "open handles"),
        *("transaction full", "journal full", "fast commit", "log space", "log write", "log buffer", "pinned inode"),
        *("busy extent", "btrfs transaction", "btrfs space", "checkpoint"),
    ),
    _PINK: (
        *("folio under writeback", "inode under writeback", "folio locked", "buffer", "XFS block"),
        *("XFS block locked", "btrfs extent"),
    ),
    _ORANGE: (
        *("request", "write-back throttling", "flush", "direct write", "direct writes of others", "queue frozen"),
        *("array", "served"),
    ),
    _SKY: ("reclaim", "pool"),
    _GREEN: ("lock", "file lock", "task", "work", "grace period"),
    _GREY: (RUNNING,),
    OTHERS: (RUNNABLE, ASLEEP),
}
_LIGHTEST = 0.8  # of the way to white; the kinds of a family are equally far apart
_OF = {
    what: (colour, _LIGHTEST * place / len(kinds))
    for colour, kinds in _FAMILIES.items()
    for place, what in enumerate(kinds)
}


def cause_colours(parts: Iterable[str]) -> dict[str, str]:
    """Return the colour of each part: a kind of wait by its name, or what else a task did."""
    return {what: cause_colour(what) for what in parts}


def cause_colour(what: str) -> str:
    """Return the colour of one part."""
    if what == UNTOLD:
        return UNKNOWN
    colour, share = _OF.get(what, (OTHERS, 0.0))
    mixed = (round(value + share * (255 - value)) for value in bytes.fromhex(colour[1:]))
    return f"#{bytes(mixed).hex().upper()}"
