"""Why a run's loads were stalled, as `run.why()` returns it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self, overload

from wblab.analysis.runs.run import Run
from wblab.analysis.why.classify import in_context
from wblab.analysis.why.ends import end_of
from wblab.analysis.why.explain import Cause
from wblab.analysis.why.explanations import Explained, explanations
from wblab.analysis.why.shares import by_load
from wblab.api.frames import frame, shown
from wblab.core.units import NS_PER_S
from wblab.lab.places import RESULTS
from wblab.report.quantities import duration
from wblab.report.report import Report
from wblab.report.whyanswer import sentence
from wblab.report.whycause import groups, main_chain
from wblab.report.whyreport import report
from wblab.report.whytext import main_causes, of_cause, pause, sentences, total

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_MOST_CAUSES = 6  # that are told in a sentence each


@dataclass(frozen=True)
class ExplainedPause(Explained):
    """One pause and what caused it; printed, it says so in sentences.

    run: whose pause it is. explanation: all that is known, in ns.
    """

    run: Run

    @property
    def load(self) -> str:
        """The load that was stalled."""
        return self.explanation.load

    @property
    def start_s(self) -> float:
        """When its cycle began, in s since the loads started."""
        return self.explanation.start_ns / NS_PER_S

    @property
    def duration_s(self) -> float:
        """How long it lasted, in s."""
        return self.explanation.pause_ns / NS_PER_S

    @property
    def causes(self) -> list[Cause]:
        """What explains more than a hundredth of it, the most time first."""
        return main_causes(self.explanation)

    @property
    def parts(self) -> "pd.DataFrame":
        """What the time passed in: `time_s` and `share` (0 to 1) by `what`; they add up to the pause."""
        whole_ns = self.explanation.pause_ns
        rows = [(what, time_ns / NS_PER_S, time_ns / whole_ns) for what, time_ns in self.explanation.parts.items()]
        return frame(rows, ("what", "time_s", "share"), "what")

    @property
    def chains(self) -> "pd.DataFrame":
        """Which task waited for which, the longest first: `time_s`, `who_for_whom`, `end`."""
        rows = [
            (chain.time_ns / NS_PER_S, " <- ".join(f"{name}: {what}" for name, what in chain.links), end_of(chain))
            for chain in self.explanation.chains
        ]
        return frame(rows, ("time_s", "who_for_whom", "end"))

    def said(self, cause: int = 0) -> str:
        """Return one cause in words, a sentence a line. cause: its place in `causes`."""
        return "\n".join(of_cause(self.explanation, self.causes[cause]))

    def stacks(self, cause: int = 0) -> "pd.DataFrame":
        """Return the kernel's functions, innermost first: `sleeper` as it went to sleep, `waker` as it woke it."""
        one = self.causes[cause]
        stacks = tuple(reversed(one.functions)), in_context(one.woken_in)
        rows = ([stack[at] if at < len(stack) else "" for stack in stacks] for at in range(max(map(len, stacks))))
        return frame(rows, ("sleeper", "waker"))

    def events(self, cause: int = 0) -> "pd.DataFrame":
        """Return the events of the trace that prove a wait: `at_s`, `task`, `event`, `fields`."""
        rows = [
            (
                (event.ts_ns - self.run.zero_ns) / NS_PER_S,
                event.comm,
                event.name,
                " ".join(f"{key}={value}".strip() for key, value in event.fields.items()),
            )
            for event in map(self.recorded.sequence.described, self.causes[cause].events)
        ]
        return frame(rows, ("at_s", "task", "event", "fields"))

    def ahead(self, cause: int = 0) -> "pd.DataFrame":
        """Return the I/O that the disk completed first: `bytes` and `share` (0 to 1) by who dirtied it."""
        one = self.causes[cause]
        sizes = one.request.ahead if one.request else one.written
        whole = sum(sizes.values())
        return frame(((name, size, size / whole) for name, size in sizes.items()), ("from", "bytes", "share"), "from")

    def prove(self, suspects: Sequence[str] = (), kernel: str = "", bound_s: float = 0.3) -> "pd.DataFrame":
        """Repeat the run without each suspect, stopped as it begins: `verdict` and `duration_s` by `changed`.

        Until then both runs are identical to the bit, which is checked. Makes a run for each suspect, which takes
        seconds and is kept; a run in virtual time only.

        Args:
            suspects: names of loads (default: all that wrote before the pause ended).
            kernel: the guest's, as for `wblab.run` (default: that of the run).
            bound_s: a pause of at most this many seconds counts as gone.

        Raises InputError for a run that cannot be repeated, WblabError if a repetition fails or proves nothing.
        """
        from wblab.study.designs.prove.change import StopLoad
        from wblab.study.designs.prove.runs import maker
        from wblab.study.designs.prove.trial import Trial, begin_ns
        from wblab.study.designs.prove.trial import suspects as who

        with maker(self.run, RESULTS, kernel) as make:
            trial = Trial(self.run, self.explanation, make, round(bound_s * NS_PER_S))
            names = suspects or who(self.run, self.explanation)
            found = trial.outcomes([(StopLoad(name), begin_ns(self.run, name)) for name in names])
        rows = [(each.changed, each.verdict, each.pause_ns / NS_PER_S) for each in found]
        return frame(rows, ("changed", "verdict", "duration_s"), "changed")

    def __str__(self) -> str:
        return "\n".join(sentences(self.explanation))

    def __repr__(self) -> str:
        (cause,) = groups([self.explanation])
        return f"<Pause of {self.load} at {self.start_s:.1f} s: {sentence(cause, self.run.kinds)}>"

    def _repr_html_(self) -> str | None:
        return shown(Report("", "", (pause(self.explanation),)))


