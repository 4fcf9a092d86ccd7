"""What was tried on a run, in words and as JSON."""

import math
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from wblab.core.tables import to_table
from wblab.core.units import NS_PER_S
from wblab.report.quantities import duration, enumerated, in_series, percent, span
from wblab.study.designs.prove.candidates import SettingCandidate
from wblab.study.designs.prove.change import RemedyChange, is_phase, phase_named
from wblab.study.designs.prove.effect import CLEAR, MOST, ChangeEffect
from wblab.study.designs.prove.search import EffectQuestion, Search, Without

if TYPE_CHECKING:  # it makes runs, which words do not need
    from wblab.study.designs.prove.tried import TriedSentence

_MOST_REMEDIES = 3
_MOST_SETTINGS = 3  # of a phase
_IN_VAIN = ("unchanged", "lengthens")
_LONGER_S, _TRIALS = 60, 10  # the time that is proposed for trials: at least this, or so many of them


def lines(tried: "TriedSentence", run: str, path: str) -> list[str]:
    """Return what trials say of a sentence, and the commands that ask for more. run, path: as commands take them."""
    if tried.search is None:
        return [f"Not tried: {tried.why_not}. So no cause is certain here."]
    found = [*_blame(tried.search), *_limits(tried.search, run, path), *_remedies(tried.search, run, path)]
    if found:
        found[0] = f"Tried on this run: {found[0][0].lower()}{found[0][1:]}"
    if tried.why_not:
        what = "Not all was tried" if tried.search.effects else "Nothing was tried"
        found.append(f"{what}: {tried.why_not}.")
        if not tried.is_interrupted:
            time_s = max(_LONGER_S, _TRIALS * math.ceil(tried.cost_s))
            found.append(f"    wblab why {run} --try-for {time_s}s    # the trials so far are kept")
    return found


def first_line(tried: "TriedSentence") -> str:
    """Return what leaving out loads says of a further cause, in a sentence; empty if nothing does."""
    found = [*_blame(tried.search)] if tried.search else []
    return f"Tried: {found[-1][0].lower()}{found[-1][1:]}" if found else ""


def table(tried: "TriedSentence") -> dict[str, Any]:
    """Return trials as a JSON object."""
    search = tried.search
    head = {"pause": tried.pause.number, "load": tried.pause.load, "why_not": tried.why_not}
    if search is None:
        lists: dict[str, Any] = {key: [] for key in ("named", "culprits", "trials", "limits", "remedies")}
        return head | {"finding": "undecided", "is_own": False} | lists
    trials = [
        {
            "left_out": list(item.names) if isinstance(item, Without) else [],
            "settings": list(item.settings) if isinstance(item, SettingCandidate) else [],
            "is_phase": isinstance(item, SettingCandidate) and _is_phase(item),
            "what": item.what if isinstance(item, SettingCandidate) else f"without {enumerated(item.names)}",
            "verdict": effect.of_pause if isinstance(item, Without) else effect.of_all,
            "was_ns": effect.was_ns,
            "pause_ns": effect.pause_ns,
            "longest_was_ns": effect.longest_was_ns,
            "longest_ns": effect.longest_ns,
            "is_cut": effect.is_cut,
            "failure": effect.failure,
            "shares": dict(effect.shares),
        }
        for item, effect in search.effects.items()
    ]
    return head | {
        "finding": search.finding,
        "named": list(search.question.named),
        "is_own": search.question.is_own,
        "culprits": list(search.culprits),
        "trials": trials,
        "limits": [list(item.settings) for item, _ in search.limits],
        "remedies": [list(item.settings) for item, _ in search.remedies],
    }


def _blame(search: Search) -> Iterator[str]:
    """Yield what leaving out loads says: of those named first, then of those that count."""
    q, found = search.question, search.culprits
    named = search.without(q.named) if q.named else None
    if named and named.of_pause in CLEAR:
        yield f"Without {_together(q.named)}, {_became(named)}{_moved(named)}{_each(search)}."
        for name, rival, is_more in search.rivals:
            so = f"{name} counts more" if is_more else f"it takes both {_names(q.named)} and {name}"
            yield f"Without {name}, {_became(rival)}: {so}."
        return
    if named and named.failure:
        yield f"Without {_names(q.named)}, the trial failed: {named.failure}."
    elif named and search.finding in ("contradicts", "partly"):
        yield _in_vain(q, named, found, alone=not _is_exonerated(search))
    if found and (effect := search.without(found)):
        yield f"Without {_together(found)}, {_became(effect)}{_moved(effect)}{_so(search)}"
        yield from _joined(search, effect)
    elif (effect := search.without(q.all)) and not effect.failure and (len(q.all) > 1 or not q.named):
        yield from _without_end(search, effect)
    elif not q.all and not search.limits:
        yield "No other load did anything before this pause ended: no other load causes it."


