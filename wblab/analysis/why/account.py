"""A span of a task's time, accounted for to the nanosecond: by its states, and by the chain of tasks it waited for."""

from collections import defaultdict
from dataclasses import dataclass, field, replace

from wblab.analysis.runs.places import NEVER
from wblab.analysis.why.classify import in_context
from wblab.analysis.why.devicelimits import is_released
from wblab.analysis.why.kinds import FOR_CHILDREN, FOR_SIGNALS, SIGNALS, UNKNOWN, Kind
from wblab.analysis.why.lives import pid_of
from wblab.analysis.why.recorded import Recorded

RUNNING, RUNNABLE, ASLEEP, UNEXPLAINED = "running", "runnable", "asleep", "unknown"
REQUEST, STOPPED, CUT_OFF, ANSWER = "request", "stopped", "signal", "answer"
ASKED = (REQUEST, ANSWER)  # of a disk, or of a server
_AT_ONCE_NS = 1_000_000
_DEEPEST = 8
_PARENTS = FOR_CHILDREN | {"kernel_clone"}  # the latter: until a child begins its program (vfork)
IDLE = "idle"  # the kind of wait of kernel threads without work

Link = tuple[str, str]  # a task's name and its state: a kind of wait, running or runnable


@dataclass(frozen=True)
class Chain:
    """A cause of some of the time: each link waited for the next. `end` says how the last link's wait ended.

    request: a disk completed a request. answer: a filesystem's server answered. timer: a timer expired. running,
    runnable: the last task was running or waited for the processor. asleep: it slept on its own timer. stopped: it was
    stopped from outside. signal: a signal interrupted its wait; what would have ended it is not known. unknown: the
    trace does not show it. waits: the number of the last link's waits; longest_ns, row: the longest of them, and the
    span of `Recorded.offcpu` with which it began; last_row: that of the last of them. spans: of all of them, that row,
    begin and end in ns. kernel: whether the last link is a kernel thread.
    """

    links: tuple[Link, ...]
    end: str
    time_ns: int
    waits: int = field(default=1, compare=False)
    longest_ns: int = field(default=0, compare=False)
    row: int = field(default=-1, compare=False)
    last_row: int = field(default=-1, compare=False)
    spans: tuple[tuple[int, int, int], ...] = field(default=(), compare=False, repr=False)
    kernel: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Wait:
    """One wait of a blocked task. row: the span of `Recorded.offcpu` with which it began; kind: its name."""

    row: int
    kind: str
    start_ns: int
    end_ns: int

    @property
    def time_ns(self) -> int:
        """Its duration in ns."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True)
class Account:
    """The states of a task in a span of time: `parts` in ns, which add up to the span, and its waits in order.

    lost_ns: the part of the unknown time in which the task may have run, because events were lost.
    """

    parts: dict[str, int]
    waits: tuple[Wait, ...]
    lost_ns: int = 0


def account(recorded: Recorded, pid: int, start_ns: int, end_ns: int) -> Account:
    """Account for a task's time from `start_ns` to `end_ns`; time that the trace does not cover is unknown."""
    parts: dict[str, int] = defaultdict(int)
    whole_ns = end_ns - start_ns
    start_ns, end_ns = recorded.covered(start_ns, end_ns)
    parts[UNEXPLAINED] = whole_ns - (end_ns - start_ns)
    spans = recorded.offcpu.rows(pid, start_ns, end_ns)
    waits, at_ns, lost_ns = [], start_ns, 0
    for row in spans:
        out_ns, woken_ns, on_ns = (
            min(max(int(column[row]), at_ns), end_ns)  # spans may overlap where events were lost
            for column in (recorded.offcpu.ts_ns, recorded.offcpu.woken_ns, recorded.offcpu.on_ns)
        )
        parts[RUNNING] += out_ns - at_ns
        lost_ns += recorded.lost_ns(at_ns, out_ns)
        parts[RUNNABLE] += on_ns - woken_ns
        at_ns = on_ns
        if woken_ns > out_ns:
            what = _what(_kind(recorded, row))
            parts[what] += woken_ns - out_ns
            waits.append(Wait(row, what, out_ns, woken_ns))
    lost_ns += recorded.lost_ns(at_ns, end_ns)
    parts[RUNNING] += end_ns - at_ns - lost_ns
    parts[UNEXPLAINED] += lost_ns
    return Account({what: time_ns for what, time_ns in parts.items() if time_ns}, tuple(waits), lost_ns)


