"""The proof of a pause, as it is made: verdicts on suspects and remedies, and their latest effective interventions."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wblab.analysis.runs.lanes import lanes_of
from wblab.analysis.runs.run import read_run
from wblab.analysis.why.explain import Explanation
from wblab.analysis.why.recorded import Recorded
from wblab.report.lanestext import lanes_lines
from wblab.report.quantities import duration, moment
from wblab.report.report import Block, Lines, Section
from wblab.study.designs.prove.change import RemedyChange, StopLoad, Stops, read_remedy
from wblab.study.designs.prove.moment import happened
from wblab.study.designs.prove.returning import Return, helps, is_gone, point_of_no_return
from wblab.study.designs.prove.trial import Trial, TrialOutcome, begin_ns, loads_start_ns, suspects

_TOLERANCE_NS = 100_000_000


class Proof:
    """How a pause changes without each suspect, or with a remedy, and the latest effective intervention.

    recorded: what the run recorded; event: describes an event of its trace. named: the suspects; if empty, all other
    loads, unless there are settings. settings: the remedy. data: what is known so far, as a JSON object.
    """

    def __init__(
        self,
        trial: Trial,
        recorded: Recorded,
        event: Callable[[int], str],
        named: Sequence[str] = (),
        settings: Sequence[str] = (),
    ) -> None:
        """Raises InputError."""
        self._trial, self._recorded, self._event, self._named = trial, recorded, event, named
        self._remedy = read_remedy(settings) if settings else None
        self._wanted = list(named) or (suspects(trial.run, trial.pause) if self._remedy is None else [])
        about = {key: getattr(trial.pause, key) for key in ("load", "number", "start_ns", "pause_ns")}
        self.data: dict[str, Any] = {"pause": about, "suspects": [], "remedies": []}

    def blocks(self) -> Iterator[Block]:
        """Try everything, and yield what each trial says. Raises InputError."""
        trial, run, pause, stopped = self._trial, self._trial.run, self._trial.pause, self.data["suspects"]
        yield _close(
            f"pause {pause.number}: {pause.load} was stalled for {duration(pause.pause_ns)} from "
            f"{moment(pause.start_ns)} on",
            f"gone: the same pause lasts at most {duration(trial.bound_ns)}; unchanged: it differs by at most 5 %",
        )
        stops = [(StopLoad(suspect), begin_ns(run, suspect)) for suspect in self._wanted]
        for suspect, (stop, _), first in zip(self._wanted, stops, trial.outcomes(stops), strict=True):
            found = yield from _tried(trial, stop, first)
            moments = self._moments(suspect, found)
            for item in moments:
                yield _close(f"  {item['text']}", *(f"      {each}" for each in item["events"]))
            stopped.append(asdict(found) | {"happened": moments})
        if (several := _alone_in_vain(stopped)) and not self._named:
            stops_all = Stops(tuple(several))
            first = trial.outcome(stops_all, max(begin_ns(run, load) for load in several))
            found = yield from _tried(trial, stops_all, first)
            stopped.append(asdict(found) | {"happened": []})
        if self._remedy:
            first = trial.outcome(self._remedy, loads_start_ns(run) - run.zero_ns)
            found = yield from _tried(trial, self._remedy, first)
            self.data["remedies"].append(asdict(found))

    def _moments(self, suspect: str, found: Return) -> list[dict[str, Any]]:
        """Return what happened at the latest effective intervention, with the events that prove it."""
        if not (found.saved and found.lost):
            return []
        between = found.saved.at_ns, found.lost.at_ns
        happenings = happened(self._trial.run, self._recorded, self._trial.pause, suspect, between)
        return [{"text": item.text, "events": list(map(self._event, item.events))} for item in happenings]


def _close(*lines: str) -> Section:
    """Return lines as they are, close below what is above them."""
    return Section("", (Lines(lines, indent=0),), close=True)


def _alone_in_vain(found: list[dict[str, Any]]) -> list[str]:
    """Return the suspects that each shorten a pause, if they are several and none of all ends it alone."""
    firsts = [item["curve"][0] for item in found]
    if any(first["verdict"] == "gone" for first in firsts):
        return []
    shorter = [str(first["changed"]) for first in firsts if first["verdict"] == "shorter"]
    return shorter if len(shorter) > 1 else []


@dataclass(frozen=True)
class _Words:
    """Words for a kind of change: its name from the start of the run, its participle, its act and its effect."""

    what: str
    came: str
    act: str
    helps: str


_STOPPED = _Words("without {}", "stopped", "stopping {}", "spares {}")
_SET = _Words("with {} from the loads' start", "set", "setting it", "helps {}")


def _tried(
    trial: Trial, change: StopLoad | Stops | RemedyChange, first: TrialOutcome
) -> Generator[Block, None, Return]:
    """Return the latest moment at which a change still helps a load, from its first one on, and yield what it says."""
    is_stop = isinstance(change, StopLoad | Stops)
    words = _STOPPED if is_stop else _SET
    is_spared = is_gone if is_stop else helps(first, trial.pause.pause_ns)
    yield _close(
        f"{words.what.format(change.name)}: {first.verdict}, {duration(first.pause_ns)}{_beside(trial, first)}"
    )
    yield _close(*_beside_each_other(trial, first, words.what.format(change.name)))
    if not is_stop and first.verdict == "shorter":
        half_ns = (first.pause_ns + trial.pause.pause_ns) // 2
        yield _close(f"  'helps' means: a pause of at most {duration(half_ns)}, so at least half of that reduction")
    last_ns = max(trial.pause.start_ns, first.at_ns + 1)
    found = point_of_no_return(
        lambda moments_ns: trial.outcomes([(change, at_ns) for at_ns in moments_ns]),
        first,
        last_ns,
        _TOLERANCE_NS,
        is_spared,
    )
    yield _close(*(_lines(trial.pause, found, words) if is_spared(first) else ()))
    return found


def _beside_each_other(trial: Trial, first: TrialOutcome, title: str) -> list[str]:
    """Return the lanes of the run and below them those of the run with a change. The second ends after the pause."""
    second = lanes_of(read_run(Path(first.run)), title, trial.bound_ns)
    return lanes_lines([lanes_of(trial.run, "as it was", trial.bound_ns), second])


def _beside(trial: Trial, outcome: TrialOutcome) -> str:
    """Return a note on another pause that now touches the same time; empty if that is short."""
    if outcome.beside_ns <= trial.bound_ns:
        return ""
    return f" (and another pause next to it, {duration(outcome.beside_ns)})"


def _lines(pause: Explanation, found: Return, words: _Words) -> list[str]:
    lines = []
    if found.saved:
        act, helps = words.act.format(found.saved.changed), words.helps.format(pause.load)
        if found.lost:
            before = duration(pause.start_ns - found.saved.at_ns)
            lines = [
                f"  latest effective intervention: {act} at {moment(found.saved.at_ns)}, {before} before the pause, "
                f"{helps}; at {moment(found.lost.at_ns)} it no longer does (the point of no return)"
            ]
        else:
            lines = [f"  {act} still {helps} when the pause begins"]
    if found.odd:
        times = ", ".join(moment(item.at_ns) for item in found.odd)
        lines.append(f"  no single point: at {times} the outcome is the opposite")
    lines.append(f"  {words.came + ' at':10}   pause")
    curve = ((moment(item.at_ns), duration(item.pause_ns), item.verdict) for item in found.curve)
    return [*lines, *(f"  {at:>10}   {pause:>7}  {verdict}" for at, pause, verdict in curve)]