def _without_end(search: Search, alone: ChangeEffect) -> Iterator[str]:
    """Yield what leaving out everybody does, which does not end the pause. alone: that effect."""
    q, part = search.question, search.part
    effect = search.without(part)
    if part and effect and set(part) != set(q.all) and set(part) != set(q.named):
        yield f"Without {_together(part)}, {_became(effect)}: {_causes_part(part, effect)}."
    elif alone.of_pause == "lessens":
        yield f"Without {_all(q)}, {_became(alone)}: {_causes_part(q.all, alone)}."
    else:
        which = "none of them causes it" if len(q.all) > 1 else f"{q.all[0]} does not cause it"
        yield f"Without {_all(q)}, {_became(alone)}: {which}."


def _causes_part(names: Sequence[str], effect: ChangeEffect) -> str:
    """Return how much of a pause these cause, by what is left without them."""
    share = percent(round(1 - effect.pause_ns / effect.was_ns, 2))
    return f"they cause {share} of it" if len(names) > 1 else f"{names[0]} causes {share} of it"


def _joined(search: Search, rest: ChangeEffect) -> Iterator[str]:
    """Yield that those named are enough for what is left without those that count."""
    found = search.culprits
    names = [name for name in search.question.named if name not in found]
    if search.joins and (whole := search.without((*found, *names))):
        alone = "alone is" if len(names) == 1 else "alone are"
        left = f"{duration(whole.pause_ns)} is left: {enumerated(names)} {alone} enough for {duration(rest.pause_ns)}"
        yield f"Without {enumerated(names)} too, {left}."


def _moved(effect: ChangeEffect) -> str:
    """Return that another pause of the same loads is as long without these, as a clause; empty if none is."""
    return f", and their longest pause then is {duration(effect.longest_ns)}" if effect.of_all == "moves" else ""


def _all(q: EffectQuestion) -> str:
    """Return all who may be left out, in words: a single one by name."""
    if len(q.all) == 1:
        return q.all[0]
    phases = [name for name in q.all if is_phase(name)]
    return enumerated(["all other loads", *phases])


def _together(names: tuple[str, ...]) -> str:
    return f"{_names(names)} together" if len(names) > 1 else names[0]


def _names(names: Sequence[str]) -> str:
    """Return names as a sentence lists them, those in a row as "r1 to r6"."""
    return enumerated(in_series(names))


def _each(search: Search) -> str:
    """Return what leaving out each of several named did, as the end of a sentence; empty until all was tried."""
    named = search.question.named
    tried = [(name, effect) for name in named if (effect := search.without((name,))) and not effect.failure]
    if len(named) < 2 or len(tried) < len(named):
        return ""
    if all(effect.of_pause in _IN_VAIN for _, effect in tried):
        return f"; without one of them, {_range(effect.pause_ns for _, effect in tried)}: another one takes its place"
    return f"; {enumerated([f'without {name} alone, {duration(effect.pause_ns)}' for name, effect in tried])}"


def _is_exonerated(search: Search) -> bool:
    """Whether those named are not among those that count, as far as all of that was tried."""
    found = search.culprits
    if found:
        return not set(found) & set(search.question.named) and search.is_minimal
    alone = search.without(search.question.all)
    return alone is not None and not alone.failure


def _in_vain(q: EffectQuestion, named: ChangeEffect, found: Sequence[str], *, alone: bool) -> str:
    """Return that leaving out those named does not end a pause, against the sentence. found: those who count."""
    who = _names(q.named)
    others = [name for name in found if name not in q.named]
    takes = "takes its place" if len(others) == len(q.named) == 1 else "take its place"
    did = f"{who} alone did not cause it" if alone else f"{who} did not cause it"
    if alone and others and set(q.named) <= set(found):
        did = f"{enumerated(others)} {takes}"
    if named.of_pause == "lessens":
        return (
            f"Without {who}, {_became(named)}: {who} {'is' if len(q.named) == 1 else 'are'} only a part of the cause."
        )
    change = "makes this pause longer" if named.of_pause == "lengthens" else "does not change this pause"
    return f"Leaving {who} out {change} ({duration(named.pause_ns)}): {did}."


