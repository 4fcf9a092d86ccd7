"""What `wblab why --prove` prints: verdicts on suspects and remedies, and their latest effective interventions."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from wblab.lab.printable import printable
from wblab.report.quantities import duration, moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wblab.analysis.why.explain import Explanation
    from wblab.analysis.why.recorded import Recorded
    from wblab.study.designs.prove.change import Remedy, Stop, Stops
    from wblab.study.designs.prove.returning import Return
    from wblab.study.designs.prove.trial import Outcome, Trial

_TOLERANCE_NS = 100_000_000
_Say = Callable[[list[str]], None]


def prove(  # noqa: PLR0913 - as it is called once
    trial: "Trial",
    recorded: "Recorded",
    event: Callable[[int], str],
    named: "Sequence[str]",
    settings: "Sequence[str]" = (),
    *,
    as_json: bool,
) -> None:
    """Print how a pause changes without each suspect, or with a remedy, and the latest effective intervention.

    recorded: what the run recorded; event: describes an event of its trace. named: the suspects; if empty, all other
    loads, unless there are settings. settings: the remedy. Raises InputError.
    """
    from wblab.study.designs.prove.change import Stop, Stops, read_remedy
    from wblab.study.designs.prove.trial import begin_ns, loads_start_ns, suspects

    run, pause, say = trial.run, trial.pause, _silent if as_json else _printed
    remedy = read_remedy(settings) if settings else None
    say(
        [
            f"pause {pause.number}: {pause.load} was stalled for {duration(pause.pause_ns)} from "
            f"{moment(pause.start_ns)} on",
            f"gone: the same pause lasts at most {duration(trial.bound_ns)}; unchanged: it differs by at most 5 %",
        ]
    )
    wanted = list(named) or (suspects(run, pause) if remedy is None else [])
    stopped = []
    for suspect in wanted:
        found = _tried(trial, Stop(suspect), begin_ns(run, suspect), say)
        moments = _moments(trial, recorded, event, suspect, found)
        for item in moments:
            say([f"  {item['text']}", *(f"      {each}" for each in item["events"])])
        stopped.append(asdict(found) | {"happened": moments})
    if (several := _alone_in_vain(stopped)) and not named:
        together = Stops(tuple(several))
        found = _tried(trial, together, max(begin_ns(run, load) for load in several), say)
        stopped.append(asdict(found) | {"happened": []})
    helped = [asdict(_tried(trial, remedy, loads_start_ns(run) - run.zero_ns, say))] if remedy else []
    if as_json:
        named_pause = {key: getattr(pause, key) for key in ("load", "number", "start_ns", "pause_ns")}
        print(json.dumps({"pause": named_pause, "suspects": stopped, "remedies": helped}, indent=2))


def _alone_in_vain(found: "list[dict[str, Any]]") -> list[str]:
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


def _tried(trial: "Trial", change: "Stop | Stops | Remedy", first_ns: int, say: _Say) -> "Return":
    """Return the latest moment, from `first_ns` on, at which a change still helps a load, and print it."""
    from wblab.study.designs.prove.change import Stop, Stops
    from wblab.study.designs.prove.returning import helps, is_gone, point_of_no_return

    is_stop = isinstance(change, Stop | Stops)
    words, probe = _STOPPED if is_stop else _SET, partial(trial.outcome, change)
    first = probe(first_ns)
    is_spared = is_gone if is_stop else helps(first, trial.pause.pause_ns)
    say([f"{words.what.format(change.name)}: {first.verdict}, {duration(first.pause_ns)}{_beside(trial, first)}"])
    if not is_stop and first.verdict == "shorter":
        half_ns = (first.pause_ns + trial.pause.pause_ns) // 2
        say([f"  'helps' means: a pause of at most {duration(half_ns)}, so at least half of that reduction"])
    last_ns = max(trial.pause.start_ns, first.at_ns + 1)
    found = point_of_no_return(probe, first, last_ns, _TOLERANCE_NS, is_spared)
    say(_lines(trial.pause, found, words) if is_spared(first) else [])
    return found


def _moments(
    trial: "Trial", recorded: "Recorded", event: Callable[[int], str], suspect: str, found: "Return"
) -> list[dict[str, Any]]:
    """Return what happened at the latest effective intervention, with the events that prove it."""
    from wblab.study.designs.prove.moment import happened

    if not (found.saved and found.lost):
        return []
    between = found.saved.at_ns, found.lost.at_ns
    happenings = happened(trial.run, recorded, trial.pause, suspect, between)
    return [{"text": item.text, "events": list(map(event, item.events))} for item in happenings]


def _printed(lines: list[str]) -> None:
    for line in lines:
        print(printable(line), flush=True)


def _silent(lines: list[str]) -> None:
    """Print nothing: the JSON at the end has everything."""


def _beside(trial: "Trial", outcome: "Outcome") -> str:
    """Return a note on another pause that now touches the same time; empty if that is short."""
    if outcome.beside_ns <= trial.bound_ns:
        return ""
    return f" (and another pause next to it, {duration(outcome.beside_ns)})"


def _lines(pause: "Explanation", found: "Return", words: _Words) -> list[str]:
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
