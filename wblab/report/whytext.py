"""Explanations as sentences that a student understands."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import zip_longest

from wblab.analysis.runs.run import Run
from wblab.analysis.why.account import RUNNABLE, RUNNING, UNEXPLAINED
from wblab.analysis.why.ends import end_of
from wblab.analysis.why.explain import Cause, Explanation
from wblab.analysis.why.explanations import Explained
from wblab.analysis.why.parties import READ
from wblab.analysis.why.recorded import Recorded
from wblab.analysis.why.request import IoRequest
from wblab.analysis.why.shares import of_all
from wblab.core.units import NS_PER_S
from wblab.report.dirtylimittext import polled
from wblab.report.dirtylimittext import what as why_throttled
from wblab.report.quantities import duration, moment, percent
from wblab.report.quantities import size as size_text
from wblab.report.report import Block, Lines, Section
from wblab.report.text import block_lines
from wblab.report.whybehind import THROTTLED, served

_MOST_SHARES = 3
_NEARLY_ALL = 0.999
_INDENT = 3  # columns: that of a pause's sentences below its number
_LITTLE = 0.01  # of a pause: smaller parts get no sentence


def pause(item: Explanation, event: Callable[[int], str] | None = None) -> Section:
    """Describe a pause, a sentence a paragraph. event: describes an event of the trace; if given, evidence follows."""
    found: list[Block] = []
    for cause in main_causes(item):
        found += of_cause(item, cause)
        found += [Lines((" > ".join(cause.functions), *map(event, cause.events)))] if event else []
    found += [*_chained(item), *served(item), *of_rest(item)]
    return Section(f"{item.number}. {heading(item)}", tuple(found), close=True, indent=_INDENT)


def sentences(item: Explanation) -> list[str]:
    """Describe a pause, one sentence a line."""
    return block_lines(pause(item))


def heading(item: Explanation) -> str:
    """Return the pause's load, length and time."""
    return f"{item.load} was stalled for {duration(item.pause_ns)} in the cycle that began at {moment(item.start_ns)}."


def main_causes(item: Explanation) -> list[Cause]:
    """Return the causes that explain more than 1 % of a pause."""
    return [cause for cause in item.causes if cause.time_ns > _LITTLE * item.pause_ns and cause.kind != UNEXPLAINED]


def of_cause(item: Explanation, cause: Cause) -> list[str]:
    """Describe one cause of a pause: what the load waited for, what ended the wait, and the I/O ahead in the queue."""
    call = f"{cause.call}()" if cause.call else "the kernel"
    who = cause.task or "It"
    waited = f"{who} waited {duration(cause.time_ns)} in {call}"
    if cause.waits > 1:
        times = f"{duration(cause.time_ns)} in all, {duration(cause.longest_ns)} at most"
        waited = f"{who} waited {cause.waits} times in {call} ({times})"
    where = f" (block {cause.block}{', ' + cause.is_of if cause.is_of else ''})" if cause.block >= 0 else ""
    where = where or (f" ({cause.file})" if cause.file else "")
    by = f", until {cause.waker} woke it" if cause.waker else ""
    because = why_throttled(cause.limit) if cause.kind == THROTTLED else cause.what
    lines = [f"{waited} {because}{where}{by}."]
    if cause.request:
        lines.append(_request(cause.request))
    if cause.dirty:
        disks = f" By disk: {_parts(cause.places)}." if cause.is_elsewhere else ""
        lines.append(
            f"When that began, {_total(cause.dirty)} were waiting to be written: {_shares(cause.dirty)}.{disks}"
        )
    if cause.written:
        lines.append(f"Meanwhile {cause.disk} completed {_total(cause.written)}: {_shares(cause.written)}.")
    elif cause.dirty:
        lines.append(f"Meanwhile {cause.disk} completed nothing.")
    return lines


def _request(request: IoRequest) -> str:
    took_ns = request.done_ns - request.handed_ns
    took = duration(took_ns)
    head = f"The wait ended when {request.disk} completed {request.what}, {took} after it was submitted"
    if request.ahead:
        head += f". In that time {request.below} completed {_total(request.ahead)}: {_shares(request.ahead)}"
    if request.held_ns > _LITTLE * took_ns:
        head += f". Before it entered the queue it was delayed for {duration(request.held_ns)} {request.held_by}"
    if request.still_ns > _LITTLE * took_ns:
        head += f". For {duration(request.still_ns)} {request.disk} completed nothing, although it had requests"
    return f"{head}."