def _so(search: Search) -> str:
    """Return the conclusion from leaving out those that count, where the sentence does not have it."""
    found = search.culprits
    against = ", against the sentence above" if search.finding == "contradicts" else ""
    if search.question.is_own and search.moves(found):
        return ": without that, such a pause comes at another time."
    if len(found) > 1:
        if not search.is_minimal:
            return f": some of them cause it{against}."
        is_each = all(effect.of_pause in _IN_VAIN for effect in search.without_one(found))
        told = "each of them is enough to cause it" if is_each else "all of them are parts of the cause"
        return f": {told}{against}."
    named = search.question.named
    if named and search.finding == "partly" and found[0] not in named:
        return f": {found[0]} counts more."
    return f": {found[0]}{_sets(search.question, found[0])} causes it{against}."


def _sets(q: EffectQuestion, name: str) -> str:
    """Return when a phase began and what it set, in brackets; empty for a load or an agent."""
    found = next((phase for key, phase in q.spec.phase.items() if phase_named(key) == name), None)
    if found is None:
        return ""
    table = {key: value for key, value in to_table(found).items() if key != "at"}
    every = list(_settings(table))
    shown = [*every[:_MOST_SETTINGS], *(["..."] if len(every) > _MOST_SETTINGS else [])]
    return f" (at {duration(found.at)}: {', '.join(shown)})"


def _settings(table: dict[str, Any], path: str = "") -> Iterator[str]:
    """Yield the entries of nested tables that are set, each KEY=VALUE."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _settings(value, f"{path}{key}.")
        elif value not in ("", []):
            yield f"{path}{key}={','.join(map(str, value)) if isinstance(value, list) else value}"


def _limits(search: Search, run: str, path: str) -> Iterator[str]:
    """Yield the limit without which the pause ends, and the command that repeats that."""
    for item, effect in search.limits[:1]:
        against = ", against the sentence above" if search.finding == "contradicts" and not search.culprits else ""
        yield f"{_capital(item.what)}, {_became_all(effect)}: this limit is a cause{against}."
        yield f"    {_command(item, run, path)}"


def _remedies(search: Search, run: str, path: str) -> Iterator[str]:
    """Yield the best settings, each with the command that repeats its trial, and those tried in vain."""
    best = search.remedies[:_MOST_REMEDIES]
    for item, effect in best:
        yield f"{_capital(item.what)}: {_became_all(effect)}{_cost(search, effect)}."
        yield f"    {_command(item, run, path)}"
    vain = [(item, effect) for item, effect in search.tried if effect.of_all not in (*CLEAR, "failed")]
    if vain:
        left = _range(effect.left_ns for _, effect in vain)
        names = enumerated([item.short for item, _ in vain])
        others = "Others help little" if best or search.limits else "No setting that was tried helps much"
        yield f"{others} ({left} left): {names}."
    elif search.tried and not best and not search.limits:
        yield f"No setting could be tried: {search.tried[0][1].failure}."


def _range(times_ns: Iterable[int]) -> str:
    """Return the shortest and the longest of some times."""
    known = sorted(times_ns)
    if duration(known[0]) == duration(known[-1]):
        return duration(known[0])
    return span(known[0] / NS_PER_S, known[-1] / NS_PER_S, "s")


def _cost(search: Search, effect: ChangeEffect) -> str:
    """Return how much less the loads that count did with a setting; empty if that is little."""
    counted = search.culprits or search.question.named
    less = [f"{name} did {percent(share)}" for name, share in effect.shares if name in counted and share < MOST]
    return f"; {enumerated(less)} of its work" if less else ""


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _command(item: SettingCandidate, run: str, path: str) -> str:
    """Return the command that repeats the trial of a setting; for one of a running guest, also until when it helps."""
    return f"wblab why {run} --prove {_options(item)}" if _is_phase(item) else f"wblab run {path} {_options(item)}"


def _options(item: SettingCandidate) -> str:
    option = "--remedy" if _is_phase(item) else "--set"
    return " ".join(f"{option} {shlex.quote(setting)}" for setting in item.settings)


def _is_phase(item: SettingCandidate) -> bool:
    return isinstance(item.change, RemedyChange)


def _became(effect: ChangeEffect) -> str:
    """Return the pause at hand before and after a change."""
    return f"{duration(effect.was_ns)} became {duration(effect.pause_ns)}"


def _became_all(effect: ChangeEffect) -> str:
    """Return the pause before and after a setting, and the longest pause of the same loads where that differs."""
    at_least = "at least " if effect.is_cut and effect.longest_ns >= effect.pause_ns else ""
    if effect.longest_was_ns <= 1.05 * effect.was_ns:  # the pause at hand was the longest: so is what is left
        return f"{duration(effect.was_ns)} became {at_least}{duration(effect.left_ns)}"
    longest = f"{duration(effect.longest_was_ns)} became {at_least}{duration(effect.longest_ns)}"
    return f"{_became(effect)}; the longest pause of these loads, {longest}"
