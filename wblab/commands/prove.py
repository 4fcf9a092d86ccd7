"""What `wblab why --prove` prints: verdicts on suspects and remedies, and points of no return."""

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.lab.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wblab.core.spec import Spec
    from wblab.data.run import Run
    from wblab.proof.change import Remedy, Stop, Stops
    from wblab.proof.returning import Return
    from wblab.proof.trial import Make, Outcome, Trial
    from wblab.why.explain import Explanation
    from wblab.why.recorded import Recorded

_PROOFS = "proof"
_TOLERANCE_NS = 100_000_000
_Say = Callable[[list[str]], None]


def proofs(run: Path, results: Path) -> Path:
    """Return where the runs of a proof go: into the run that they are about, which `latest` never looks into."""
    return run / _PROOFS if os.access(run, os.W_OK) else results / _PROOFS / run.name


def maker(results: Path, kernel: str) -> "Make":
    """Return what makes the run of a spec, with progress; kernel: as --kernel says it."""
    from dataclasses import replace

    from wblab.commands.run import run_shown
    from wblab.data.run import read_run
    from wblab.host.request import ready
    from wblab.kernels import built_kernels, full_name

    shelf = built_kernels(kernel)

    def make(spec: "Spec") -> "Run":
        wanted = replace(spec, kernel=full_name(kernel)) if kernel else spec
        return read_run(run_shown(ready(wanted, shelf), results).directory)

    return make


def prove(  # noqa: PLR0913 - as it is called once
    trial: "Trial",
    recorded: "Recorded",
    event: Callable[[int], str],
    named: "Sequence[str]",
    settings: "Sequence[str]" = (),
    *,
    as_json: bool,
) -> None:
    """Print what becomes of a pause without each suspect, or with a remedy, and until when that spares the load.

    recorded: by the run, event: one at a place in its trace, in words. named: the suspects; none, all others unless
    there are settings, which are the remedy. Raises InputError.
    """
    from wblab.proof.change import Stop, Stops, read_remedy
    from wblab.proof.trial import begin_ns, loads_start_ns, suspects

    run, pause, say = trial.run, trial.pause, _silent if as_json else _printed
    remedy = read_remedy(settings) if settings else None
    say(
        [
            f"pause {pause.number}: {pause.load} was stopped for {_s(pause.pause_ns)} from {_s(pause.start_ns)} on",
            f"gone: the same pause is no longer than {_s(trial.bound_ns)}; unchanged: by no more than 5 % another",
        ]
    )
    wanted = list(named) or (suspects(run, pause) if remedy is None else [])
    stopped = []
    for suspect in wanted:
        found = _tried(trial, Stop(suspect), begin_ns(run, suspect), say)
        moments = _moments(trial, recorded, event, suspect, found)
        for moment in moments:
            say([f"  {moment['text']}", *(f"      {each}" for each in moment["events"])])
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
    """Return the suspects without which a pause is shorter, if several, and if it is gone without none of all."""
    firsts = [item["curve"][0] for item in found]
    if any(first["verdict"] == "gone" for first in firsts):
        return []
    shorter = [str(first["changed"]) for first in firsts if first["verdict"] == "shorter"]
    return shorter if len(shorter) > 1 else []


@dataclass(frozen=True)
class _Words:
    """How a change is spoken of: what it is, that it came, and that it came in time, of a change and a load."""

    what: str
    came: str
    helps: str


_STOPPED = _Words("without {}", "stopped", "{0} spares {1}")
_SET = _Words("with {} from the loads' start on", "set", "it helps {1}")


def _tried(trial: "Trial", change: "Stop | Stops | Remedy", first_ns: int, say: _Say) -> "Return":
    """Return until when a change spares a load that comes at `first_ns` at the earliest, and say so."""
    from wblab.proof.change import Stop, Stops
    from wblab.proof.returning import helps, is_gone, point_of_no_return

    is_stop = isinstance(change, Stop | Stops)
    words, probe = _STOPPED if is_stop else _SET, partial(trial.outcome, change)
    first = probe(first_ns)
    is_spared = is_gone if is_stop else helps(first, trial.pause.pause_ns)
    say([f"{words.what.format(change.name)}: {first.verdict}, {_s(first.pause_ns)}{_beside(trial, first)}"])
    if not is_stop and first.verdict == "shorter":
        half_ns = (first.pause_ns + trial.pause.pause_ns) // 2
        say([f"  helps: the pause is no longer than {_s(half_ns)}, half of what it takes off at first"])
    last_ns = max(trial.pause.start_ns, first.at_ns + 1)
    found = point_of_no_return(probe, first, last_ns, _TOLERANCE_NS, is_spared)
    say(_lines(trial.pause, found, words) if is_spared(first) else [])
    return found


def _moments(
    trial: "Trial", recorded: "Recorded", event: Callable[[int], str], suspect: str, found: "Return"
) -> list[dict[str, Any]]:
    """Return what happened at a point of no return, with the events that prove it."""
    from wblab.proof.moment import happened

    if not (found.saved and found.lost):
        return []
    between = found.saved.at_ns, found.lost.at_ns
    told = happened(trial.run, recorded, trial.pause, suspect, between)
    return [{"text": item.text, "events": list(map(event, item.events))} for item in told]


def _printed(lines: list[str]) -> None:
    for line in lines:
        print(printable(line), flush=True)


def _silent(lines: list[str]) -> None:
    """Say nothing, as what is found is printed at the end."""


def _beside(trial: "Trial", outcome: "Outcome") -> str:
    """Return what to say of another pause that came where the one in question had been."""
    if outcome.beside_ns <= trial.bound_ns:
        return ""
    return f" (and another pause beside it, {_s(outcome.beside_ns)})"


def _lines(pause: "Explanation", found: "Return", words: _Words) -> list[str]:
    lines = []
    if found.saved:
        helps = words.helps.format(found.saved.changed, pause.load)
        if found.lost:
            before = _s(pause.start_ns - found.saved.at_ns)
            lines = [
                f"  point of no return: {words.came} at {_s(found.saved.at_ns)}, {before} before the pause, {helps}; "
                f"{words.came} at {_s(found.lost.at_ns)} it does not"
            ]
        else:
            lines = [f"  {words.came} as the pause begins, {helps} still"]
    if found.odd:
        times = ", ".join(_s(item.at_ns) for item in found.odd)
        lines.append(f"  not one point: {words.came} at {times} it is the other way round")
    lines.append(f"  {words.came + ' at':10}   pause")
    return [*lines, *(f"  {_s(item.at_ns):>10}   {_s(item.pause_ns)}  {item.verdict}" for item in found.curve)]


def _s(time_ns: int) -> str:
    return f"{time_ns / 1e9:.3f} s"
