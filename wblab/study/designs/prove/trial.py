"""Repeat a run with a change from some moment on, and compare its pause with the original one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from wblab.analysis.runs.difference import loads_differ_s
from wblab.analysis.runs.run import LoadCycles, Run, guest_spec
from wblab.analysis.why.explain import Explanation
from wblab.core.errors import InputError, WblabError
from wblab.core.spec import GRID_NS, Spec
from wblab.core.units import NS_PER_S, Nanoseconds
from wblab.study.designs.prove.change import Change

Verdict = Literal["gone", "shorter", "unchanged", "longer"]
Make = Callable[[Sequence[Spec]], list[Run]]

_UNCHANGED = 0.05  # a difference of at most this share of the pause counts as unchanged
_AT_ONCE_NS = 100_000_000  # a load whose first cycle begins later than this after its start has done something before
_BEGUN_NS = 1_000_000  # this long after its first boundary, a load is in its first cycle
_MARGIN_NS = NS_PER_S  # guest time after the pause, in which a longer pause would show
_EXACT_S = 1e-6


@dataclass(frozen=True)
class TrialOutcome:
    """The result of a run with a change. changed: the name of the stopped suspect, or of the remedy.

    at_ns: the moment of the change, since the start of the repeated run. pause_ns: the load's pause that overlaps the
    original one for most of its time. beside_ns: the longest other pause that overlaps the original one.
    """

    changed: str
    at_ns: int
    pause_ns: int
    verdict: Verdict
    run: str
    beside_ns: int = 0


def suspects(run: Run, pause: Explanation) -> list[str]:
    """Return the loads that may have caused a pause: all other loads that did anything before it ended."""
    return [
        item.name
        for item in run.loads
        if item.name != pause.load and item.load.role != "control" and acts_ns(run, item) - run.zero_ns < pause.end_ns
    ]


def acts_ns(run: Run, item: LoadCycles) -> int:
    """Return when a load first does anything, in ns of the guest's clock.

    Some do so before their first cycle: they read a file into memory, or take all their memory.
    """
    began_ns, first_ns = loads_start_ns(run) + item.load.start, int(item.boundaries_ns[0])
    if first_ns - began_ns > _AT_ONCE_NS:
        return began_ns
    return first_ns + (item.load.idle_ns(0) if item.load.sleeps_first else 0)


def begin_ns(run: Run, load: str) -> int:
    """Return the first moment at which a load can be stopped, just after its start, in ns since the run's start."""
    return int(run.load(load).boundaries_ns[0]) + _BEGUN_NS - run.zero_ns


@dataclass(frozen=True)
class Trial:
    """A pause of a run in virtual time, to test with changes.

    make: makes the runs of specs, as many at a time as it likes. bound_ns: a pause of at most this length counts as
    gone.
    """

    run: Run
    pause: Explanation
    make: Make
    bound_ns: int

    def outcome(self, change: Change, at_ns: int) -> TrialOutcome:
        """Return the outcome of the pause if the change takes effect `at_ns` after the run's start. As `outcomes`."""
        (found,) = self.outcomes([(change, at_ns)])
        return found

    def outcomes(self, changes: Sequence[tuple[Change, int]]) -> list[TrialOutcome]:
        """Return the outcome of the pause for each change, with its time in ns after the run's start.

        Raises InputError for a run in real time. Raises WblabError if a run differs from the known one before the
        change, because then it would prove nothing.
        """
        start_ns = loads_start_ns(self.run)
        moved_ns = self.run.zero_ns - start_ns
        end_ns = moved_ns + self.pause.end_ns + _MARGIN_NS
        made = self.make([changed_spec(self.run, change, moved_ns + at_ns, end_ns) for change, at_ns in changes])
        return [self._judged(run, change, at_ns) for run, (change, at_ns) in zip(made, changes, strict=True)]

    def _judged(self, second: Run, change: Change, at_ns: int) -> TrialOutcome:
        run, pause, changed_s = self.run, self.pause, (self.run.zero_ns + at_ns) / NS_PER_S
        differs_s = loads_differ_s(run, second)
        if differs_s is not None and differs_s < changed_s - _EXACT_S:
            raise WblabError(
                f"{second.path} proves nothing: it differs at {differs_s:.6f} s, before the change at "
                f"{changed_s:.6f} s ({change.name}): repeat the run with this lab and kernel, and prove the new one"
            )
        after_ns, beside_ns = _same_ns(second, pause, run.zero_ns)
        became = verdict(pause.pause_ns, after_ns, self.bound_ns)
        return TrialOutcome(change.name, at_ns, after_ns, became, str(second.path), beside_ns)


def changed_spec(run: Run, change: Change, at_ns: int, end_ns: int) -> Spec:
    """Return the spec of a run that changes at `at_ns` and ends at `end_ns`. Raises InputError."""
    original = guest_spec(run)
    spec = change.applied(original, at_ns)
    last_ns = Nanoseconds(min(end_ns, original.time_limit))
    ended = {name: replace(load, until=min(load.until, last_ns)) for name, load in spec.load.items() if load.ends}
    begun = {name: phase for name, phase in spec.phase.items() if phase.at < last_ns}
    named = replace(spec, name=f"{original.name}_{change.called}", phase=begun)
    return replace(named, load={**spec.load, **ended}, time_limit=last_ns)


def loads_start_ns(run: Run) -> int:
    """Return the start of a run's loads, in ns of the guest's clock. Raises InputError for a run in real time."""
    if run.spec.clock.mode != "virtual":
        raise InputError(
            f"{run.path} was made in real time, where no two runs are identical: prove a run with the virtual clock"
        )
    return min(int(item.boundaries_ns[0]) - item.load.start for item in run.loads) // GRID_NS * GRID_NS


def verdict(before_ns: int, after_ns: int, bound_ns: int) -> Verdict:
    """Return the verdict on a pause from its lengths before and after the change."""
    if after_ns <= bound_ns:
        return "gone"
    if abs(after_ns - before_ns) <= _UNCHANGED * before_ns:
        return "unchanged"
    return "shorter" if after_ns < before_ns else "longer"


def _same_ns(run: Run, pause: Explanation, zero_ns: int) -> tuple[int, int]:
    """Return two pauses of a load, in ns: the one that matches a pause of another run, and the longest one beside it.

    The match has the longest overlap, which is more than half of its own time. A missing pause is 0.
    """
    item = run.load(pause.load)
    starts_ns, ends_ns = item.boundaries_ns[:-1] - zero_ns, item.boundaries_ns[1:] - zero_ns
    shared_ns = np.minimum(ends_ns, pause.end_ns) - np.maximum(starts_ns, pause.start_ns)
    pauses_ns = np.where(shared_ns > 0, item.pauses_ns, 0)
    if not pauses_ns.any():
        return 0, 0
    same = int(np.argmax(np.where(pauses_ns > 0, shared_ns, 0)))
    is_same = 2 * shared_ns[same] > ends_ns[same] - starts_ns[same]
    after_ns = int(pauses_ns[same]) if is_same else 0
    if is_same:
        pauses_ns[same] = 0
    return after_ns, int(pauses_ns.max())
