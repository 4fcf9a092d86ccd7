"""The explained pauses of a run as a page for beginners: one HTML file that needs no network."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tracecmd.sequence import Described as DescribedEvent

from wblab.analysis.runs.run import Run
from wblab.analysis.why.account import ASLEEP, RUNNABLE, RUNNING, UNEXPLAINED, Chain
from wblab.analysis.why.ends import end_of
from wblab.analysis.why.explain import Cause, Explanation
from wblab.analysis.why.explanations import Explained
from wblab.analysis.why.kinds import KINDS
from wblab.analysis.why.offcpu import Stack
from wblab.analysis.why.parties import READ
from wblab.analysis.why.recorded import Recorded
from wblab.analysis.why.shares import of_all
from wblab.analysis.why.verdict import in_context
from wblab.core.units import NS_PER_S
from wblab.lab.printable import printable
from wblab.plot.style import cause_colours
from wblab.plot.timeline import title
from wblab.report import quantities
from wblab.report.page import render
from wblab.report.quantities import duration
from wblab.report.whytext import heading, main_causes, of_cause, of_rest

TIMELINE = "timeline.html"  # in the same directory; its address may end in a span, see `span`
_LITTLE = 0.01  # of a pause: shorter chains are summed up in one line
_MOST_OWNERS = 5  # the most writers listed by name
_MARGIN = 0.4  # of a pause, shown before and after it in a close-up
_WORDS = {
    **{kind.name: f"waited {kind.what}" for kind in reversed(KINDS)},
    RUNNING: "was running",
    RUNNABLE: "was ready to run, but had no processor",
    ASLEEP: "slept on a timer of its own",
    UNEXPLAINED: "unknown: the two stacks are missing or disagree",
}
_PROVES = {
    "block_buffer_wait": "names the block it waits for",
    "folio_wait_writeback": "names the file whose page it waits for",
    "wait_on_page_writeback": "names the file whose page it waits for",
    "writeback_single_inode_start": "begins to write the file",
    "sched_switch": "goes to sleep",
    "block_rq_complete": "the disk completes the request",
    "sched_waking": "is woken",
}


@dataclass(frozen=True)
class _Part:
    """A piece of a bar: `share` is in per cent."""

    what: str
    words: str
    time: str
    share: float
    colour: str


def why_page(run: Run, found: Sequence[Explained], bound: str) -> str:
    """Return the page of some explained pauses of a run. bound: the threshold that they exceed, in words."""
    heading_ = f"{run.name.lstrip('_')}: why was it stalled?"
    values = why_values(run, found, bound)
    return render("wblab.plot", "why.html", layout="base.html", title=heading_, heading=heading_, **values)


def why_values(run: Run, found: Sequence[Explained], bound: str) -> dict[str, Any]:
    """Return the values of the template of that page, but for its heading and its layout."""
    sums = of_all([item.explanation for item in found])
    longest = max(found, key=lambda item: item.explanation.pause_ns, default=None)
    return {
        "subtitle": printable(title(run)),
        "bound": bound,
        "paused": duration(sum(sums.values())),
        "parts": _parts(sums),
        "pauses": [_pause(run, item.recorded, item.explanation, is_open=item is longest) for item in found],
    }


def span(item: Explanation) -> str:
    """Return the span of a close-up as the fragment of a URL: two times in s since the loads started."""
    length_ns = item.end_ns - item.start_ns
    first_ns, last_ns = max(0, item.start_ns - _MARGIN * length_ns), item.end_ns + _MARGIN * length_ns
    return f"#{first_ns / NS_PER_S:.3f}-{last_ns / NS_PER_S:.3f}"


def _pause(run: Run, recorded: Recorded, item: Explanation, *, is_open: bool) -> dict[str, Any]:
    return {
        "number": item.number,
        "heading": printable(heading(item)),
        "is_open": is_open,
        "time": duration(item.pause_ns),
        "parts": _parts(item.parts),
        "causes": [_cause(run, recorded, item, cause) for cause in main_causes(item)],
        "chains": [_chain(item, chain) for chain in item.chains if chain.time_ns > _LITTLE * item.pause_ns],
        "short_chains": _short_chains(item),
        "rest": [printable(line) for line in of_rest(item)],
        "close_up": TIMELINE + span(item),
    }


def _parts(parts: dict[str, int]) -> list[_Part]:
    total, colours = sum(parts.values()), cause_colours(parts)
    return [
        _Part(what, _WORDS.get(what, what), duration(time_ns), 100 * time_ns / total, colours[what])
        for what, time_ns in parts.items()
    ]


def _cause(run: Run, recorded: Recorded, item: Explanation, cause: Cause) -> dict[str, Any]:
    return {
        "sentences": [printable(line) for line in of_cause(item, cause)],
        "shares": [
            {"what": what, "parts": _owners(sizes)}
            for what, sizes in (
                ("completed while the request was queued", cause.request.ahead if cause.request else {}),
                ("waiting to be written when that began", cause.dirty),
                ("completed meanwhile", cause.written),
            )
            if sizes
        ],
        "events": [_event(run, recorded.sequence.described(rank)) for rank in cause.events],
        "asleep": _functions(tuple(reversed(cause.functions)), cause.kind),
        "awake": _functions(cause.woken_in, cause.kind),
    }


def _owners(sizes: dict[str, Any]) -> list[dict[str, Any]]:
    total, shown = sum(sizes.values()), dict(list(sizes.items())[:_MOST_OWNERS])
    if left := total - sum(shown.values()):
        shown[f"{len(sizes) - len(shown)} more"] = left
    return [
        {
            "name": printable(name if name.startswith(READ) else f"from {name}"),
            "size": quantities.size(size),
            "share": 100 * size / total,
        }
        for name, size in shown.items()
    ]


def _chain(item: Explanation, chain: Chain) -> dict[str, Any]:
    links = [{"name": printable(name), "what": _WORDS.get(what, what)} for name, what in chain.links]
    share = 100 * chain.time_ns / item.pause_ns
    return {"time": duration(chain.time_ns), "share": share, "links": links, "end": end_of(chain)}


def _short_chains(item: Explanation) -> str:
    """Return the number and the sum of the chains that are too short to be listed."""
    short = [chain.time_ns for chain in item.chains if chain.time_ns <= _LITTLE * item.pause_ns]
    return f"{len(short)} shorter: {duration(sum(short))} in all" if short else ""


def _event(run: Run, event: DescribedEvent) -> dict[str, str]:
    return {
        "time": f"{(event.ts_ns - run.zero_ns) / NS_PER_S:.6f}",
        "task": printable(f"{event.comm}-{event.pid}"),
        "event": event.name,
        "fields": printable(" ".join(f"{name}={value}".strip() for name, value in event.fields.items())),
        "proves": _PROVES.get(event.name, ""),
    }


def _functions(stack: Stack, kind: str) -> list[dict[str, Any]]:
    """Return a stack's functions, innermost first: does each identify the kind, or belong to an interrupted task?"""
    telling = {name for each in KINDS if each.name == kind for name in (*each.sleeps, *each.besides, *each.wakes)}
    inside = len(in_context(stack))
    return [
        {"name": printable(name), "tells": name in telling and place < inside, "is_other": place > inside}
        for place, name in enumerate(stack)
    ]
