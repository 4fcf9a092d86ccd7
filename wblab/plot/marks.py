"""The marks of panes: data with a colour and a hover text, one class for each kind, independent of the renderer.

Times are ns of the run's clock, values are in the unit of the pane's axis. A mark holds all of its data; the renderer
reduces them to the visible resolution: `artists.py` for pictures, `traces.py` for pages.

`words` is the hover text. {name}, {value} and {time} describe the point under the pointer, with the formats of d3:
those of Python, and "~s" for an SI prefix. `said` holds {value} if it differs from the value on the axis.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wblab.analysis.runs.pauses import Window
from wblab.analysis.runs.run import Run
from wblab.core.units import NS_PER_S

Times = NDArray[np.int64]
Values = NDArray[Any]

Side = Literal["above", "left", "right"]

PAUSED = "paused"  # the legend's group of blocks with a pause


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
class LevelMarks:
    """A line of n values, each for a span of its own: `edges_ns` has n + 1 items. NaN draws no line."""

    name: str
    edges_ns: Times
    values: Values
    colour: str
    words: str
    width: float = 1.0  # points


@dataclass(frozen=True)
class PointMarks:
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
    """One layer of a stack. In its words, {top} is its upper edge."""

    name: str
    values: Values
    colour: str
    words: str


@dataclass(frozen=True)
class Stack:
    """Stacked areas that keep each value until the next."""

    times_ns: Times
    layers: tuple[Layer, ...]

    @property
    def tops(self) -> Values:
        """The sum of all layers."""
        return np.asarray(np.sum([layer.values for layer in self.layers], axis=0))


@dataclass(frozen=True)
class Part:
    """One cause of the blocks' pauses: its seconds in each block, 0 for a block without a pause."""

    name: str
    seconds: Values
    colour: str
    is_hatched: bool = False

    @property
    def group(self) -> str:
        """Its group in the legend below all panes."""
        return f"{PAUSED}: {self.name}"


