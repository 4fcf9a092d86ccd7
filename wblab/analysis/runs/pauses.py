"""Pauses: their lengths, their number, and their meaning for a waiting user."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from wblab.analysis.runs.disks import unplug_s
from wblab.analysis.runs.pagecache import PageCache
from wblab.analysis.runs.run import LoadCycles, Run
from wblab.analysis.runs.writers import Writer, writers
from wblab.core.units import NS_PER_S

DEFAULT_BOUND_NS = 300_000_000
CONTROL_BOUND_NS = 50_000_000  # with a longer stall of the control load a run is noisy: the host disturbed it


@dataclass(frozen=True)
class Pause:
    """One pause. start_s: the start of its cycle, since the run's start; duration_s: the pause without idle time."""

    start_s: float
    duration_s: float


@dataclass(frozen=True)
class LoadPauses:
    """The figures of one load. wait_time_s: the expected wait, at a random moment, for the current pause to end.

    disk: the one that it writes to; empty in a run with one disk. dropped: how many cycles of a main loop dropped their
    work, a line or a request.
    """

    name: str
    kind: str
    disk: str
    cycles: int
    duration_s: float
    longest_pause_s: float
    wait_time_s: float
    paused_s: float
    paused_fraction: float
    pauses: tuple[Pause, ...]
    dropped: int = 0


@dataclass(frozen=True)
class PauseReport:
    """The figures of all loads of a run, with the pauses over a threshold."""

    run: str
    kind: str  # of the run: uml, live
    outcome: str
    reason: str  # why a run failed
    bound_s: float
    control_stall_s: float | None  # the longest pause of the control loads, if over CONTROL_BOUND_NS
    loads: tuple[LoadPauses, ...]
    unplug_s: dict[str, float]  # by offender: how long writeback went on after its end
    errors: dict[str, str]  # the errors with which loads ended, by load
    writers: tuple[Writer, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        return asdict(self)


def pause_report(run: Run, bound_ns: int = DEFAULT_BOUND_NS, cache: PageCache | None = None) -> PauseReport:
    """Return a run's figures and its pauses over `bound_ns`. cache: the trace, to include other writers."""
    stall_ns = control_stall_ns(run)
    return PauseReport(
        run=run.name,
        kind=str(run.record.get("kind", "")),
        outcome=str(run.record.get("outcome", "")),
        reason=run.failure,
        bound_s=bound_ns / NS_PER_S,
        control_stall_s=stall_ns / NS_PER_S if stall_ns > CONTROL_BOUND_NS and has_hosts_clock(run) else None,
        loads=tuple(load_pauses(item, run.zero_ns, bound_ns) for item in run.loads),
        unplug_s=unplug_s(run),
        errors={item.name: item.error for item in run.loads if item.error},
        writers=writers(run, cache),
    )


def has_hosts_clock(run: Run) -> bool:
    """Whether a run's time was the host's, which other work on the host disturbs."""
    return run.spec.clock.mode == "real"


def control_stall_ns(run: Run) -> int:
    """Return the longest pause of a run's control loads; 0 without one. Over CONTROL_BOUND_NS, the host caused it."""
    return max((int(item.pauses_ns.max()) for item in run.loads if item.load.role == "control"), default=0)


def load_pauses(item: LoadCycles, zero_ns: int, bound_ns: int = DEFAULT_BOUND_NS) -> LoadPauses:
    """Return the figures of one load; times of pauses count from `zero_ns`."""
    pauses_s = item.pauses_ns / NS_PER_S
    duration_s = int(item.boundaries_ns[-1] - item.boundaries_ns[0]) / NS_PER_S
    over = np.flatnonzero(item.pauses_ns > bound_ns)
    return LoadPauses(
        name=item.name,
        kind=item.load.kind,
        disk="" if item.load.role == "control" else item.load.disk,
        cycles=len(pauses_s),
        duration_s=duration_s,
        longest_pause_s=float(pauses_s.max()),
        wait_time_s=float(np.square(pauses_s).sum() / (2 * duration_s)) if duration_s else 0.0,
        paused_s=float(pauses_s.sum()),
        paused_fraction=float(pauses_s.sum() / duration_s) if duration_s else 0.0,
        pauses=tuple(Pause(int(item.starts_ns[i] - zero_ns) / NS_PER_S, float(pauses_s[i])) for i in over),
        dropped=item.dropped,
    )
