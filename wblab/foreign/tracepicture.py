"""A trace of another machine as a timeline: the panes that its events allow, and what would fill those that lack."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wblab.analysis.runs.names import event_name
from wblab.analysis.runs.pagecache import COMPLETED, DIRTIED, DIRTY_STATE, THROTTLING, PageCache
from wblab.analysis.runs.pauses import DEFAULT_BOUND_NS, around, between
from wblab.core.errors import InputError
from wblab.foreign.filekind import TRACE, kind_of_file
from wblab.foreign.recording import is_recording
from wblab.foreign.traced import Asked, Traced
from wblab.foreign.tracereport import opened
from wblab.lab.printable import printable
from wblab.plot.loadpanes import INNOCENT
from wblab.plot.marks import Timeline
from wblab.plot.picture import picture, save
from wblab.plot.timeline import chosen, timeline

PERFETTO = "perfetto-trace"
_PAGE = ".html"
_CALLS = "calls of a program, and what is between them"
_WAKING = "sched_waking"
# What each event shows; several panes may need one.
_PANES = {
    DIRTY_STATE: ("dirty state", "writeback:global_dirty_state"),
    THROTTLING: ("throttling and rate limits", "writeback:balance_dirty_pages"),
    COMPLETED: ("written, by disk", "block:block_rq_complete"),
    DIRTIED[0]: ("dirtied, by task", "writeback:writeback_dirty_folio"),
    _WAKING: ("causes of pauses", "sched:sched_waking, with the stacks of it and of sched_switch"),
}


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What to draw of a trace. tasks: see `Asked`. around: a task, or longest; empty: all, or from one time to another.

    start_ns, end_ns: since the trace's begin. panes: names, as of `chosen`. has_causes: colour pauses by cause.
    """

    tasks: Sequence[str] = ()
    around: str = ""
    start_ns: int | None = None
    end_ns: int | None = None
    panes: str = ""
    has_causes: bool = True
    bound_ns: int = DEFAULT_BOUND_NS


def draw(file: Path, output: Path, wanted: Wanted) -> list[str]:
    """Write a trace's timeline, as what the output's suffix says, and return what it lacks, a line each.

    Raises InputError for what is no trace, and for a task, a pane or a span that it does not have.
    """
    is_kept = is_recording(file)
    if not is_kept and kind_of_file(file) is not TRACE:
        raise InputError(
            f"{str(file)!r} is no trace that can be drawn: give a trace.dat or a recorder's file; 'wblab why' names it"
        )
    with opened(file, Asked(tuple(wanted.tasks)), is_kept=is_kept) as traced:
        if output.suffix == f".{PERFETTO}":
            return _export(traced, output, wanted)
        shown = chosen(_timeline(traced, wanted), wanted.panes)
        if output.suffix.lower() == _PAGE:
            from wblab.plot.page import save_page

            save_page(shown, output)
        else:
            save(picture(shown), file.name, output)
        return list(_lacking(traced.cache, wanted))


def _timeline(traced: Traced, wanted: Wanted) -> Timeline:
    run, window = traced.run, None
    if wanted.around:
        window = around(run, wanted.around)
    elif wanted.start_ns is not None or wanted.end_ns is not None:
        window = between(run, wanted.start_ns, wanted.end_ns)
    explained = [each.explanation for each in traced.explanations(wanted.bound_ns)] if wanted.has_causes else []
    drawn = timeline(run, traced.cache, wanted.bound_ns, window, explained)
    meanings = [replace(each, text=_CALLS) if each.group == INNOCENT else each for each in drawn.meanings]
    return replace(drawn, title=_title(traced), meanings=meanings, since="the trace began")


def _title(traced: Traced) -> str:
    """Return the file's name, and the release of its kernel if the trace says it."""
    words = printable(traced.cache.trace.info.uname).split()
    release = words[2] if len(words) > 2 and words[0] == "Linux" else ""
    return f"{printable(traced.run.name)}: Linux {release}" if release else printable(traced.run.name)


def _export(traced: Traced, output: Path, wanted: Wanted) -> list[str]:
    """Write a file for Perfetto's viewer."""
    from wblab.analysis.runs.perfetto import MOST_EVENTS, chosen_events, export

    cache = traced.cache
    output.write_bytes(export(traced.run, cache, wanted.bound_ns))
    left_out = chosen_events(cache)[1]
    counts = ", ".join(f"{name} ({count:,})" for name, count in left_out.items())
    return [f"left out, because such a file holds at most {MOST_EVENTS:,} such events: {counts}"] if left_out else []


def _lacking(cache: PageCache, wanted: Wanted) -> Iterator[str]:
    """Yield what is not drawn, and which events would show it."""
    lacking = {
        event: pane
        for event, pane in _PANES.items()
        if event_name(cache.trace, event) not in cache.counts and (wanted.has_causes or event != _WAKING)
    }
    for pane, event in lacking.values():
        yield f"not drawn: {pane}: no such event is in it: record {event}"
    if COMPLETED not in lacking and not cache.disks:
        yield "not drawn: written, by disk: a trace.dat does not name the disks: a recorder's file does"
