"""What the page says of programs and of the lab's own knobs, for a reader who never heard of writeback."""

from collections.abc import Mapping
from dataclasses import dataclass

from wblab.lab.callings import CALLINGS, Calling
from wblab.publish.site.explore.positions import Lane
from wblab.report.quantities import quantity


@dataclass(frozen=True)
class KnobWords:
    """What is said of a knob. about: what it is, before a prediction; because: why it acts so, after one."""

    title: str
    about: str
    because: str


KNOBS: Mapping[str, KnobWords] = {
    "disk": KnobWords(
        "The disk",
        "how fast it writes, and how much it is handed at a time: 64 MiB to a card, 2 MiB to a stick",
        "Whatever was handed to the disk is written before anything that comes later. So two things count: how fast "
        "the disk works, and how much it is handed in one go. A stick gets less in one go than a card.",
    ),
    "copy": KnobWords(
        "The copy's speed",
        "how fast the copy produces data",
        "A slower copy leaves less waiting for the disk at any moment. The computer still collects the data for some "
        "seconds and hands it over in one go, so freezes get shorter, but do not end.",
    ),
    "dirty limit": KnobWords(
        "The dirty limit",
        "how much may wait in memory before programs that write are stopped; 20 % and 10 % are of free memory",
        "Data that waits in memory is what the disk gets in one go. Less waiting data means shorter freezes, but the "
        "copy is held back earlier, and so is everybody else who writes: freezes become more frequent.",
    ),
    "scheduler": KnobWords(
        "The I/O scheduler",
        "in which order requests that still wait in the computer go to the disk; BFQ lets programs take turns",
        "A scheduler can sort only what the disk has not been handed yet. Nearly all has been, and the kernel wrote it "
        "for everybody, whichever program it came from: there is little left to be fair about.",
    ),
    "queue": KnobWords(
        "The disk's queue",
        "how much the disk is handed at a time, whichever disk it is; a card's own queue is 64 MiB",
        "What your program waits for goes to the end of this queue. If it holds 512 KiB, a disk of 1 MiB/s gets there "
        "in half a second. The freezes that remain come mostly from the dirty limit.",
    ),
}


def lane_words(lane: Lane) -> tuple[str, str]:
    """Return what a load is called, and what it does how often."""
    of = CALLINGS.get(lane.kind, Calling("", lane.kind, ""))
    often = f", {round(1 / lane.idle_s)} times a second" if lane.idle_s and lane.role != "control" else ""
    return of.whole, f"{of.does}{often if lane.role == 'innocent' else ''}"


def knob_words(name: str) -> KnobWords:
    """Return what is said of a knob: of one that is none of the lab's own, its name."""
    return KNOBS.get(name, KnobWords(name, "", ""))


def seconds(time_s: float) -> str:
    """Return a time as the page has it."""
    return quantity(time_s, "s")
