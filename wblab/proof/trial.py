"""The same run once more, in which something differs from some moment on: what becomes of a pause?"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from wblab.core.errors import InputError, WblabError
from wblab.core.spec import GRID_NS, Spec
from wblab.core.units import NS_PER_S, Nanoseconds
from wblab.data.difference import first_differences
from wblab.data.run import Run, guest_spec
from wblab.proof.change import Change
from wblab.why.explain import Explanation

Verdict = Literal["gone", "shorter", "unchanged", "longer"]
Make = Callable[[Spec], Run]

_SAME = 0.05  # of the pause: what differs by no more is unchanged
_BEGUN_NS = 1_000_000  # after its first boundary a load is in its first cycle
_MARGIN_NS = NS_PER_S  # of guest time after a pause, in which a longer one would show
_EXACT_S = 1e-6


@dataclass(frozen=True)
class Outcome:
    """A run in which something was changed: a suspect that was stopped, by its name, or a remedy.

    at_ns: from when on, from the zero of the run that was repeated. pause_ns: the longest pause of the load that
    overlaps with the one in question.
    """

    changed: str
    at_ns: int
    pause_ns: int
    verdict: Verdict
    run: str


def suspects(run: Run, pause: Explanation) -> list[str]:
    """Return the loads that could be to blame for a pause: all that wrote before it ended, but for its own."""
    return [
        item.name
        for item in run.loads
        if item.name != pause.load
        and item.load.role != "control"
        and int(item.boundaries_ns[0]) + item.load.idle_ns(0) - run.zero_ns < pause.end_ns
    ]


def begin_ns(run: Run, load: str) -> int:
    """Return the first moment at which a load can be stopped, in ns from the run's zero: it has just begun."""
    return int(run.load(load).boundaries_ns[0]) + _BEGUN_NS - run.zero_ns


@dataclass(frozen=True)
class Trial:
    """What is asked: what becomes of a pause of a run with a change? In virtual time only.

    make: makes the run of a spec. bound_ns: a pause that is not longer is gone.
    """

    run: Run
    pause: Explanation
    make: Make
    bound_ns: int

    def outcome(self, change: Change, at_ns: int) -> Outcome:
        """Return what became of the pause with a change from `at_ns` on, from the run's zero.

        Raises InputError for a run in real time, and WblabError where the two runs are not the same to the bit up to
        then: it would prove nothing.
        """
        run, pause, start_ns = self.run, self.pause, loads_start_ns(self.run)
        changed_ns = run.zero_ns + at_ns - start_ns
        end_ns = run.zero_ns + pause.end_ns - start_ns + _MARGIN_NS
        second = self.make(changed_spec(run, change, changed_ns, end_ns))
        differences, changed_s = first_differences(run, second), (start_ns + changed_ns) / NS_PER_S
        if differences and differences[0].at_s < changed_s - _EXACT_S:
            raise WblabError(
                f"{second.path} proves nothing: it differs at {differences[0].at_s:.6f} s, before what was changed at "
                f"{changed_s:.6f} s, {change.name}: make the run again, with this lab and kernel, and prove that one"
            )
        after_ns = _overlapping_ns(second, pause, run.zero_ns)
        return Outcome(change.name, at_ns, after_ns, verdict(pause.pause_ns, after_ns, self.bound_ns), str(second.path))


def changed_spec(run: Run, change: Change, at_ns: int, end_ns: int) -> Spec:
    """Return the spec of a run with a change from `at_ns` on, which ends well at `end_ns`. Raises InputError."""
    original = guest_spec(run)
    spec = change.applied(original, at_ns)
    last_ns = Nanoseconds(min(end_ns, original.time_limit))
    ended = {name: replace(load, until=min(load.until, last_ns)) for name, load in spec.load.items() if load.ends}
    return replace(spec, name=f"{original.name}_{change.called}", load={**spec.load, **ended}, time_limit=last_ns)


def loads_start_ns(run: Run) -> int:
    """Return when the loads of a run were started, in ns of the guest's clock. Raises InputError in real time."""
    if run.spec.clock.mode != "virtual":
        raise InputError(f"{run.path} was made in real time, in which no two runs are the same: nothing can be proven")
    return min(int(item.boundaries_ns[0]) - item.load.start for item in run.loads) // GRID_NS * GRID_NS


def verdict(before_ns: int, after_ns: int, bound_ns: int) -> Verdict:
    """Return what became of a pause."""
    if after_ns <= bound_ns:
        return "gone"
    if abs(after_ns - before_ns) <= _SAME * before_ns:
        return "unchanged"
    return "shorter" if after_ns < before_ns else "longer"


def _overlapping_ns(run: Run, pause: Explanation, zero_ns: int) -> int:
    """Return the longest pause of a load in the cycles that overlap with a pause of another run with this zero."""
    item = run.load(pause.load)
    starts_ns, ends_ns = item.boundaries_ns[:-1] - zero_ns, item.boundaries_ns[1:] - zero_ns
    rows = (starts_ns < pause.end_ns) & (ends_ns > pause.start_ns)
    return int(np.max(item.pauses_ns[rows], initial=0))
