"""Who waited for whom in one pause, as a pane: a row for each task, for the request, and for what the disk did.

It shows only what `wblab why` proved: chains of waits whose stacks agree, the request whose completion ended a wait,
and what the disk completed until then, by who dirtied it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from wblab.analysis.runs.pauses import Window
from wblab.analysis.runs.run import Run
from wblab.analysis.why.account import ASLEEP, IDLE, RUNNABLE, RUNNING, UNEXPLAINED, Chain
from wblab.analysis.why.explain import Cause, Explanation
from wblab.analysis.why.kinds import KINDS
from wblab.analysis.why.request import IoRequest
from wblab.lab.callings import called
from wblab.plot.marks import Axis, Bar, Bars, Pane
from wblab.plot.style import NEUTRAL, OTHERS, cause_colour
from wblab.report.quantities import duration, percent, size
from wblab.report.whybehind import THROTTLED

NAME = "waits"
DID = {
    **{kind.name: f"waited {kind.what}" for kind in reversed(KINDS)},
    RUNNING: "was running",
    RUNNABLE: "was ready to run, but had no processor",
    ASLEEP: "slept on a timer of its own",
    UNEXPLAINED: "unknown: the two stacks are missing or disagree",
}
_DATA = "dirty data"
_LEAST, _MOST = 0.05, 4  # of a pause: the share of a chain that is drawn, and how many
_GAP = 0.01  # of a pause: waits closer together are one bar
_ROW = 0.3  # height
_LETTERS = 11  # of a row's name
_HALF = 2  # held, or still, for more than one in so many parts

Spans = tuple[tuple[int, int], ...]


def waits_pane(run: Run, found: Sequence[Explanation], window: Window, loads: Mapping[str, str]) -> Iterator[Pane]:
    """Yield the pane of a close-up's pause: the longest of the load that it is around, or of any innocent load.

    loads: their colours. Nothing if no pause of the window is explained by a wait.
    """
    inside = [item for item in found if _is_shown(run, item, window)]
    if not inside:
        return
    item = max(inside, key=lambda each: each.pause_ns)
    rows = _Rows(item, loads)
    chains = [
        (chain, request)
        for chain, request in zip(item.chains, item.requests or (None,) * len(item.chains), strict=True)
        if chain.spans and chain.time_ns > _LEAST * item.pause_ns
    ][:_MOST]
    if not chains:
        return
    for chain, request in chains:
        rows.add(chain, request)
    share = round(100 * sum(chain.time_ns for chain, _ in chains) / item.pause_ns)
    who = called(run.kinds[item.load], item.load)
    what = f"who waited for whom in {who}'s pause of {duration(item.pause_ns)}: {share} % of it"
    names = [name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…" for name in rows.names]
    axis = Axis("", len(names), 0, ticks={at + 0.5: name for at, name in enumerate(names)})
    yield Pane(NAME, what, axis, (Bars(tuple(rows.bars), tuple(rows.arrows)),), _ROW * len(names))


def _is_shown(run: Run, item: Explanation, window: Window) -> bool:
    """Whether a pause lies in a window, and is one of those that it is around."""
    overlaps = item.start_ns + run.zero_ns < window.end_ns and item.end_ns + run.zero_ns > window.start_ns
    return overlaps and (item.load == window.load if window.load else run.load(item.load).load.role == "innocent")


@dataclass
class _Rows:
    """The rows of one pause, from the load that waited down to whom it waited for."""

    item: Explanation
    loads: Mapping[str, str]
    names: dict[str, int] = field(default_factory=dict)
    bars: list[Bar] = field(default_factory=list)
    arrows: list[tuple[int, int, int]] = field(default_factory=list)

    def add(self, chain: Chain, request: IoRequest | None) -> None:
        """Add a chain: a bar for each task, and for what ended its longest wait."""
        spans = self._merged([(start_ns, end_ns) for _, start_ns, end_ns in chain.spans])
        start_ns, end_ns = max(spans, key=lambda span: span[1] - span[0])
        at_ns, waiter = start_ns + (end_ns - start_ns) // 12, ""
        for name, did in chain.links:
            if did != IDLE:
                self._bar(name, spans, cause_colour(did), f"{DID.get(did, did)}, {duration(chain.time_ns)}")
                self._arrow(at_ns, waiter, name)
                waiter = name
        cause = next((each for each in self.item.causes if each.kind == THROTTLED and each.whose), None)
        if request:
            until, what = ((request.handed_ns, request.done_ns),), request.what.partition(" of ")[0]
            took = duration(request.done_ns - request.handed_ns)
            self._bar(what, until, NEUTRAL, f"{request.what}, under way for {took}")
            self._bar(request.below, until, self._colour(list(request.ahead)), _done(request))
            self._arrow(at_ns, waiter, what)
            self._arrow(at_ns, what, request.below)
        elif chain.links[-1][1] == THROTTLED and cause:
            self._bar(_DATA, spans, self._colour(cause.named), _waiting(cause))
            self._arrow(at_ns, waiter, _DATA)

    def _bar(self, name: str, spans: Spans, colour: str, text: str) -> None:
        self.bars.append(Bar(self.names.setdefault(name, len(self.names)), spans, colour, text))

    def _arrow(self, at_ns: int, waiter: str, name: str) -> None:
        """Add an arrow from the row of who waited."""
        if waiter and waiter != name:
            self.arrows.append((at_ns, self.names[waiter], self.names[name]))

    def _merged(self, spans: Sequence[tuple[int, int]]) -> Spans:
        found: list[tuple[int, int]] = []
        for start_ns, end_ns in sorted(spans):
            if found and start_ns - found[-1][1] < _GAP * self.item.pause_ns:
                found[-1] = (found[-1][0], max(end_ns, found[-1][1]))
            else:
                found.append((start_ns, end_ns))
        return tuple(found)

    def _colour(self, whose: Sequence[str]) -> str:
        return self.loads.get(whose[0], OTHERS) if whose else OTHERS


def _waiting(cause: Cause) -> str:
    """Return whose data waited while a load was throttled."""
    total = sum(cause.counted.values())
    share = percent(sum(cause.counted[name] for name in cause.named) / total)
    return f"{cause.whose}: {share} of the {size(total)} that were dirty"


def _done(request: IoRequest) -> str:
    """Return what a disk did while a request was under way."""
    took_ns = request.done_ns - request.handed_ns
    if _HALF * request.held_ns > took_ns:
        return f"held for {duration(request.held_ns)} {request.held_by}".rstrip()
    if _HALF * request.still_ns > took_ns:
        return f"stood still for {duration(request.still_ns)}"
    total = sum(request.ahead.values())
    whose, most = next(iter(request.ahead.items()), ("", 0))
    return f"{whose}: {size(most)} of the {size(total)} completed meanwhile" if total else "completed nothing else"
