"""The explained pauses of a run for beginners: the report of `wblab why` with bars of causes and with the evidence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape

from wblab.analysis.runs.lanes import lanes_of
from wblab.analysis.runs.run import Run
from wblab.analysis.why.account import UNEXPLAINED
from wblab.analysis.why.classify import in_context
from wblab.analysis.why.ends import end_of
from wblab.analysis.why.explain import Cause, Explanation
from wblab.analysis.why.explanations import Explained
from wblab.analysis.why.kinds import KINDS
from wblab.analysis.why.offcpu import Stack
from wblab.analysis.why.parties import READ
from wblab.analysis.why.shares import of_all
from wblab.core.spec import Spec
from wblab.core.units import NS_PER_S
from wblab.plot.lanespicture import lanes_picture
from wblab.plot.picture import themed
from wblab.plot.style import cause_colour, cause_label
from wblab.plot.timeline import title
from wblab.plot.waitspane import DID
from wblab.report.quantities import duration, percent
from wblab.report.quantities import size as size_text
from wblab.report.report import Block, Column, Picture, Points, Report, Row, Section, Span, Table, Words
from wblab.report.whyreport import report
from wblab.report.whytext import heading, main_causes, of_cause, of_rest

TIMELINE = "timeline.html"  # in the same directory; its address may end in a span, see `span`
_LITTLE = 0.01  # of a pause: shorter chains are summed up in one line
_MOST_OWNERS = 5  # the most writers listed by name
_MARGIN = 0.4  # of a pause, shown before and after it in a close-up
_PROVES = {
    "block_buffer_wait": "names the block it waits for",
    "folio_wait_writeback": "names the file whose page it waits for",
    "wait_on_page_writeback": "names the file whose page it waits for",
    "writeback_single_inode_start": "begins to write the file",
    "sched_switch": "goes to sleep",
    "block_rq_complete": "the disk completes the request",
    "sched_waking": "is woken",
}
_ABOUT = (
    "A pause is the time by which one cycle of a load's work was longer than intended. Each nanosecond is accounted "
    "for: the load was running, was ready to run but had no processor, or waited. The evidence of a wait is two kernel "
    "stacks: of the sleeper as it went to sleep, and of the waker. Where they disagree, the cause is unknown. Times "
    "count from the start of the loads, as in "
)


def drawn_report(run: Run, found: Sequence[Explained], bound: str, most: int | None = None) -> Report:
    """Return the report of explained pauses of a run, with their evidence.

    bound: the threshold that they exceed, in words. most: so many of the longest are shown one by one; None: all.
    """
    whole = report(run, found, bound, detail=lambda item: _pause(run, item))
    whole = replace(whole, about=(title(run).partition("\n")[0], *whole.about[1:]))
    if not found:
        return whole
    sums = of_all(item.explanation for item in found)
    lanes = Picture("When each load worked and when it was frozen", _lanes(run))
    every = Section("All pauses together", (_bar(sums), _parts(sums)), "page")
    longest = {id(item) for item in sorted(found, key=lambda item: -item.explanation.pause_ns)[:most]}
    scale_ns = max(item.explanation.pause_ns for item in found)
    shown = tuple(
        replace(_pause(run, item), place="folded", picture=_bar(item.explanation.parts, scale_ns))
        for item in found
        if id(item) in longest
    )
    head = "Each pause" if len(shown) == len(found) else f"The {len(shown)} longest pauses"
    about = (
        _ABOUT,
        Span("the timeline", link=TIMELINE),
        ". All bars have one scale: the longest pause fills the width.",
    )
    return replace(whole, blocks=(lanes, *whole.blocks, every, Section(head, (about, *shown), "page")))


def _lanes(run: Run) -> str:
    """Return the lanes of a run, as a page has them."""
    title = run.spec.name if isinstance(run.spec, Spec) else ""  # the directory's name has a date, a site none
    return themed(lanes_picture([lanes_of(run, title)]))


def span(item: Explanation) -> str:
    """Return the span of a close-up as the fragment of a URL: two times in s since the loads started."""
    length_ns = item.end_ns - item.start_ns
    first_ns, last_ns = max(0, item.start_ns - _MARGIN * length_ns), item.end_ns + _MARGIN * length_ns
    return f"#{first_ns / NS_PER_S:.3f}-{last_ns / NS_PER_S:.3f}"


def _pause(run: Run, found: Explained) -> Section:
    item = found.explanation
    happened = tuple(block for cause in main_causes(item) for block in _cause(run, found, cause))
    blocks = (
        (Span("Show it in the timeline", link=TIMELINE + span(item)),),
        _parts(item.parts),
        Section("What happened", (*happened, *of_rest(item))),
        Section("Who waited for whom", (Points(tuple(_chains(item))),)),
    )
    return Section(f"{item.number}. {heading(item)}", blocks, "page", picture=_bar(item.parts))


def _bar(parts: Mapping[str, int], scale_ns: int = 0) -> Picture:
    """Return a bar of as many colours as there are parts; the unknown is hatched. scale_ns: what fills the width."""
    total, left, drawn = sum(parts.values()), 0.0, ""
    for what, time_ns in parts.items():
        share, title = 100 * time_ns / total, f"<title>{escape(cause_label(what))}: {duration(time_ns)}</title>"
        fill = "url(#unknown)" if what == UNEXPLAINED else cause_colour(what)
        at = f'x="{left:.4f}%" width="{share:.4f}%" height="100%"'
        drawn += f'<rect {at} fill="{fill}">{title}</rect>'  # without a stroke, which would hide what is narrow
        left += share
    hatching = '<path d="M0 8 8 0" stroke="currentColor"/>'
    pattern = f'<pattern id="unknown" width="8" height="8" patternUnits="userSpaceOnUse">{hatching}</pattern>'
    wide = 100 * total / max(scale_ns, total)
    style = (
        f"width: {wide:.2f}%; height: 1.4em; min-width: 3px; display: block; box-sizing: border-box; border: 1px solid"
    )
    words = ", ".join(f"{cause_label(what)} {percent(time_ns / total)}" for what, time_ns in parts.items())
    # Its colours are those of the swatches, on light pages and dark.
    return Picture(
        "", f'<svg class="themed" role="img" aria-label="{escape(words)}" style="{style}">{pattern}{drawn}</svg>'
    )


def _parts(parts: Mapping[str, int]) -> Table:
    """Return the time of each part, and their sum."""
    total = sum(parts.values())
    rows: list[tuple[Words, ...]] = [
        (
            Span(cause_label(what), swatch=cause_colour(what)),
            duration(time_ns),
            percent(time_ns / total),
            DID.get(what, what),
        )
        for what, time_ns in parts.items()
    ]
    columns = (Column("what"), Column("time", "number"), Column("share", "number"), Column("in words: it …", "prose"))
    return Table(columns, tuple(map(Row, [*rows, (Span("total", form="bold"), duration(total), "100 %", "")])))


def _cause(run: Run, found: Explained, cause: Cause) -> Iterator[Block]:
    """Yield what is said of a cause, and the evidence for it."""
    yield " ".join(of_cause(found.explanation, cause))
    request = cause.request
    sizes = {
        "completed while the request was queued": request.ahead if request else {},
        "waiting to be written when that began": cause.dirty,
        "completed meanwhile": cause.written,
    }
    rows: list[Row | str] = []
    for what, owned in sizes.items():
        rows += [what, *_owners(owned)] if owned else []
    if rows:
        yield Table((Column("share", "number"), Column("size", "number"), Column("whose", "prose")), tuple(rows))
    yield Section(
        "Evidence, of the longest of these waits",
        (_events(run, found, cause), _stacks(cause), "The functions in bold identify this kind of wait."),
        "folded",
    )


def _events(run: Run, found: Explained, cause: Cause) -> Table:
    """Return the events of the trace that prove a wait."""
    rows = []
    for event in map(found.recorded.sequence.described, cause.events):
        at_s, fields = (event.ts_ns - run.zero_ns) / NS_PER_S, event.fields.items()
        listed = Span(" ".join(f"{name}={value}".strip() for name, value in fields), form="code")
        proves = _PROVES.get(event.name, "")
        rows.append(Row((f"{at_s:.6f}", f"{event.comm}-{event.pid}", event.name, listed, proves)))
    heads = (Column("time (s)", "number"), Column("task"), Column("event"))
    return Table((*heads, Column("fields", "prose"), Column("what it shows", "prose")), tuple(rows))


def _owners(sizes: Mapping[str, int]) -> Iterator[Row]:
    total, shown = sum(sizes.values()), dict(list(sizes.items())[:_MOST_OWNERS])
    if left := total - sum(shown.values()):
        shown[f"{len(sizes) - len(shown)} more"] = left
    for name, size in shown.items():
        yield Row((percent(size / total), size_text(size), name if name.startswith(READ) else f"from {name}"))


def _stacks(cause: Cause) -> Table:
    """Return both stacks, the innermost functions first; those of a task that was interrupted are in brackets."""
    stacks = [_functions(stack, cause.kind) for stack in (tuple(reversed(cause.functions)), cause.woken_in)]
    rows = [Row(tuple(stack[at] if at < len(stack) else "" for stack in stacks)) for at in range(max(map(len, stacks)))]
    heads = "stack of the sleeper, innermost function first", "stack of the waker; in brackets: the task interrupted"
    return Table(tuple(Column(head, "prose") for head in heads), tuple(rows))


def _functions(stack: Stack, kind: str) -> list[Words]:
    """Return a stack's functions; those that identify the kind are coloured."""
    telling = {name for each in KINDS if each.name == kind for name in (*each.sleeps, *each.besides, *each.wakes)}
    inside = len(in_context(stack))
    return [
        Span(f"({name})" if place > inside else name, "yes" if name in telling and place < inside else "", form="code")
        for place, name in enumerate(stack)
    ] or ["not recorded"]


def _chains(item: Explanation) -> Iterator[Words]:
    """Yield which task waited for which, and the number and the sum of the chains that are too short for that."""
    for chain in item.chains:
        if chain.time_ns > _LITTLE * item.pause_ns:
            words: list[str | Span] = [f"{duration(chain.time_ns)} ({percent(chain.time_ns / item.pause_ns)}): "]
            for at, (name, what) in enumerate(chain.links):
                words += [", held up by " if at else "", Span(name, form="bold"), f" {DID.get(what, what)}"]
            yield *words, f" – {end_of(chain)}."
    if short := [chain.time_ns for chain in item.chains if chain.time_ns <= _LITTLE * item.pause_ns]:
        yield f"{len(short)} shorter: {duration(sum(short))} in all"