@dataclass(frozen=True)
class Blocks:
    """Cycles of a load, side by side, each as wide as its duration; pauses over the threshold stand out.

    A cycle is as high as its duration, up to `full_s`. One with a pause over the threshold is as high as that, however
    long it took, which its width says: its height is divided by the causes of the pause.

    For n cycles, `edges_ns` has n + 1 items, `durations_s` and `pauses_s` n. counts: the number of cycles in each
    block. group: the legend's group, see `pane.Meaning`. parts: the causes of the pauses over the threshold, stacked,
    as far as known; hover: the same in words.
    """

    name: str
    edges_ns: Times
    durations_s: Values
    pauses_s: Values
    counts: NDArray[np.int64]
    bound_s: float
    full_s: float
    colour: str
    group: str
    parts: tuple[Part, ...] = ()
    hover: Values | None = None

    @property
    def explained(self) -> NDArray[np.bool_]:
        """Whether each block has parts."""
        return np.asarray(sum((part.seconds for part in self.parts), np.zeros(len(self.pauses_s))) > 0)

    @property
    def paused(self) -> NDArray[np.bool_]:
        """Whether each block has a pause over the threshold."""
        return np.asarray(self.pauses_s > self.bound_s)

    @property
    def heights_s(self) -> Values:
        """How high each block is, on the axis of durations."""
        return np.where(self.paused, self.full_s, np.minimum(self.durations_s, self.full_s))

    def stacked(self) -> Iterator[tuple[Part, Values, Values]]:
        """Yield each part with its lower and its upper edge in each block, which are equal where it has no time."""
        low, per_s = np.zeros(len(self.pauses_s)), self.heights_s / np.maximum(self.pauses_s, 1e-9)
        for part in self.parts:
            high = low + part.seconds * per_s
            yield part, low, high
            low = high

    def reduced(self, columns: int) -> "Blocks":
        """Return about `columns` blocks for the whole span.

        Cycles that begin in the same column become one block, as high as the longest. A cycle with a pause over the
        threshold always stays a separate block.
        """
        if not len(self.pauses_s):
            return self
        starts_ns, paused = self.edges_ns[:-1], self.paused
        column_ns = max(1, int(self.edges_ns[-1] - self.edges_ns[0]) // columns)
        column = (starts_ns - self.edges_ns[0]) // column_ns
        begins = np.flatnonzero(np.diff(column, prepend=-1) | paused | np.roll(paused, 1))
        return replace(
            self,
            edges_ns=np.append(starts_ns[begins], self.edges_ns[-1]),
            durations_s=np.maximum.reduceat(self.durations_s, begins),
            pauses_s=np.maximum.reduceat(self.pauses_s, begins),
            counts=np.add.reduceat(self.counts, begins),
            parts=tuple(replace(part, seconds=part.seconds[begins]) for part in self.parts),
            hover=None if self.hover is None else self.hover[begins],
        )


@dataclass(frozen=True)
class Counts:
    """How many things there are, by span of time and by value: counts is n by m, edges_ns and values have one more.

    Cells without any are left out. colours: from how many on a cell has which colour. lines: values with a line across.
    """

    edges_ns: Times
    values: Values
    counts: NDArray[np.int64]
    colours: Mapping[int, str]
    what: str  # is counted, one of it
    words: str
    lines: tuple[float, ...] = ()

    @property
    def classes(self) -> dict[str, tuple[int, str]]:
        """By name, the least count of each class that has a cell, and its colour."""
        most, starts = int(self.counts.max(initial=0)), [*self.colours]
        ends = [start - 1 for start in starts[1:]]
        found = {}
        for start, end in zip(starts, [*ends, 0], strict=True):
            name = f"{start}" if end == start else f"{start} to {end}" if end else f"{start} or more"
            found[name if start > 1 else f"{name} {self.what}"] = (start, self.colours[start])
        return {name: each for name, each in found.items() if each[0] <= most}

    def of_class(self, name: str) -> NDArray[np.float64]:
        """Return the counts in one class of `classes`, NaN elsewhere."""
        least = self.classes[name][0]
        more = min((start for start in self.colours if start > least), default=1 << 62)
        return np.where((self.counts >= least) & (self.counts < more), self.counts, np.nan)


@dataclass(frozen=True)
class Bar:
    """A bar in a row, counted from above, for some spans of time. Its text stands in the longest, if it fits there."""

    row: int
    spans_ns: tuple[tuple[int, int], ...]
    colour: str
    text: str

    @property
    def longest_ns(self) -> tuple[int, int]:
        """The longest of its spans."""
        return max(self.spans_ns, key=lambda span: span[1] - span[0])


@dataclass(frozen=True)
class Bars:
    """Bars in rows, and arrows between them: times, the row where each begins, and the one where it ends."""

    bars: tuple[Bar, ...]
    arrows: tuple[tuple[int, int, int], ...] = ()


BAR = 0.66  # of a row


@dataclass(frozen=True)
class Label:
    """A text above or beside a point of a pane."""

    time_ns: int
    value: float
    text: str
    colour: str
    side: Side = "above"


@dataclass(frozen=True)
class Rules:
    """Vertical lines across a pane. group: see `Blocks`."""

    times_ns: tuple[int, ...]
    colour: str
    width: float = 1.0  # points
    is_dashed: bool = False
    opacity: float = 1.0
    group: str = ""


@dataclass(frozen=True)
class Spans:
    """Spans of time, shaded behind all other marks of a pane."""

    spans_ns: tuple[tuple[int, int], ...]
    colour: str
    opacity: float = 0.5
    group: str = ""


Mark = Line | LevelMarks | PointMarks | Stack | Blocks | Bars | Counts | Label | Rules | Spans


def names(marks: tuple[Mark, ...]) -> list[str]:
    """Return the names of marks, in order."""
    found: list[str] = []
    for mark in marks:
        if isinstance(mark, Stack):
            found += [layer.name for layer in mark.layers]
        elif isinstance(mark, Counts):
            found += mark.classes
        elif isinstance(mark, Line | LevelMarks | PointMarks | Blocks):
            found.append(mark.name)
    return found


# A timeline before it is drawn: panes on one time axis, and what they share.

_LETTER = 0.008  # a letter's share of the time axis


@dataclass(frozen=True)
class Axis:
    """The y axis of a pane: its unit and range.

    ticks: places and texts; if None, there are about `count` ticks at round numbers. A logarithmic axis needs ticks.
    """

    unit: str
    low: float
    high: float
    is_log: bool = False
    ticks: Mapping[float, str] | None = None
    count: int = 5


@dataclass(frozen=True)
class Pane:
    """One pane: its title (name and what it shows), axis, marks, and height relative to others.

    called: what its title has instead of its name: of a load, the name with what a reader calls it.
    """

    name: str
    what: str
    axis: Axis
    marks: tuple[Mark, ...]
    height: float = 1.0
    called: str = ""

    @property
    def head(self) -> str:
        """How its title begins."""
        return self.called or self.name

    @property
    def explained(self) -> list[str]:
        """The names in its legend; a mark with the pane's own name is left out."""
        return [name for name in names(self.marks) if name != self.name]


@dataclass(frozen=True)
class MarkMeaning:
    """The meaning of colours on all panes. group: its marks are shown and hidden together."""

    group: str
    colours: tuple[str, ...]
    text: str
    is_hatched: bool = False


@dataclass(frozen=True)
class Timeline:
    """The panes of a run on one time axis.

    everywhere: marks on all panes. starts: times and texts that name the offenders that start. more: further panes,
    which are drawn only if they are named. since: what its times count from.
    """

    run: Run
    window: Window
    title: str
    panes: Sequence[Pane]
    everywhere: tuple[Rules | Spans, ...] = ()
    starts: Sequence[tuple[int, str]] = ()
    meanings: Sequence[MarkMeaning] = field(default=())
    more: Sequence[Pane] = field(default=())
    since: str = "the loads started"

    @property
    def shown_s(self) -> tuple[float, float]:
        """The ends of the time axis, in seconds since the loads started."""
        start, end = self.window.start_ns, self.window.end_ns
        return (start - self.run.zero_ns) / NS_PER_S, (end - self.run.zero_ns) / NS_PER_S

    def has_room(self, time_ns: int, text: str) -> bool:
        """Whether a text fits between a time and the end of the axis."""
        return self.window.end_ns - time_ns > _LETTER * len(text) * self.window.duration_ns
