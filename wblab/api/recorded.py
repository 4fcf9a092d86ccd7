"""A run and its trace, as `wblab.run` and `wblab.read` return them."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from tracecmd import Events

from wblab.analysis.runs import pauses as spans
from wblab.analysis.runs import run as records
from wblab.analysis.runs.captures import capture_of
from wblab.analysis.runs.lanes import lanes_of
from wblab.analysis.runs.pagecache import PageCache, page_cache
from wblab.analysis.runs.pauses import DEFAULT_BOUND_NS, Window, pause_report
from wblab.api.frames import frame, shown
from wblab.core.errors import InputError, nearest
from wblab.core.units import NS_PER_S
from wblab.lab.printable import printable
from wblab.report.lanestext import titles
from wblab.report.pausetext import report, run_line

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from wblab.api.explained import Why
    from wblab.api.layered import Layers
    from wblab.plot.marks import Timeline

DEFAULT_BOUND_S = DEFAULT_BOUND_NS / NS_PER_S
_TASK_COLUMNS = 4  # ts_ns, cpu, pid, comm: they come first
_HIDDEN = frozenset({"bdi", "cgroup_ino"})  # the same in every event of a run with one disk


def ns(time_s: float) -> int:
    """Return a time in whole ns."""
    return round(time_s * NS_PER_S)


class Run(records.Run):
    """One run: a directory with a spec, what its loads measured, and its trace.

    Attributes:
        path: its directory, a `pathlib.Path`.
        spec: what was run, a `wblab.Spec`; of a live run, a similar record of the machine.
        record: the rest of experiment.json, a dict: kernel, outcome, times.
        loads: the loads in the spec's order. Each has `name`, and NumPy arrays of int64 ns with one item for each
            cycle: `starts_ns`, `durations_ns`, `pauses_ns` (0 for none). `run.load("w1")` returns one of them.
        zero_ns: the guest's time at which the loads started; all other times count from there.
        failure: why it failed; empty if it succeeded.
    """

    @classmethod
    def of(cls, path: Path) -> Self:
        """Read the run in a directory. Raises InputError for missing or damaged files."""
        found = records.read_run(path)
        return cls(**{field.name: getattr(found, field.name) for field in fields(found)})

    @property
    def summary(self) -> "pd.DataFrame":
        """A row for each load: `kind`, `disk`, `cycles`, `longest_pause_s`, `wait_time_s`, `paused_s`, `paused_share`.

        wait_time_s: the expected wait, from a random moment until the current pause ends: half the sum of the squares
        of all pauses over the length of the run. paused_share: of that length, 0 to 1.
        """
        rows = [
            (it.name, it.kind, it.disk, it.cycles, it.longest_pause_s, it.wait_time_s, it.paused_s, it.paused_fraction)
            for it in pause_report(self).loads
        ]
        names = ("load", "kind", "disk", "cycles", "longest_pause_s", "wait_time_s", "paused_s", "paused_share")
        return frame(rows, names, "load")

    @property
    def pauses(self) -> "pd.DataFrame":
        """A row for each pause over 0.3 s, in the order of time: `start_s`, `load`, `kind`, `duration_s`.

        start_s: when its cycle began. duration_s: by how much the cycle was longer than it should have been.
        """
        return self.pauses_over(DEFAULT_BOUND_S)

    def pauses_over(self, bound_s: float) -> "pd.DataFrame":
        """Return `pauses` with another bound, in s."""
        found = [
            (pause.start_s, item.name, item.kind, pause.duration_s)
            for item in pause_report(self, ns(bound_s)).loads
            for pause in item.pauses
        ]
        return frame(sorted(found), ("start_s", "load", "kind", "duration_s"))

    @cached_property
    def trace(self) -> "Trace":
        """The kernel's events. Raises InputError if there is no trace, or a damaged one."""
        return Trace.of(self, page_cache(self))

    def why(self, load: str = "", bound_s: float = DEFAULT_BOUND_S) -> "Why":
        """Explain each pause over a bound, of one load or of all that are not offenders.

        Raises InputError for an unknown load, and if nothing was recorded that explains a pause.
        """
        from wblab.api.explained import Why

        return Why.of(self, load, bound_s)

    def layers(self, load: str = "") -> "Layers":
        """Take each write and fsync apart, of `syncwrite` and `commit` loads: what it waited for, down to the device.

        Raises InputError for an unknown load, and if nothing was recorded for it.
        """
        from wblab.api.layered import Layers

        return Layers.of(self, load)

    def window(
        self, around: str | None = None, start_s: float | None = None, end_s: float | None = None
    ) -> Window | None:
        """Return a span of the run: around the longest pause of a load, or from one time to another; None for all."""
        if around is not None:
            return spans.around(self, around)
        if start_s is None and end_s is None:
            return None
        return spans.between(self, *(None if time_s is None else ns(time_s) for time_s in (start_s, end_s)))

    def timeline(  # noqa: PLR0913 - each has a default
        self,
        around: str | None = None,
        start_s: float | None = None,
        end_s: float | None = None,
        *,
        causes: bool = True,
        panes: str = "",
        beside: "Mapping[str, records.Run] | None" = None,
    ) -> "Figure":
        """Draw the run, a lane for each load, tall while it is frozen; return the figure. A close-up has panes instead.

        Args:
            around: a close-up of the longest pause of this load, or "longest": of any innocent load.
            start_s: the beginning of a close-up, in s since the loads started.
            end_s: its end.
            causes: colour pauses in panes by cause, as `why` explains them; takes about a second more.
            panes: draw these panes on one time axis, such as "dirty,mw1": cycles of loads, and the page cache; "all".
            beside: further runs by their titles, drawn below this one as lanes; if this run is among them, only they.

        Raises InputError for an unknown load or pane, a span outside of the run, and panes of several runs.
        """
        window = self.window(around, start_s, end_s)
        if not panes and window is None:
            from wblab.plot.lanespicture import lanes_picture

            named = dict(beside or {})
            own = {} if any(run.path == self.path for run in named.values()) else {titles([self])[0]: self}
            return lanes_picture([lanes_of(run, title) for title, run in (own | named).items()])
        if beside:
            raise InputError("beside: only lanes have it, pictures of whole runs: leave out a span and panes")
        from wblab.plot.picture import picture
        from wblab.plot.timeline import chosen

        return picture(chosen(self.panes(window, causes=causes), panes))

    def plot(self, pane: str, *, ax: "Axes | None" = None) -> "Axes":
        """Draw one pane of the timeline, such as "w1" or "dirty state", into axes of yours or new ones; return them.

        The x axis is the time since the loads started, in s. Raises InputError, with the names of all panes.
        """
        from wblab.plot.artists import plot_pane

        panes = {item.name: item for item in self.panes(None).panes}
        if pane not in panes:
            raise InputError(f"no pane {pane!r}{nearest(pane, list(panes))}: the run has {', '.join(panes)}")
        axes: Axes = plot_pane(panes[pane], self.zero_ns, ax=ax)
        axes.set_xlabel("time since the loads started (s)")
        return axes

    def panes(self, window: Window | None, *, causes: bool = True) -> "Timeline":
        """Return the panes of the timeline before they are drawn, for a picture or a page."""
        from wblab.analysis.why.explanations import explain_all
        from wblab.plot.timeline import timeline

        cache = self.traced("the timeline", window)
        return timeline(self, cache, window=window, explained=explain_all(self, cache) if cache and causes else [])

    def traced(self, what: str, window: Window | None = None) -> PageCache | None:
        """Return the trace, or None if no event was asked for. If it is missing or damaged, print a line about it.

        what: the subject of that line. window: if a capture of a live run covers it, that is returned.
        """
        try:
            if window and (capture := capture_of(self, window)):
                return page_cache(self, capture.path)
            return self.trace if self.spec.trace.events else None
        except InputError as error:
            print(printable(f"wblab: {what} shows only the loads: {error}"), file=sys.stderr)
            return None

    def __repr__(self) -> str:
        return f"<{run_line(self).removesuffix('.')}>"

    def _repr_html_(self) -> str | None:
        return shown(report(self, pause_report(self)))


