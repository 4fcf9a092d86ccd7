"""Explanations in words that a student understands."""

from collections.abc import Callable, Mapping
from itertools import zip_longest

from wblab.core.units import NS_PER_S, Bytes, format_bytes
from wblab.why.account import RUNNABLE, RUNNING, UNTOLD
from wblab.why.blame import is_polling
from wblab.why.ends import end_of
from wblab.why.explain import Cause, Explanation
from wblab.why.request import READ, Request
from wblab.why.shares import of_all

_MOST_SHARES = 3
_SMALL = 100_000  # bytes: less is not told in MB
_LITTLE = 0.01  # of a pause: what is less is not told in words


def sentences(item: Explanation, event: Callable[[int], str] | None = None) -> list[str]:
    """Return what a pause was, a sentence a line, with what proves it below, if `event` tells that of a place."""
    lines = [f"{item.number}. {heading(item)}"]
    for cause in told(item):
        lines += [f"   {text}" for text in of_cause(item, cause)]
        lines += [f"       {text}" for text in _proof(cause, event)] if event else []
    lines += [f"   {text}" for text in _chained(item)]
    lines += [f"   {text}" for text in of_rest(item)]
    return lines


def heading(item: Explanation) -> str:
    """Return which pause it is."""
    return f"{item.load} was stopped for {seconds(item.pause_ns)}, in a round that began at {seconds(item.start_ns)}."


def told(item: Explanation) -> list[Cause]:
    """Return the causes of a pause that are worth a sentence."""
    return [cause for cause in item.causes if cause.time_ns > _LITTLE * item.pause_ns and cause.kind != UNTOLD]


def of_cause(item: Explanation, cause: Cause) -> list[str]:
    """Return what one cause of a pause was: what the load waited for, how that ended, and whose bytes were before."""
    times = "" if cause.waits == 1 else f" in {cause.waits} goes, {seconds(cause.longest_ns)} the longest"
    where = f" (block {cause.block}{', ' + cause.is_of if cause.is_of else ''})" if cause.block >= 0 else ""
    where = where or (f" ({cause.file})" if cause.file else "")
    by = f", until {cause.waker} let it go on" if cause.waker else ""
    lines = [f"{seconds(cause.time_ns)}{times}, in {cause.call or 'the kernel'}, it waited {cause.what}{where}{by}."]
    if cause.request:
        lines.append(_request(cause.request))
    if cause.dirty:
        lie = f" They are for {_parts(cause.places)}." if set(cause.places) - {cause.disk} else ""
        lines.append(f"As that began, {_total(cause.dirty)} were dirty or being written: {_shares(cause.dirty)}.{lie}")
    if cause.written:
        lines.append(f"Meanwhile {cause.disk} was done with {_total(cause.written)}: {_shares(cause.written)}.")
    elif cause.dirty:
        lines.append(f"Meanwhile {cause.disk} was done with nothing.")
    return lines


def _request(request: Request) -> str:
    took_ns = request.done_ns - request.handed_ns
    took = seconds(took_ns)
    head = f"That ended with {request.what}, which was with {request.disk} for {took}"
    if request.ahead:
        head += f"; in that time {request.below} was done with {_total(request.ahead)}: {_shares(request.ahead)}"
    if request.held_ns > _LITTLE * took_ns:
        held = seconds(request.held_ns)
        head += f". For {held} it was held back before the queue: {request.held_by}"
    if request.still_ns > _LITTLE * took_ns:
        head += f". For {seconds(request.still_ns)} {request.disk} stood still: it had requests, and finished none"
    return f"{head}."


def _proof(cause: Cause, event: Callable[[int], str]) -> list[str]:
    return [" > ".join(cause.functions), *(event(rank) for rank in cause.events)]


def _chained(item: Explanation) -> list[str]:
    """Return who held whom, where more than one task was in it."""
    lines = []
    for chain, request in zip_longest(item.chains, item.requests):
        if len(chain.links) > 1 and chain.time_ns > _LITTLE * item.pause_ns:
            links = ", which was held by ".join(f"{name} ({what})" for name, what in chain.links)
            lines.append(f"{seconds(chain.time_ns)} of it: {links}; {end_of(chain)}.")
            lines += [_request(request)] if request else []
    return lines


def of_rest(item: Explanation) -> list[str]:
    """Return what else there is to say of a pause: its own work, an acquittal, and what is unknown."""
    lines = []
    whole = sum(item.ran.values())
    had = [f"{name} {time_ns / whole:.1%}" for name, time_ns in list(item.ran.items())[:_MOST_SHARES]]
    ran = f"; who had it: {', '.join(had)}" if had else ""
    for what, said in (
        (RUNNING, "it was at work itself"),
        (RUNNABLE, f"it could have run, but had no processor{ran}"),
    ):
        if item.parts.get(what, 0) > _LITTLE * item.pause_ns:
            lines.append(f"{seconds(item.parts[what])} {said}.")
    if item.blame == "not writeback":
        lines.append("Writeback and the disk are not to blame for most of it.")
    if is_polling(item.chains, item.pause_ns):
        lines.append(
            "It slept again and again, as who asks whether something is done: for what, the trace cannot tell."
        )
    if item.unknown_ns:
        lines.append(f"{seconds(item.unknown_ns)} is unknown: no two witnesses agree.")
    return lines


def _shares(sizes: Mapping[str, int]) -> str:
    total, most = sum(sizes.values()), list(sizes.items())[:_MOST_SHARES]
    shown = [f"{size / total:.1%} {name if name.startswith(READ) else f'of {name}'}" for name, size in most]
    left = len(sizes) - _MOST_SHARES
    return ", ".join(shown) + (f" and {left} more" if left > 0 else "")


def _parts(sizes: Mapping[str, int]) -> str:
    """Return how much lies where."""
    return ", ".join(f"{place} ({_megabytes(size)})" for place, size in sizes.items())


def _total(sizes: Mapping[str, int]) -> str:
    return _megabytes(sum(sizes.values()))


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= _SMALL else format_bytes(Bytes(size))


def seconds(time_ns: int) -> str:
    """Return a time as sentences have it."""
    return f"{time_ns / NS_PER_S:.3f} s"


def total(found: list[Explanation]) -> list[str]:
    """Return what all pauses together consist of, in lines."""
    parts = of_all(found)
    paused_ns = sum(parts.values())
    shown = [(what, time_ns / paused_ns) for what, time_ns in parts.items() if time_ns > _LITTLE / 10 * paused_ns]
    listed = ", ".join(f"{what} {share:.1%}" for what, share in shown)
    explained = 1 - sum(item.untold_ns for item in found) / paused_ns
    return [f"{seconds(paused_ns)} in {len(found)} pauses, {explained:.1%} of it explained to the end: {listed}"]
