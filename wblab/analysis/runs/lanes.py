"""Lanes: of each load of a run, when it worked and when it was frozen. Pictures, pages and terminals draw them.

A load is *frozen* during each of its pauses over a threshold. Times are int ns since the loads of the run started.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wblab.analysis.runs.pauses import DEFAULT_BOUND_NS
from wblab.analysis.runs.run import LoadCycles, Run
from wblab.core.loads.base import Role
from wblab.core.units import NS_PER_S
from wblab.lab.callings import called, doing

Span = tuple[int, int]  # ns: a start and an end

_ORDER: tuple[Role, ...] = ("innocent", "offender", "control")


@dataclass(frozen=True)
class Lane:
    """One load. says: what it does. start_ns, end_ns: when it worked. frozen_ns: its freezes, in the order of time.

    kind: of the load, from which comes what it is called.
    """

    name: str
    role: Role
    says: str
    start_ns: int
    end_ns: int
    frozen_ns: tuple[Span, ...] = ()
    kind: str = ""

    @property
    def called(self) -> str:
        """Its name, with what a reader calls such a program: `editor w1`."""
        return called(self.kind, self.name)

    @property
    def worked(self) -> bool:
        """Whether it did anything; an offender may be stopped before it begins."""
        return self.end_ns > self.start_ns

    @property
    def longest_ns(self) -> int:
        """The length of its longest freeze; 0 if it was never frozen."""
        return max((end - start for start, end in self.frozen_ns), default=0)


@dataclass(frozen=True)
class Lanes:
    """The lanes of one run: innocent loads first, then offenders, then control loads.

    bound_ns: the threshold of a freeze. failure: why the run failed; empty if it succeeded.
    """

    title: str
    lanes: tuple[Lane, ...]
    bound_ns: int
    failure: str = ""

    @property
    def end_ns(self) -> int:
        """The end of the run."""
        return max((lane.end_ns for lane in self.lanes), default=0)

    @property
    def begins_ns(self) -> int | None:
        """When the first offender began to write; None without one."""
        wrote = [lane.start_ns for lane in self.lanes if lane.role == "offender" and lane.worked]
        return min(wrote, default=None)

    @property
    def longest_ns(self) -> int:
        """The longest freeze of an innocent load; 0 if none was frozen."""
        return max((lane.longest_ns for lane in self.lanes if lane.role == "innocent"), default=0)

    def shown(self, most: int) -> tuple[Lane, ...]:
        """Return the lanes to draw, at most `most`: those frozen longest, in their order.

        A control load is drawn only if it was frozen: then the machine itself stood still.
        """
        lanes = [lane for lane in self.lanes if lane.role != "control" or lane.frozen_ns]
        longest = sorted(lanes, key=lambda lane: (lane.role == "innocent", -lane.longest_ns))  # offenders stay
        chosen = longest[:most]
        return tuple(lane for lane in lanes if lane in chosen)


def lanes_of(run: Run, title: str = "", bound_ns: int = DEFAULT_BOUND_NS) -> Lanes:
    """Return the lanes of a run; its name is the title unless another is given."""
    starts = run.offender_starts_ns()
    found = [
        _lane(item, starts.get(item.name, int(item.boundaries_ns[0])), run.zero_ns, bound_ns) for item in run.loads
    ]
    ordered = sorted(found, key=lambda lane: _ORDER.index(lane.role))
    return Lanes(title or run.name.lstrip("_"), tuple(ordered), bound_ns, run.failure)


def _lane(item: LoadCycles, start_ns: int, zero_ns: int, bound_ns: int) -> Lane:
    end_ns = int(item.boundaries_ns[-1])
    frozen = () if item.load.role == "offender" else _freezes(item, zero_ns, bound_ns)
    load = item.load
    times_ns = min(start_ns, end_ns) - zero_ns, end_ns - zero_ns
    says = doing(load.kind, load.idle_ns(1) / NS_PER_S if load.role == "innocent" else 0) or load.description
    return Lane(item.name, load.role, says, *times_ns, frozen, load.kind)


def _freezes(item: LoadCycles, zero_ns: int, bound_ns: int) -> tuple[Span, ...]:
    """Return the pauses over a threshold; a load sleeps before or after them, as it does in each cycle."""
    at = np.flatnonzero(item.pauses_ns > bound_ns)
    slept_ns = item.idle_ns[at] if item.load.sleeps_first else 0
    starts_ns = item.starts_ns[at] + slept_ns - zero_ns
    return tuple(zip(starts_ns.tolist(), (starts_ns + item.pauses_ns[at]).tolist(), strict=True))


def axis_ns(runs: Sequence[Lanes]) -> int:
    """Return the length of the time axis that runs share: that of the longest."""
    return max((run.end_ns for run in runs), default=0)
