"""Describe what happened in a run between two moments, such as just before and after the point of no return.

The sentences say what the suspect did and what the disk did next, as the trace shows it. They name no cause: only the
repeated runs prove that there is a latest effective intervention.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import tracecmd

from wblab.analysis.runs.run import Run
from wblab.analysis.runs.throttling import freerun
from wblab.analysis.why.explain import Explanation
from wblab.analysis.why.recorded import Recorded
from wblab.analysis.why.requests import SUBMITTER, Numbers
from wblab.report.quantities import duration, size

_PAGE = 4096
_SENTENCES = 3  # at most
_DIRTY_STATE, _COMMIT = "global_dirty_state", "jbd2_start_commit"


@dataclass(frozen=True)
class Happened:
    """A sentence and its evidence: the places of events in the trace."""

    text: str
    events: tuple[int, ...]


@dataclass(frozen=True)
class States:
    """Pages that are dirty or under writeback, and two thresholds: the flusher begins, the kernel slows writers."""

    rank: Numbers
    dirty: Numbers
    background: Numbers
    throttling: Numbers


@dataclass(frozen=True)
class StopWindow:
    """A part of a run. first, last: places in its trace, without `last`. suspect: a task's key."""

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
        """The dirty pages and thresholds inside the window, and the last ones before it; None if not traced."""
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
        """Return all events with this name; None if the trace has none."""
        trace = self.recorded.trace
        return trace.events(name) if name in trace.names else None

    def rows(self, ranks: Numbers) -> slice:
        """Return the slice of sorted places in the trace that lie inside the window."""
        return slice(*np.searchsorted(ranks, [self.first, self.last]).tolist())


def happened(
    run: Run, recorded: Recorded, pause: Explanation, suspect: str, times_ns: tuple[int, int]
) -> list[Happened]:
    """Return sentences on what the suspect did between two times, in ns since the run's start, and what followed."""
    first, last = np.searchsorted(recorded.sequence.ts_ns, [run.zero_ns + time_ns for time_ns in times_ns]).tolist()
    window = StopWindow(recorded, pause, recorded.tasks.of_load(suspect, run.load(suspect).pid), first, last)
    return [found for describe in _DESCRIPTIONS if (found := describe(window))][:_SENTENCES]


def _dirtied(window: StopWindow) -> Happened | None:
    """Describe how much the suspect dirtied, the dirty memory at the end, and the kernel's thresholds."""
    dirtied, states = window.recorded.dirtied, window.states
    rows = np.arange(len(dirtied.rank))[window.rows(dirtied.rank)]
    own = rows[dirtied.pid[rows] == window.suspect]
    if not len(own):
        return None
    dirty = int(((dirtied.rank < window.last) & (dirtied.clean_rank >= window.last)).sum())
    text = f"{window.name} dirtied {size(len(own) * _PAGE)}; {size(dirty * _PAGE)} were then waiting to be written"
    if states and len(states.rank):
        background, throttling = (size(int(pages[-1]) * _PAGE) for pages in (states.background, states.throttling))
        text += f". The flusher begins to write at {background}, and the kernel slows writers at {throttling}"
    return Happened(f"{text}.", (int(dirtied.rank[own[0]]), int(dirtied.rank[own[-1]])))


def _request(window: StopWindow) -> Happened | None:
    """Describe the submission of the request that later ended the pause."""
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
        f"The request that later ended the pause was submitted; the disk completed it after {took}.",
        (first, int(done.rank[rows[0]])),
    )


def _submitted(window: StopWindow) -> Happened | None:
    """Describe how much of the suspect's data was submitted to the disk, and how much was ahead in the queue."""
    moved = window.recorded.moved
    inside = (moved.rank >= window.first) & (moved.rank < window.last)
    whose = np.where(moved.owner == SUBMITTER, moved.submitter, moved.owner)
    own = np.flatnonzero(inside & (whose == window.suspect))
    if not len(own):
        return None
    before = int(moved.size[(moved.rank < window.first) & (moved.done_rank >= window.first)].sum())
    ranks = moved.rank[own]
    submitted = size(int(moved.size[own].sum()))
    text = f"{submitted} from {window.name} were submitted to the disk, behind {size(before)}."
    return Happened(text, (int(ranks.min()), int(ranks.max())))


def _over(window: StopWindow) -> Happened | None:
    """Describe that dirty memory passed a threshold: the higher one if it passed both."""
    states = window.states
    if not states or len(states.rank) < 2:
        return None
    thresholds = (
        (states.throttling, "the kernel slows writers"),
        (states.background, "the flusher begins to write"),
    )
    for threshold, does in thresholds:
        over = states.dirty > threshold
        if not over[0] and over.any():
            at = int(np.argmax(over))
            dirty, passed = (size(int(pages[at]) * _PAGE) for pages in (states.dirty, threshold))
            text = f"{dirty} were waiting to be written, more than {passed}, where {does}."
            return Happened(text, (int(states.rank[at]),))
    return None


def _commit(window: StopWindow) -> Happened | None:
    """Describe the start of a journal commit."""
    commits = window.events(_COMMIT)
    if commits is None:
        return None
    ranks = window.recorded.sequence.ranks(commits)
    inside = window.rows(ranks)
    if inside.start == inside.stop:
        return None
    number = int(commits["transaction"][inside.start])
    return Happened(f"The journal began to commit transaction {number}.", (int(ranks[inside.start]),))


_DESCRIPTIONS: tuple[Callable[[StopWindow], Happened | None], ...] = (_dirtied, _request, _over, _submitted, _commit)
