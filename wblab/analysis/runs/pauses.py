"""Pauses: their lengths, their number, and their meaning for a waiting user."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from wblab.analysis.runs.names import unplug_s
from wblab.analysis.runs.pagecache import PageCache
from wblab.analysis.runs.run import LoadCycles, Run
from wblab.analysis.runs.writers import Writer, writers
from wblab.core.errors import InputError, nearest
from wblab.core.units import NS_PER_S

# Spans of a run, for close-ups.

LONGEST = "longest"
_MARGIN = 0.4  # of a pause, before and after it
_LEAST_MARGIN_NS = NS_PER_S // 2


@dataclass(frozen=True)
class Window:
    """A span of a run, in ns of the guest's clock. load: whose pause it is around; empty for no pause."""

    start_ns: int
    end_ns: int
    load: str = ""

    @property
    def duration_ns(self) -> int:
        """Its length in ns."""
        return self.end_ns - self.start_ns


def whole(run: Run) -> Window:
    """Return the span in which the loads were measured."""
    return Window(run.zero_ns, max(int(item.boundaries_ns[-1]) for item in run.loads))


def between(run: Run, start_ns: int | None, end_ns: int | None) -> Window:
    """Return a span given in ns since the loads started; None stands for the start or the end of the run.

    Raises InputError for a span outside of the run.
    """
    all_ = whole(run)
    start = all_.start_ns if start_ns is None else run.zero_ns + start_ns
    end = all_.end_ns if end_ns is None else run.zero_ns + end_ns
    if start >= all_.end_ns or end <= all_.start_ns:
        last_s = all_.duration_ns / NS_PER_S
        raise InputError(f"the run {run.name} lasts {last_s:.2f} s: --from and --to must lie within that")
    if start >= end:
        said = " and ".join(f"{(time_ns - run.zero_ns) / NS_PER_S:g} s" for time_ns in (start, end))
        raise InputError(f"there is no time between {said}: --from must be before --to")
    return Window(max(start, all_.start_ns), min(end, all_.end_ns))


def around(run: Run, which: str) -> Window:
    """Return the span around the longest pause of the innocent loads ("longest") or of one load.

    Raises InputError for an unknown load.
    """
    item = longest_paused(run) if which == LONGEST else _named(run, which)
    index = int(item.pauses_ns.argmax())
    start_ns, end_ns = int(item.boundaries_ns[index]), int(item.boundaries_ns[index + 1])
    margin_ns = max(_LEAST_MARGIN_NS, int(_MARGIN * (end_ns - start_ns)))
    all_ = whole(run)
    return Window(max(all_.start_ns, start_ns - margin_ns), min(all_.end_ns, end_ns + margin_ns), item.name)


def cycles_in(item: LoadCycles, window: Window | None) -> tuple[int, int]:
    """Return the range of a load's cycles that overlap a window: the first, and the one after the last."""
    if window is None:
        return 0, len(item.durations_ns)
    first = int(np.searchsorted(item.boundaries_ns, window.start_ns, side="right")) - 1
    last = int(np.searchsorted(item.boundaries_ns, window.end_ns))
    return max(first, 0), min(last, len(item.durations_ns))


def longest_paused(run: Run) -> LoadCycles:
    """Return the innocent load with the longest pause; control loads count only if there are no others."""
    innocent = [item for item in run.loads if item.load.role == "innocent"]
    controls = [item for item in run.loads if item.load.role == "control"]
    candidates = innocent or controls or list(run.loads)
    return max(candidates, key=lambda item: int(item.pauses_ns.max()))


def _named(run: Run, name: str) -> LoadCycles:
    names = [item.name for item in run.loads]
    if name not in names:
        hint = nearest(name, [*names, LONGEST])
        raise InputError(f"no load {name!r} in {run.name}{hint}: give {LONGEST!r} or one of {', '.join(names)}")
    return run.load(name)


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
