"""Writes and fsyncs taken apart, as `run.layers()` returns them."""

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Self, overload

from wblab.analysis.layers.bylayer import LayeredCall, layers
from wblab.analysis.layers.stages import PREFIXES
from wblab.analysis.layers.summary import per_write, stephens_shares, summaries, time_shares
from wblab.analysis.runs.run import Run
from wblab.api.frames import frame

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_NS_PER_US = 1000


class Layers(Sequence[LayeredCall]):
    """The calls of a run's `syncwrite` and `commit` loads, load by load, in the order of time.

    Each has `load`, `number` (of the load's cycle, from 0), `call` ("write", "fsync"), `start_ns` and `duration_ns`,
    `states` (ns by what it waited for in the end) and `served` (how many requests it waited for, one after the other).
    """

    def __init__(self, found: Sequence[LayeredCall]) -> None:
        self._found = tuple(found)

    @classmethod
    def of(cls, run: Run, load: str) -> Self:
        """Take the calls of a run apart. Raises InputError."""
        return cls(layers(run, load))

    def only(self, call: str = "", number: int | None = None) -> "Layers":
        """Return the calls of one name, of one cycle, or both."""
        return Layers([it for it in self if call in ("", it.call) and number in (None, it.number)])

    @property
    def paths(self) -> "pd.DataFrame":
        """What the calls waited for, link by link: `time_us` by `call` and `waited_for`; the longest first."""
        rows = [(it.call, " > ".join(path), time_ns / _NS_PER_US) for it in self for path, time_ns in it.parts.items()]
        return frame(rows, ("call", "waited_for", "time_us"), ("call", "waited_for"))

    @property
    def states(self) -> "pd.DataFrame":
        """Over all calls of a load: `median_us`, `mean_us`, `p99_us`, `longest_us` and `share` (0 to 1) by state."""
        rows = [
            (
                *(item.load, item.call, state),
                *(getattr(spread, field.name) / _NS_PER_US for field in fields(spread)),
                item.shares[state],
            )
            for item in summaries(self)
            for state, spread in item.states.items()
        ]
        keys = ("load", "call", "state")
        return frame(rows, (*keys, "median_us", "mean_us", "p99_us", "longest_us", "share"), keys)

    @property
    def prefixes(self) -> "pd.DataFrame":
        """The time asleep in functions by their prefix, for a write with its fsync, as B. Stephens sums it.

        `summed_us`: nested functions count again; `once_us`: without that; `repeated_us`: the difference. `of_sums` and
        `of_time`: shares, 0 to 1.
        """
        found = summaries(self)
        summed, once, of_sums, of_time = (
            per_write(found, "prefixes"), per_write(found, "once"), stephens_shares(found), time_shares(found)
        )  # fmt: skip
        rows = [
            (
                it,
                *(time / _NS_PER_US for time in (summed[it], once[it], summed[it] - once[it])),
                of_sums[it],
                of_time[it],
            )
            for it in PREFIXES
        ]
        return frame(rows, ("prefix", "summed_us", "once_us", "repeated_us", "of_sums", "of_time"), "prefix")

    def plot(self, *, ax: "Axes | None" = None) -> "Axes":
        """Draw each call as a bar of its states, in µs; into axes of yours or new ones, and return them."""
        from wblab.plot.artists import new_axes
        from wblab.plot.layercalls import plot_states

        return plot_states(self, ax=ax or new_axes())

    def plot_chain(self, *, ax: "Axes | None" = None) -> "Axes":
        """Draw the calls against the time since the first began, in µs; below each, its chain of waits."""
        from wblab.plot.artists import new_axes
        from wblab.plot.layercalls import plot_call

        return plot_call(self, ax=ax or new_axes(3))

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, at: int) -> LayeredCall: ...
    @overload
    def __getitem__(self, at: slice) -> "Layers": ...
    def __getitem__(self, at: int | slice) -> "LayeredCall | Layers":
        return Layers(self._found[at]) if isinstance(at, slice) else self._found[at]

    def __repr__(self) -> str:
        return f"<Layers: {len(self)} calls>"

    def _repr_html_(self) -> str:
        shown: str = self.states.round(3).to_html()
        return shown
