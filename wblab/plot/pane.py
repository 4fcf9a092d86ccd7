"""A timeline before it is drawn: panes on one time axis, and what they share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wblab.analysis.runs.run import Run
from wblab.analysis.runs.window import Window
from wblab.core.units import NS_PER_S
from wblab.plot.marks import Mark, Rules, Spans, names

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
    """One pane: its title (name and what it shows), axis, marks, and height relative to others."""

    name: str
    what: str
    axis: Axis
    marks: tuple[Mark, ...]
    height: float = 1.0

    @property
    def explained(self) -> list[str]:
        """The names in its legend; a mark with the pane's own name is left out."""
        return [name for name in names(self.marks) if name != self.name]


@dataclass(frozen=True)
class Meaning:
    """The meaning of colours on all panes. group: its marks are shown and hidden together."""

    group: str
    colours: tuple[str, ...]
    text: str
    is_hatched: bool = False


@dataclass(frozen=True)
class Timeline:
    """The panes of a run on one time axis.

    everywhere: marks on all panes. starts: times and texts that name the offenders that start.
    """

    run: Run
    window: Window
    title: str
    panes: Sequence[Pane]
    everywhere: tuple[Rules | Spans, ...] = ()
    starts: Sequence[tuple[int, str]] = ()
    meanings: Sequence[Meaning] = field(default=())

    @property
    def shown_s(self) -> tuple[float, float]:
        """The ends of the time axis, in seconds since the loads started."""
        start, end = self.window.start_ns, self.window.end_ns
        return (start - self.run.zero_ns) / NS_PER_S, (end - self.run.zero_ns) / NS_PER_S

    def has_room(self, time_ns: int, text: str) -> bool:
        """Whether a text fits between a time and the end of the axis."""
        return self.window.end_ns - time_ns > _LETTER * len(text) * self.window.duration_ns