def _chained(item: Explanation) -> list[str]:
    """Return which task waited for which, for the chains of more than one task."""
    lines = []
    for chain, request in zip_longest(item.chains, item.requests):
        if len(chain.links) > 1 and chain.time_ns > _LITTLE * item.pause_ns:
            waiter, *holders = (f"{name} ({what})" for name, what in chain.links)
            links = f"{waiter} waited for {', which waited for '.join(holders)}"
            lines.append(f"{duration(chain.time_ns)} of it: {links}; {end_of(chain)}.")
            lines += [_request(request)] if request else []
    return lines


def of_rest(item: Explanation) -> list[str]:
    """Return the remaining sentences: time running, time ready to run, blame, and what is unknown."""
    lines = []
    whole = sum(item.ran.values())
    had = [f"{name} {percent(time_ns / whole)}" for name, time_ns in list(item.ran.items())[:_MOST_SHARES]]
    ran = f". The processor was used by: {', '.join(had)}" if had else ""
    for what, did, rest in ((RUNNING, "running", ""), (RUNNABLE, "ready to run", f" but had no processor{ran}")):
        if item.parts.get(what, 0) > _LITTLE * item.pause_ns:
            lines.append(f"It was {did} for {duration(item.parts[what])}{rest}.")
    if item.blame == "not writeback":
        lines.append("Most of it was not caused by writeback or the disk.")
    if item.polling and item.polling.may_wait:
        lines += polled(item.polling)
    if item.unknown_ns:
        lines.append(
            f"{duration(item.unknown_ns)} is unknown: the stacks of sleeper and waker are missing or disagree."
        )
    return lines


def _shares(sizes: Mapping[str, int]) -> str:
    total, most = sum(sizes.values()), list(sizes.items())[:_MOST_SHARES]
    shown = [f"{percent(size / total)} {name if name.startswith(READ) else f'from {name}'}" for name, size in most]
    left = len(sizes) - _MOST_SHARES
    return ", ".join(shown) + (f" and {left} more" if left > 0 else "")


def _parts(sizes: Mapping[str, int]) -> str:
    """Return the bytes of each disk."""
    return ", ".join(f"{place} ({size_text(size)})" for place, size in sizes.items())


def _total(sizes: Mapping[str, int]) -> str:
    return size_text(sum(sizes.values()))


def total(found: list[Explanation]) -> str:
    """Return a line on all pauses together: their sum, how much is explained, and the share of each kind of wait."""
    parts = of_all(found)
    paused_ns = sum(parts.values())
    shown = [(what, time_ns / paused_ns) for what, time_ns in parts.items() if time_ns > _LITTLE / 10 * paused_ns]
    listed = ", ".join(f"{what} {percent(share)}" for what, share in shown)
    unexplained_ns = sum(item.unexplained_ns for item in found)
    explained = percent(1 - unexplained_ns / paused_ns)
    if unexplained_ns and explained.startswith("100"):  # a chain below may end in the unknown
        explained = f"more than {percent(_NEARLY_ALL)}"
    pauses = "1 pause" if len(found) == 1 else f"{len(found)} pauses"
    return f"{pauses}, {duration(paused_ns)} in all, {explained} explained: {listed}"


# The evidence of explained pauses: the kernel's functions and the trace's events, as text.


def evidence(run: Run, found: Sequence[Explained], bound: str) -> tuple[Block, ...]:
    """Return every pause over a bound with its evidence."""
    pauses = [pause(item.explanation, partial(event_text, run, item.recorded)) for item in found]
    end = total([item.explanation for item in found]) if found else f"no pause over {bound}"
    return *(Section("", (each,)) for each in pauses), end


def event_text(run: Run, recorded: Recorded, rank: int) -> str:
    """Return an event as a line. Its time counts from the run's start."""
    at_s = (int(recorded.sequence.ts_ns[rank]) - run.zero_ns) / NS_PER_S
    return f"{at_s:.6f} s {recorded.sequence.text(rank).partition(' ')[2]}"
