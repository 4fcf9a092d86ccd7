"""A span of a task's time, accounted for to the nanosecond: by what it did, and by who held it in turn."""

from collections import defaultdict
from dataclasses import dataclass

from wblab.why.kinds import UNKNOWN
from wblab.why.recorded import Recorded

RUNNING, RUNNABLE, ASLEEP, UNTOLD = "running", "runnable", "asleep", "unknown"
_DEEPEST = 8
_IDLE = "idle"  # of the kinds, what kernel threads do that wait for work

Link = tuple[str, str]  # a task's name, and what it did: a kind of wait, running or runnable


@dataclass(frozen=True)
class Chain:
    """Why some of the time passed: each link was held by the next. `end` says what the last one waited for.

    request: a disk was done with it. timer: time had to pass. running, runnable: the last task itself was at it, or
    waited for the processor. asleep: it slept by its own will. unknown: nobody can tell from the trace.
    """

    links: tuple[Link, ...]
    end: str
    time_ns: int


@dataclass(frozen=True)
class Wait:
    """One time that a task was blocked. row: of `Recorded.offcpu`, with which it began; kind: by name."""

    row: int
    kind: str
    start_ns: int
    end_ns: int

    @property
    def time_ns(self) -> int:
        """How long it took, in ns."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True)
class Account:
    """What a task did in a span of time: `parts` in ns by what, which add up to the span, and its waits in order.

    lost_ns: of what is unknown, the time in which it may have run: events were lost then.
    """

    parts: dict[str, int]
    waits: tuple[Wait, ...]
    lost_ns: int = 0


def account(recorded: Recorded, pid: int, start_ns: int, end_ns: int) -> Account:
    """Return what a task did from `start_ns` to `end_ns`; what the trace does not cover is unknown."""
    parts: dict[str, int] = defaultdict(int)
    whole_ns = end_ns - start_ns
    start_ns, end_ns = recorded.covered(start_ns, end_ns)
    parts[UNTOLD] = whole_ns - (end_ns - start_ns)
    spans = recorded.offcpu.rows(pid, start_ns, end_ns)
    waits, at_ns, lost_ns = [], start_ns, 0
    for row in spans:
        out_ns, woken_ns, on_ns = (
            min(max(int(column[row]), at_ns), end_ns)  # where events were lost, spans may overlap
            for column in (recorded.offcpu.ts_ns, recorded.offcpu.woken_ns, recorded.offcpu.on_ns)
        )
        parts[RUNNING] += out_ns - at_ns
        lost_ns += recorded.lost_ns(at_ns, out_ns)
        parts[RUNNABLE] += on_ns - woken_ns
        at_ns = on_ns
        if woken_ns > out_ns:
            kind = recorded.verdict(row).kind
            what = kind.name if kind.nature == "waits" else ASLEEP
            parts[what] += woken_ns - out_ns
            waits.append(Wait(row, what, out_ns, woken_ns))
    lost_ns += recorded.lost_ns(at_ns, end_ns)
    parts[RUNNING] += end_ns - at_ns - lost_ns
    parts[UNTOLD] += lost_ns
    return Account({what: time_ns for what, time_ns in parts.items() if time_ns}, tuple(waits), lost_ns)


def chains(recorded: Recorded, pid: int, start_ns: int, end_ns: int) -> list[Chain]:
    """Return who held a task in a span of time, link by link; the times add up to the span, the longest first."""
    found: dict[tuple[tuple[Link, ...], str], int] = defaultdict(int)
    first_ns, last_ns = recorded.covered(start_ns, end_ns)
    _follow(recorded, pid, (first_ns, last_ns), (), found)
    if uncovered_ns := end_ns - start_ns - (last_ns - first_ns):
        found[((recorded.name(pid), UNTOLD),), UNTOLD] += uncovered_ns
    return sorted((Chain(*key, time_ns) for key, time_ns in found.items()), key=lambda item: -item.time_ns)


def _follow(
    recorded: Recorded,
    pid: int,
    span_ns: tuple[int, int],
    before: tuple[Link, ...],
    found: dict[tuple[tuple[Link, ...], str], int],
) -> None:
    name, told = recorded.name(pid), account(recorded, pid, *span_ns)
    for what in (RUNNING, RUNNABLE):
        if what in told.parts:
            found[(*before, (name, what)), what] += told.parts[what]
    if told.lost_ns:
        found[(*before, (name, UNTOLD)), UNTOLD] += told.lost_ns
    # A worker that is given something else meanwhile still had nothing to do with this until it was given this.
    idle = [wait for wait in told.waits if _is_idle(recorded, wait)]
    for wait in told.waits:
        links = (*before, (name, wait.kind))
        end = _end(recorded, idle[-1] if wait in idle else wait)
        waker = int(recorded.offcpu.waker[recorded.ends(wait.row)])
        if end:
            found[links, end] += wait.time_ns
        elif len(links) >= _DEEPEST or waker <= 0 or waker == pid:
            found[links, UNTOLD] += wait.time_ns
        else:
            _follow(recorded, waker, (wait.start_ns, wait.end_ns), links, found)


def _end(recorded: Recorded, wait: Wait) -> str:
    """Return with what a wait ends; empty where another task held it."""
    context = recorded.verdict(wait.row).context
    if context == "request" and _is_idle(recorded, wait):
        return context  # it had nothing to do before a disk was done with something
    if wait.kind in (ASLEEP, UNKNOWN.name):
        return wait.kind
    if context == "task":
        return ""
    return context if context in ("request", "timer") else UNTOLD


def _is_idle(recorded: Recorded, wait: Wait) -> bool:
    """Whether it is a kernel thread that waited for work."""
    return wait.kind == ASLEEP and recorded.verdict(wait.row).kind.name == _IDLE
