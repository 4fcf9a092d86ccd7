"""What panes are made of: data with a colour and words, one class a mark, without a word on who draws it.

Times are ns of the run's clock, values are those of the pane's axis. A mark holds all of its data; who draws it reduces
them to what the eye can see. In the picture of a run it is drawn by `artists.py`, on its page by `traces.py`.

`words` are what a mark says when it is pointed at: {name}, {value} and {time} stand for what is pointed at, with the
formats of d3, which are Python's and "~s", for an SI prefix. Where {value} is not that of the axis it is in `said`.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.int64]
Values = NDArray[Any]

Side = Literal["above", "left", "right"]

PAUSED = "paused"  # the group of the legend that blocks with a pause belong to


@dataclass(frozen=True)
class Line:
    """A line that keeps each value until the next."""

    name: str
    times_ns: Times
    values: Values
    colour: str
    words: str
    width: float = 1.6  # points
    said: Values | None = None


@dataclass(frozen=True)
class Levels:
    """A line of n values, each for a span of its own: `edges_ns` has n + 1 items. NaN is no line."""

    name: str
    edges_ns: Times
    values: Values
    colour: str
    words: str
    width: float = 1.0  # points


@dataclass(frozen=True)
class Points:
    """Single points."""

    name: str
    times_ns: Times
    values: Values
    colour: str
    words: str
    size: float = 2.5  # points
    said: Values | None = None


@dataclass(frozen=True)
class Layer:
    """One layer of a stack. In its words, {top} is how high it reaches."""

    name: str
    values: Values
    colour: str
    words: str


@dataclass(frozen=True)
class Stack:
    """Areas, one on the other, that keep each value until the next."""

    times_ns: Times
    layers: tuple[Layer, ...]

    @property
    def tops(self) -> Values:
        """How high all layers together reach."""
        return np.asarray(np.sum([layer.values for layer in self.layers], axis=0))


@dataclass(frozen=True)
class Part:
    """What pauses of blocks were, one cause: in seconds, of each block how much; 0 of what has no pause."""

    name: str
    seconds: Values
    colour: str
    is_hatched: bool = False

    @property
    def group(self) -> str:
        """The group of the legend below all panes that it belongs to."""
        return f"{PAUSED}: {self.name}"


@dataclass(frozen=True)
class Blocks:
    """Cycles of a load, side by side: as wide and as high as each took; those with a pause over the bound stand out.

    Of n cycles, `edges_ns` has n + 1 items, and in seconds `heights_s` n and `pauses_s` n. `counts`: how many cycles
    each block stands for. group: of the legend below all panes, as `pane.Meaning`. parts: what the pauses over the
    bound were, one on the other, where that is known; `told`: the same in words.
    """

    name: str
    edges_ns: Times
    heights_s: Values
    pauses_s: Values
    counts: NDArray[np.int64]
    bound_s: float
    colour: str
    group: str
    parts: tuple[Part, ...] = ()
    told: Values | None = None

    @property
    def explained(self) -> NDArray[np.bool_]:
        """Which blocks have parts."""
        return np.asarray(sum((part.seconds for part in self.parts), np.zeros(len(self.heights_s))) > 0)

    @property
    def paused(self) -> NDArray[np.bool_]:
        """Which blocks have a pause over the bound in them."""
        return np.asarray(self.pauses_s > self.bound_s)

    def reduced(self, columns: int) -> "Blocks":
        """Return blocks of which about `columns` fill the whole span.

        Cycles that begin in one column become one block, as high as the highest. One with a pause over the bound is
        always a block of its own.
        """
        if not len(self.heights_s):
            return self
        starts_ns, paused = self.edges_ns[:-1], self.paused
        column_ns = max(1, int(self.edges_ns[-1] - self.edges_ns[0]) // columns)
        column = (starts_ns - self.edges_ns[0]) // column_ns
        begins = np.flatnonzero(np.diff(column, prepend=-1) | paused | np.roll(paused, 1))
        return replace(
            self,
            edges_ns=np.append(starts_ns[begins], self.edges_ns[-1]),
            heights_s=np.maximum.reduceat(self.heights_s, begins),
            pauses_s=np.maximum.reduceat(self.pauses_s, begins),
            counts=np.add.reduceat(self.counts, begins),
            parts=tuple(replace(part, seconds=part.seconds[begins]) for part in self.parts),
            told=None if self.told is None else self.told[begins],
        )


@dataclass(frozen=True)
class Label:
    """Words in a pane, at a point of it: above it, or beside it on one side."""

    time_ns: int
    value: float
    text: str
    colour: str
    side: Side = "above"


@dataclass(frozen=True)
class Rules:
    """Vertical lines across a pane. group: as that of blocks."""

    times_ns: tuple[int, ...]
    colour: str
    width: float = 1.0  # points
    is_dashed: bool = False
    opacity: float = 1.0
    group: str = ""


@dataclass(frozen=True)
class Spans:
    """Spans of time that are shaded across a pane, behind all else."""

    spans_ns: tuple[tuple[int, int], ...]
    colour: str
    opacity: float = 0.5
    group: str = ""


Mark = Line | Levels | Points | Stack | Blocks | Label | Rules | Spans


def names(marks: tuple[Mark, ...]) -> list[str]:
    """Return the names that marks have, in their order."""
    found: list[str] = []
    for mark in marks:
        if isinstance(mark, Stack):
            found += [layer.name for layer in mark.layers]
        elif isinstance(mark, Line | Levels | Points | Blocks):
            found.append(mark.name)
    return found
