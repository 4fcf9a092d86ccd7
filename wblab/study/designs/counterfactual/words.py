"""What was tried on a run, in words and as JSON."""

import shlex
from collections.abc import Iterator
from typing import Any

from wblab.core.units import NS_PER_S
from wblab.report.enumeration import enumerated
from wblab.report.quantities import duration, span
from wblab.study.designs.counterfactual.candidates import Candidate
from wblab.study.designs.counterfactual.change import Remedy
from wblab.study.designs.counterfactual.effect import CLEAR, Effect
from wblab.study.designs.counterfactual.search import Question, Search, Without
from wblab.study.designs.counterfactual.tried import Tried

_MOST_REMEDIES = 3
_LONGER = "--try-for 1m"


def lines(tried: Tried, run: str, path: str) -> list[str]:
    """Return what trials say of a sentence, and the commands that ask for more. run, path: as commands take them."""
    if tried.search is None:
        return [f"Not tried: {tried.why_not}. So no cause is certain here."]
    found = [*_blame(tried.search), *_remedies(tried.search, run, path)]
    if tried.why_not:
        what = "Nothing was tried" if not tried.search.effects else "Not all was tried"
        found.append(f"{what}: {tried.why_not}.")
        if not tried.is_interrupted:
            found.append(f"    wblab why {run} {_LONGER}    # the trials so far are kept")
    return found


def table(tried: Tried) -> dict[str, Any]:
    """Return trials as a JSON object."""
    search = tried.search
    head = {"pause": tried.pause.number, "load": tried.pause.load, "why_not": tried.why_not}
    if search is None:
        return head | {"finding": "undecided", "named": [], "culprits": [], "trials": [], "remedies": []}
    trials = [
        {
            "left_out": list(item.names) if isinstance(item, Without) else [],
            "settings": list(item.settings) if isinstance(item, Candidate) else [],
            "is_phase": isinstance(item, Candidate) and _is_phase(item),
            "what": item.what if isinstance(item, Candidate) else f"without {enumerated(item.names)}",
            "verdict": effect.of_pause if isinstance(item, Without) else effect.of_all,
            "was_ns": effect.was_ns,
            "pause_ns": effect.pause_ns,
            "longest_was_ns": effect.longest_was_ns,
            "longest_ns": effect.longest_ns,
            "is_cut": effect.is_cut,
            "failure": effect.failure,
        }
        for item, effect in search.effects.items()
    ]
    return head | {
        "finding": search.finding,
        "named": list(search.question.named),
        "is_own": search.question.is_own,
        "culprits": list(search.culprits),
        "trials": trials,
        "remedies": [list(item.settings) for item, _ in search.remedies],
    }


def _blame(search: Search) -> Iterator[str]:
    """Yield what leaving out loads says: of those named first, then of those that count."""
    q, found = search.question, search.culprits
    named = search.without(q.named) if q.named else None
    if search.finding == "agrees" and named:
        yield f"Tried on this run: without {enumerated(q.named)}, {_became(named)}."
        return
    if named and search.finding == "contradicts":
        yield f"Tried on this run: {_in_vain(q, named, alone=not _is_exonerated(search))}"
    if effect := search.without(found) if found else None:
        begins = "Tried on this run: w" if not named else "W"
        both = " together" if len(found) > 1 else ""
        said = f"{begins}ithout {enumerated(found)}{both}, {_became(effect)}"
        yield f"{said}{_so(search)}"
    elif (alone := search.without(q.all) if q.all else None) and not alone.failure:
        begins = "Tried on this run: without" if not named else "Without"
        yield f"{begins} all other loads, {_became(alone)}: none of them causes it."
    elif not q.all:
        yield "No other load wrote before this pause ended: there is nobody to leave out."


def _is_exonerated(search: Search) -> bool:
    """Whether those named are not among those that count, as far as all of that was tried."""
    found = search.culprits
    if found:
        return not set(found) & set(search.question.named) and search.is_minimal
    alone = search.without(search.question.all)
    return alone is not None and not alone.failure


def _in_vain(q: Question, named: Effect, *, alone: bool) -> str:
    """Return that leaving out those named does not end a pause, against the sentence."""
    who = enumerated(q.named)
    did = "did not cause it" if not alone else "alone did not cause it"
    if named.of_pause == "lessens":
        return f"without {who}, {_became(named)}: {who} is only a part of the cause."
    if named.of_pause == "lengthens":
        return f"leaving {who} out makes this pause longer ({duration(named.pause_ns)}): {who} {did}."
    return f"leaving {who} out does not change this pause ({duration(named.pause_ns)}): {who} {did}."


def _so(search: Search) -> str:
    """Return the conclusion from the trial of those that count, where the sentence does not have it."""
    found, q = search.culprits, search.question
    if search.finding == "found" or not search.is_minimal or len(found) == len(q.all) > 1:
        if len(found) > 1:
            return ": one of them, or some together, cause it." if not search.is_minimal else ": it takes both."
        return f": {found[0]} causes it."
    if len(found) > 1:
        return ": each alone is enough to cause it."
    return f": {found[0]} causes it, against the sentence above."


def _remedies(search: Search, run: str, path: str) -> Iterator[str]:
    """Yield the best settings, each with the command that repeats its trial, and those tried in vain."""
    best = search.remedies[:_MOST_REMEDIES]
    for number, (item, effect) in enumerate(best):
        begins = "Tried on this run: " if number == 0 and not search.culprits else ""
        said = f"{begins}{item.what}: {_became_all(effect)}."
        yield said[0].upper() + said[1:]
        yield f"    {_command(item, run, path) if number == 0 else _options(item)}"
    vain = [(item, effect) for item, effect in search.tried if effect.of_all not in (*CLEAR, "failed")]
    if vain:
        low_ns, high_ns = (end(effect.left_ns for _, effect in vain) for end in (min, max))
        is_one = duration(low_ns) == duration(high_ns)
        left = duration(low_ns) if is_one else span(low_ns / NS_PER_S, high_ns / NS_PER_S, "s")
        names = enumerated([item.short for item, _ in vain])
        others = "Others help little" if best else "No setting that was tried helps much"
        yield f"{others} ({left} left): {names}."


def _command(item: Candidate, run: str, path: str) -> str:
    """Return the command that repeats the trial of a setting; for one of a running guest, also until when it helps."""
    return f"wblab why {run} --prove {_options(item)}" if _is_phase(item) else f"wblab run {path} {_options(item)}"


def _options(item: Candidate) -> str:
    option = "--remedy" if _is_phase(item) else "--set"
    return " ".join(f"{option} {shlex.quote(setting)}" for setting in item.settings)


def _is_phase(item: Candidate) -> bool:
    return isinstance(item.change, Remedy)


def _became(effect: Effect) -> str:
    """Return the pause at hand before and after a change."""
    return f"{duration(effect.was_ns)} became {duration(effect.pause_ns)}"


def _became_all(effect: Effect) -> str:
    """Return the pause before and after a setting, and the longest pause of the same loads where that differs."""
    at_least = "at least " if effect.is_cut and effect.longest_ns >= effect.pause_ns else ""
    if effect.longest_was_ns <= effect.was_ns:  # the pause at hand was the longest: so is what is left
        return f"{duration(effect.was_ns)} became {at_least}{duration(effect.left_ns)}"
    longest = f"{duration(effect.longest_was_ns)} became {at_least}{duration(effect.longest_ns)}"
    return f"{_became(effect)}; the longest pause of these loads, {longest}"