class Trace(PageCache):
    """The events of a run.

    `trace["balance_dirty_pages"]` is a table of one type of event: `at_s` (since the loads started), `task`, and the
    kernel's own fields. `trace.counts` says how many there are of each type. `dirty_state`, `throttling`, `written`
    and `dirtied` are the most used ones as columns of NumPy in bytes and ns, whatever the kernel calls its fields.
    """

    zero_ns: int

    @classmethod
    def of(cls, run: records.Run, cache: PageCache) -> Self:
        """Return the trace of a run."""
        found = cls(cache.trace, cache.load_names, cache.disks)
        object.__setattr__(found, "zero_ns", run.zero_ns)
        return found

    def __getitem__(self, name: str) -> "pd.DataFrame":
        events = self.events(name)
        names = events.columns[_TASK_COLUMNS:]
        found = frame((), ("at_s", "task"))
        found["at_s"], found["task"] = self._seconds(events.ts_ns), self._tasks(events)
        return found.assign(**{key: list(events[key]) for key in names})

    def between(self, start_s: float, end_s: float, most: int = 2000) -> "pd.DataFrame":
        """Return the events of a span, of all types, in the order of time: `at_s`, `task`, `event`, `fields`.

        start_s, end_s: since the loads started. most: at most this many rows; `attrs["left_out"]` counts the others.
        """
        first_ns, last_ns = (self.zero_ns + ns(time_s) for time_s in (start_s, end_s))
        rows: list[tuple[int, int, str, str, str]] = []
        left_out = 0
        for name in self.counts:
            events = self.trace.events(name)
            first = int(np.searchsorted(events.ts_ns, first_ns))
            last = int(np.searchsorted(events.ts_ns, last_ns, side="right"))
            left_out += max(0, last - first - most)
            rows += self._rows(events, slice(first, min(last, first + most)))
        rows.sort(key=lambda row: row[:2])
        shown = [(float(self._seconds(time)), *rest) for time, _, *rest in rows[:most]]
        found = frame(shown, ("at_s", "task", "event", "fields"))
        found.attrs["left_out"] = left_out + len(rows) - len(shown)
        return found

    @property
    def decisions(self) -> "pd.DataFrame":
        """The kernel's decisions on throttling: a row each time that a task passed `balance_dirty_pages`.

        Columns: `at_s`, `task`, `disk` (empty in a run with one), `pause_s` (that the kernel imposed), `paused_s` (so
        far), `dirty_bytes`, `limit_bytes`, `task_bps`, `base_bps` (the device's rate, of which the task's is a
        multiple).
        """
        found = self.throttling
        rates = (found.dirty, found.limit, found.task_rate, found.base_rate)
        columns = (self._seconds(found.ts_ns), found.task, found.disk, found.pause_ns / NS_PER_S,
                   found.paused_ns / NS_PER_S, *rates)  # fmt: skip
        names = ("at_s", "task", "disk", "pause_s", "paused_s", "dirty_bytes", "limit_bytes", "task_bps", "base_bps")
        return frame(zip(*(column.tolist() for column in columns), strict=True), names)

    def _rows(self, events: Events, part: slice) -> Iterator[tuple[int, int, str, str, str]]:
        """Yield the time in ns, place in the trace, task, name and fields of some events."""
        hidden = _HIDDEN - {"bdi"} if self.disks else _HIDDEN
        names = [key for key in events.columns[_TASK_COLUMNS:] if key not in hidden]
        columns = [events[key][part].tolist() for key in names]
        texts = [" ".join(map("{}={}".format, names, row)) for row in zip(*columns, strict=True)]
        heads = (events.ts_ns[part].tolist(), events.places[part].tolist(), events.comm[part].tolist())
        for at, (time_ns, place, task) in enumerate(zip(*heads, strict=True)):
            yield time_ns, place, task, events.name, texts[at] if texts else ""

    def _seconds(self, times_ns: Any) -> Any:
        return (times_ns - self.zero_ns) / NS_PER_S

    def __repr__(self) -> str:
        kinds = ", ".join(f"{count} {name}" for name, count in self.counts.items())
        return f"<Trace: {kinds}>"

    def _repr_html_(self) -> str:
        shown: str = frame(self.counts.items(), ("event", "count"), "event").to_html()
        return shown
