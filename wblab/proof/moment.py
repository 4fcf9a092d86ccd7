"""What happened in a run between two moments, such as those on both sides of a point of no return; told by its events.

That is what a suspect did and what followed from it for the disk: no more than the trace shows, and no claim that one
of it was the cause. That there is a point is proven by the runs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import tracecmd

from wblab.data.run import Run
from wblab.data.throttling import freerun
from wblab.report.quantities import duration, size
from wblab.why.explain import Explanation
from wblab.why.recorded import Recorded
from wblab.why.requests import SUBMITTER, Numbers

_PAGE = 4096
_MOST = 3  # of what happened, as much is told
_DIRTY_STATE, _COMMIT = "global_dirty_state", "jbd2_start_commit"


@dataclass(frozen=True)
class Happened:
    """A sentence, and the places in the trace of the events that prove it."""

    text: str
    events: tuple[int, ...]


@dataclass(frozen=True)
class States:
    """What was dirty or being written, and from where on the flusher begins and writers are held back, in pages."""

    rank: Numbers
    dirty: Numbers
    background: Numbers
    held: Numbers


@dataclass(frozen=True)
class Window:
    """A part of a run: `first` and `last` are places in its trace, the latter behind its end. suspect: a task's pid.

    states: those inside, with the last one before; none where the trace has not that event.
    """

    recorded: Recorded
    pause: Explanation
    suspect: int
    first: int
    last: int

    @property
    def name(self) -> str:
        """The suspect's name."""
        return self.recorded.name(self.suspect)

    @cached_property
    def states(self) -> States | None:
        """What the kernel held against its thresholds."""
        events = self.events(_DIRTY_STATE)
        if events is None:
            return None
        rank = self.recorded.sequence.ranks(events)
        inside = self.rows(rank)
        rows = slice(max(0, inside.start - 1), inside.stop)
        dirty, written, background, threshold = (
            events[name].astype(np.int64)[rows]
            for name in ("nr_dirty", "nr_writeback", "background_thresh", "dirty_thresh")
        )
        return States(rank[rows], dirty + written, background, freerun(background, threshold))

    def events(self, name: str) -> tracecmd.Events | None:
        """Return all events of a name; None where the trace has none."""
        trace = self.recorded.trace
        return trace.events(name) if name in trace.names else None

    def rows(self, ranks: Numbers) -> slice:
        """Return which of the places in the trace, in order, lie inside."""
        return slice(*np.searchsorted(ranks, [self.first, self.last]).tolist())


def happened(
    run: Run, recorded: Recorded, pause: Explanation, suspect: str, times_ns: tuple[int, int]
) -> list[Happened]:
    """Return what happened between two times, ns from the run's zero: what the suspect did, and what came of it."""
    first, last = np.searchsorted(recorded.sequence.ts_ns, [run.zero_ns + time_ns for time_ns in times_ns]).tolist()
    window = Window(recorded, pause, run.load(suspect).pid, first, last)
    return [found for tell in _TOLD if (found := tell(window))][:_MOST]


def _dirtied(window: Window) -> Happened | None:
    """Tell what the suspect dirtied, what was dirty then, and from where on the kernel does something about that."""
    dirtied, states = window.recorded.dirtied, window.states
    rows = np.arange(len(dirtied.rank))[window.rows(dirtied.rank)]
    own = rows[dirtied.pid[rows] == window.suspect]
    if not len(own):
        return None
    dirty = int(((dirtied.rank < window.last) & (dirtied.clean_rank >= window.last)).sum())
    text = f"{window.name} dirtied {size(len(own) * _PAGE)}; {size(dirty * _PAGE)} were dirty or being written then"
    if states and len(states.rank):
        background, held = (size(int(bound[-1]) * _PAGE) for bound in (states.background, states.held))
        text += f", where the flusher begins to write at {background}, and writers are held back at {held}"
    return Happened(f"{text}.", (int(dirtied.rank[own[0]]), int(dirtied.rank[own[-1]])))


def _request(window: Window) -> Happened | None:
    """Tell that the request came to the disk with which the pause ended."""
    cause = window.pause.causes[0] if window.pause.causes else None
    if cause is None or cause.request is None:
        return None
    done, request = window.recorded.done, cause.request
    rows = np.flatnonzero((done.ts_ns == request.done_ns) & (done.sector == request.sector))
    first = int(done.first_rank[rows[0]]) if len(rows) else -1
    if not window.first <= first < window.last:
        return None
    took = duration(request.done_ns - request.handed_ns)
    return Happened(
        f"The request with which the pause ended was sent to the disk, which completed it after {took}.",
        (first, int(done.rank[rows[0]])),
    )


def _handed(window: Window) -> Happened | None:
    """Tell what of the suspect's was handed to the disk, and what that had to do already."""
    moved = window.recorded.moved
    inside = (moved.rank >= window.first) & (moved.rank < window.last)
    whose = np.where(moved.owner == SUBMITTER, moved.submitter, moved.owner)
    own = np.flatnonzero(inside & (whose == window.suspect))
    if not len(own):
        return None
    before = int(moved.size[(moved.rank < window.first) & (moved.done_rank >= window.first)].sum())
    ranks = moved.rank[own]
    handed = size(int(moved.size[own].sum()))
    text = f"{handed} of {window.name} were handed to the disk, which had {size(before)} to do already."
    return Happened(text, (int(ranks.min()), int(ranks.max())))


def _over(window: Window) -> Happened | None:
    """Tell that more was dirty than at the higher of the thresholds that were passed."""
    states = window.states
    if not states or len(states.rank) < 2:
        return None
    for bound, does in ((states.held, "writers are held back"), (states.background, "the flusher begins to write")):
        over = states.dirty > bound
        if not over[0] and over.any():
            at = int(np.argmax(over))
            dirty, passed = (size(int(pages[at]) * _PAGE) for pages in (states.dirty, bound))
            text = f"{dirty} were dirty or being written: more than {passed}, from where on {does}."
            return Happened(text, (int(states.rank[at]),))
    return None


def _commit(window: Window) -> Happened | None:
    """Tell that the journal began to commit."""
    commits = window.events(_COMMIT)
    if commits is None:
        return None
    ranks = window.recorded.sequence.ranks(commits)
    inside = window.rows(ranks)
    if inside.start == inside.stop:
        return None
    number = int(commits["transaction"][inside.start])
    return Happened(f"The journal began to commit transaction {number}.", (int(ranks[inside.start]),))


_TOLD: tuple[Callable[[Window], Happened | None], ...] = (_dirtied, _request, _over, _handed, _commit)