def followed(recorded: Recorded, wait: Wait, deepest: int = _DEEPEST) -> list[Wait]:
    """Return the waits of the child that a task waited for, if they are most of the time; otherwise the wait itself."""
    child = -1
    if deepest and not _PARENTS.isdisjoint(recorded.sleep_stack(wait.row)):
        end, holder = _end(recorded, wait)
        child = -1 if end else holder
    if child <= 0:
        return [wait]
    waits = account(recorded, child, wait.start_ns, wait.end_ns).waits
    found = [each for one in waits for each in followed(recorded, one, deepest - 1)]
    return found if 2 * sum(each.time_ns for each in found) > wait.time_ns else [wait]


def _kind(recorded: Recorded, row: int) -> Kind:
    """Return the kind of a wait: that of both stacks, or of the sleeper's alone if a signal interrupted the wait."""
    found = recorded.verdict(row)
    return found.said if found.kind is UNKNOWN and _is_cut_off(recorded, row) else found.kind


def _what(kind: Kind) -> str:
    return ASLEEP if kind.nature == "own will" else kind.name


class _Found:
    """The chains followed so far, by links and end."""

    def __init__(self) -> None:
        self._by: dict[tuple[tuple[Link, ...], str, bool], Chain] = {}
        self._spans: dict[tuple[tuple[Link, ...], str, bool], list[tuple[int, int, int]]] = {}

    def add(self, links: tuple[Link, ...], end: str, time_ns: int, *, kernel: bool, wait: Wait | None = None) -> None:
        """Add time to a chain. kernel: whether the last link is a kernel thread."""
        key, row = (links, end, kernel), wait.row if wait else -1
        old = self._by.get(key, Chain(links, end, 0, 0, kernel=kernel))
        longest = (time_ns, row) if time_ns > old.longest_ns else (old.longest_ns, old.row)
        self._by[key] = Chain(links, end, old.time_ns + time_ns, old.waits + 1, *longest, row, kernel=kernel)
        if wait:
            self._spans.setdefault(key, []).append((row, wait.start_ns, wait.end_ns))

    def longest_first(self) -> list[Chain]:
        """Return all chains."""
        found = [replace(chain, spans=tuple(self._spans.get(key, ()))) for key, chain in self._by.items()]
        return sorted(found, key=lambda item: -item.time_ns)


def chains(recorded: Recorded, pid: int, start_ns: int, end_ns: int) -> list[Chain]:
    """Return the chains of tasks that a task waited for in a span of time; they add up to the span, longest first."""
    found = _Found()
    first_ns, last_ns = recorded.covered(start_ns, end_ns)
    _follow(recorded, pid, (first_ns, last_ns), (), found, frozenset())
    if uncovered_ns := end_ns - start_ns - (last_ns - first_ns):
        found.add(
            ((recorded.name(pid, recorded.rank_at(end_ns)), UNEXPLAINED),), UNEXPLAINED, uncovered_ns, kernel=False
        )
    return found.longest_first()


def _follow(  # noqa: PLR0913, PLR0917
    recorded: Recorded,
    pid: int,
    span_ns: tuple[int, int],
    before: tuple[Link, ...],
    found: _Found,
    seen: frozenset[int],
) -> None:
    seen, (start_ns, end_ns) = seen | {pid}, span_ns
    key = recorded.tasks.lives.key(pid, recorded.rank_at(end_ns))
    name, kernel = recorded.tasks.name(key), recorded.tasks.is_kernel(key)
    if before and (idle := _last_idle(recorded, pid, start_ns, end_ns)):
        _trace(recorded, Wait(idle.row, IDLE, start_ns, idle.end_ns), (*before, (name, IDLE)), found, seen)
        start_ns = idle.end_ns
    spent = account(recorded, pid, start_ns, end_ns)
    for what in (RUNNING, RUNNABLE):
        if what in spent.parts:
            found.add((*before, (name, what)), what, spent.parts[what], kernel=kernel)
    if spent.lost_ns:
        found.add((*before, (name, UNEXPLAINED)), UNEXPLAINED, spent.lost_ns, kernel=kernel)
    for wait in spent.waits:
        _trace(recorded, wait, (*before, (name, wait.kind)), found, seen)