class Why(Sequence[ExplainedPause]):
    """The explained pauses of a run, in the order of time; printed, the answer of `wblab why`.

    run: the run. bound_s: pauses longer than this are explained, in s. `why[0]` is the first pause, `why.longest` the
    longest.
    """

    def __init__(self, run: Run, bound_s: float, found: Sequence[ExplainedPause]) -> None:
        self.run, self.bound_s, self._found = run, bound_s, tuple(found)

    @classmethod
    def of(cls, run: Run, load: str, bound_s: float) -> Self:
        """Explain the pauses of a run. Raises InputError."""
        found = explanations(run, load, round(bound_s * NS_PER_S))
        return cls(run, bound_s, [ExplainedPause(item.explanation, item.recorded, run) for item in found])

    @property
    def _bound(self) -> str:
        return duration(round(self.bound_s * NS_PER_S))

    @property
    def report(self) -> Report:
        """The answer of `wblab why --no-try`, as data."""
        return report(self.run, self, self._bound)

    @property
    def longest(self) -> ExplainedPause:
        """The longest pause. Raises ValueError if there is none."""
        return max(self, key=lambda item: item.explanation.pause_ns)

    @property
    def answer(self) -> str:
        """One sentence: who stalled whom, for how long and how."""
        return self.lines()[0]

    def lines(self) -> list[str]:
        """Return a sentence for each cause, the one that matters most first."""
        if not self:
            return [f"No pause over {self._bound}."]
        causes, kinds = groups(item.explanation for item in self), self.run.kinds
        return [sentence(causes[0], kinds), *(f"Also: {sentence(each, kinds)}" for each in causes[1:_MOST_CAUSES])]

    @property
    def pauses(self) -> "pd.DataFrame":
        """A row for each pause: `start_s`, `load`, `duration_s`, `cause`, `blame`, `unexplained_s`.

        cause: what its main chain of waiting tasks ended with. blame: whether writeback caused most of it.
        """
        rows = [
            (it.start_s, it.load, it.duration_s, main_chain(it.explanation)[0].links[-1][1], it.explanation.blame,
             it.explanation.unexplained_ns / NS_PER_S)
            for it in self
        ]  # fmt: skip
        return frame(rows, ("start_s", "load", "duration_s", "cause", "blame", "unexplained_s"))

    @property
    def causes(self) -> "pd.DataFrame":
        """The paused time by load and cause: `paused_s` and `share` (0 to 1, of the load's pauses)."""
        rows = [
            (load, what, time_ns / NS_PER_S, time_ns / sum(parts.values()))
            for load, parts in by_load(item.explanation for item in self).items()
            for what, time_ns in parts.items()
        ]
        return frame(rows, ("load", "cause", "paused_s", "share"), ("load", "cause"))

    def plot(self, *, ax: "Axes | None" = None) -> "Axes":
        """Draw a bar for each pause, stacked by cause, in s; into axes of yours or new ones, and return them."""
        from wblab.plot.causes import causes_axes

        axes: Axes = causes_axes([item.explanation for item in self], ax)
        return axes

    def save(self, path: str | Path) -> Path:
        """Write a page in HTML, as `wblab why --html` does; return its path. Raises WblabError."""
        from wblab.plot.whypage import drawn_report
        from wblab.report.page import write

        return write(drawn_report(self.run, self, self._bound), Path(path))

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, at: int) -> ExplainedPause: ...
    @overload
    def __getitem__(self, at: slice) -> "Why": ...
    def __getitem__(self, at: int | slice) -> "ExplainedPause | Why":
        return Why(self.run, self.bound_s, self._found[at]) if isinstance(at, slice) else self._found[at]

    def __str__(self) -> str:
        return "\n".join([*self.lines(), *([total([item.explanation for item in self])] if self else [])])

    def __repr__(self) -> str:
        return f"<Why: {self.answer}>"

    def _repr_html_(self) -> str | None:
        return shown(self.report)
