"""What the page says of programs and of the lab's own knobs, for a reader who never heard of writeback."""

from collections.abc import Mapping
from dataclasses import dataclass

from wblab.lab.callings import CALLINGS, doing
from wblab.publish.site.explore.positions import Lane


@dataclass(frozen=True)
class KnobWords:
    """What is said of a knob. about: what it is, before a prediction; because: why it acts so, after one."""

    title: str
    about: str
    because: str


# In the order in which data meets them, from a program to the disk.
KNOBS: Mapping[str, KnobWords] = {
    "copy": KnobWords(
        "The copy's speed",
        "how fast the copy produces data",
        "The faster the copy, the more has collected whenever Linux hands data to the disk, and the more lies ahead of "
        "a save. A slow copy leaves less, so freezes are shorter and begin later; but what it made in some seconds is "
        "handed over in one go, so they seldom go away.",
    ),
    "dirty limit": KnobWords(
        "The dirty limit",
        "how much may wait in memory: 20 % of what is free is some 27 MiB here, 10 % some 13 MiB",
        "What waits in memory is what the disk gets in one go. A higher limit puts more data ahead of a save, a lower "
        "one less. It has a price: the lower the limit, the more often Linux stops programs that need new memory for "
        "what they write.",
    ),
    "scheduler": KnobWords(
        "The I/O scheduler",
        "in which order requests that still wait in the computer go to the disk; BFQ lets programs take turns",
        "A scheduler can sort only what the disk has not been handed yet. Nearly all that lies ahead of a save has "
        "been, and the kernel wrote it for everybody, whichever program it came from: there is little left to be fair "
        "about.",
    ),
    "queue": KnobWords(
        "The disk's queue",
        "how much the disk is handed at a time, and then writes in order: up to 64 MiB a card, 2 MiB a stick",
        "A save goes to the end of this queue. A long one holds all that the copy has written; 512 KiB are written in "
        "half a second at 1 MiB/s. What freezes remain with a short queue come mostly from the dirty limit. They are "
        "the mail program's, which needs new memory for each file; the editor mostly writes into memory that it has.",
    ),
    "disk": KnobWords(
        "The disk",
        "how fast it writes; and a stick is handed less at a time than a card",
        "The same data ahead of a save takes a slower disk longer. A faster one also lets less collect while the copy "
        "runs, so four times the speed can make a freeze more than four times shorter.",
    ),
}


def lane_words(lane: Lane) -> tuple[str, str]:
    """Return what a load is called, and what it does how often."""
    whole = CALLINGS[lane.kind].whole if lane.kind in CALLINGS else lane.kind
    return whole, doing(lane.kind, lane.idle_s if lane.role == "innocent" else 0)


def knob_words(name: str) -> KnobWords:
    """Return what is said of a knob: of one that is none of the lab's own, its name."""
    return KNOBS.get(name, KnobWords(name, "", ""))