def _last_idle(recorded: Recorded, pid: int, start_ns: int, end_ns: int) -> Wait | None:
    """Return a worker's last wait for work: only after that did it begin the work that others wait for.

    None if it had none, or if events were lost.
    """
    spent = account(recorded, pid, start_ns, end_ns)
    return next((wait for wait in reversed(spent.waits) if wait.kind == IDLE and not spent.lost_ns), None)


def _trace(recorded: Recorded, wait: Wait, links: tuple[Link, ...], found: _Found, seen: frozenset[int]) -> None:
    """Add a wait to the chains found, by what ended it and which task held it until then. links: up to the waiter."""
    spans = recorded.offcpu
    kernel = recorded.tasks.is_kernel(recorded.tasks.lives.key(int(spans.pid[wait.row]), int(spans.rank[wait.row])))
    end, holder = _end(recorded, wait)
    if end == REQUEST:
        handed_ns, holder = _handed(recorded, wait)
        at_ns = min(max(wait.start_ns, handed_ns), wait.end_ns)
        if at_ns < wait.end_ns:
            last = Wait(wait.row, wait.kind, at_ns, wait.end_ns)
            found.add(links, end, last.time_ns, kernel=kernel, wait=last)
        # Before submission: the submitting task may itself have waited for the waiter.
        wait, end = Wait(wait.row, wait.kind, wait.start_ns, at_ns), ""
        seen = seen - {int(recorded.offcpu.pid[wait.row])} if len(links) > 1 else seen
    if not wait.time_ns:
        return
    if end:
        found.add(links, end, wait.time_ns, kernel=kernel, wait=wait)
    elif len(links) >= _DEEPEST or holder <= 0 or holder in seen:
        found.add(links, UNEXPLAINED, wait.time_ns, kernel=kernel, wait=wait)
    else:
        _follow(recorded, holder, (wait.start_ns, wait.end_ns), links, found, seen)


def _handed(recorded: Recorded, wait: Wait) -> tuple[int, int]:
    """Return when the request of a wait was submitted, and by which task, to which the time before is charged.

    0 if it was submitted by the waiter itself, before the wait or within its first ms, or if a rate limit had held it.
    """
    done, row = recorded.done, recorded.request(wait.row)
    row = done.data(row) if row >= 0 else -1
    if row < 0 or done.first_rank[row] == NEVER or done.submitter[row] == recorded.offcpu.pid[wait.row]:
        return 0, -1
    if is_released(recorded, row):  # it had been submitted before, to the limit
        return 0, -1
    handed_ns = int(done.first_ns[row])
    return (handed_ns if handed_ns - wait.start_ns > _AT_ONCE_NS else 0), int(done.submitter[row])


def _end(recorded: Recorded, wait: Wait) -> tuple[str, int]:
    """Return how a wait ended; or an empty text and the task that held it."""
    said, last = recorded.verdict(wait.row), recorded.ends(wait.row)
    if said.kind.nature in ("own will", "stopped"):
        return STOPPED if said.kind.nature == "stopped" else wait.kind, -1
    if _is_cut_off(recorded, wait.row):
        child = _child(recorded, wait.row)
        return "" if child > 0 else CUT_OFF, child
    if said.kind is UNKNOWN:
        return UNEXPLAINED, -1
    if said.kind.nature == "idle" and said.context == "timer":  # its own timer: no task gave it work
        return UNEXPLAINED, -1
    if said.context != "task":
        return said.context if said.context in ("request", "timer", "answer") else UNEXPLAINED, -1
    return "", int(recorded.offcpu.waker[last])


def _child(recorded: Recorded, row: int) -> int:
    """Return the child that a task waits for; -1 if none."""
    if FOR_CHILDREN.isdisjoint(recorded.sleep_stack(row)):
        return -1
    rank = int(recorded.offcpu.wake_rank[recorded.ends(row)])
    parent = recorded.tasks.lives.key(int(recorded.offcpu.pid[row]), rank)
    return pid_of(recorded.tasks.last_child(parent, rank))


def _is_cut_off(recorded: Recorded, row: int) -> bool:
    """Whether a task's signal interrupted a wait for something else."""
    if recorded.verdict(row).context != "task":
        return False
    woken_in = in_context(recorded.wake_stack(recorded.ends(row)))
    return not SIGNALS.isdisjoint(woken_in) and FOR_SIGNALS.isdisjoint(recorded.sleep_stack(row))
