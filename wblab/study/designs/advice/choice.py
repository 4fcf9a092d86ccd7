"""Choose the remedy to recommend.

A remedy helps if it shortens the longest pause by a fifth or more, the interval of that change excludes zero, and no
wait time grows. Halving the longest pause is worth a fifth of the offender's rate, down to a pause that nobody notices.
The remedy of highest worth is recommended if that exceeds its cost. Among remedies of about the same worth, the one
with the fewest settings wins.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2

from wblab.report.quantities import column, percent, quantity, span
from wblab.study.designs.advice.figures import Figures
from wblab.study.designs.advice.plan import Candidate
from wblab.study.designs.advice.remedies import NOW
from wblab.study.designs.twin.match import UNNOTICED

UNNOTICED_S = UNNOTICED["longest_pause_s"]
LEAST_GAIN = 0.2  # share of the longest pause
HALVING = 0.2  # share of the offender's rate that halving the longest pause is worth
_SAME = 0.1  # halvings
_NOTHING = 0.005  # share of the offender's rate


@dataclass(frozen=True)
class Choice:
    """The recommended remedy, or None, and the reason in one or two sentences."""

    name: str | None
    reason: str


def choose(
    now: Figures, others: Sequence[Figures], candidates: Mapping[str, Candidate], live_s: float | None = None
) -> Choice:
    """Choose a remedy. candidates: their settings, by name. live_s: a live run's longest pause, in s.

    A live run without noticeable pauses overrides the twin's prediction.
    """
    pause_s = now.mean("longest_pause_s")
    best, expected = helping(now, others, live_s), quantity(pause_s, "s")
    if live_s is not None and live_s < UNNOTICED_S:
        seen = f"the longest pause in the live run was {quantity(live_s, 's')}"
        return Choice(None, f"{seen}, and nobody notices a pause below {UNNOTICED_S:g} s; the twin predicts {expected}")
    if pause_s < UNNOTICED_S:
        return Choice(
            None,
            f"the expected longest pause is only {expected}, and nobody notices a pause below {UNNOTICED_S:g} s",
        )
    if not best:
        few = min((len(row.outcomes) for row in (now, *others)), default=0)
        none = f"none of {len(others)} remedies clearly shortens the longest pause by a fifth"
        return Choice(None, f"{none}, with {few} run{'s' * (few != 1)} each; more seeds may show one (--seeds N)")
    most = _price(best[0])
    shortest = min(best, key=lambda row: row.mean("longest_pause_s"))
    if most >= _halvings(pause_s):
        return Choice(None, f"every remedy that helps costs more than it gains: {_alternative(shortest)}")
    near = [row for row in best if _price(row) <= most + _SAME]
    chosen = min(near, key=lambda row: (_effort(candidates[row.name]), _price(row)))
    before, after = column([pause_s, chosen.mean("longest_pause_s")], "s")
    reason = f"it shortens the expected longest pause from {before} to {after}{_by(chosen)}, {_cost(chosen, 'and')}"
    more = "No other remedy makes it shorter" if shortest is chosen else _alternative(shortest)
    return Choice(chosen.name, f"{reason}. {more}")


def helping(now: Figures, others: Sequence[Figures], live_s: float | None = None) -> list[Figures]:
    """Return the remedies that help, best first; none if no pause is noticeable without them."""
    pause_s = now.mean("longest_pause_s")
    if min(pause_s, pause_s if live_s is None else live_s) < UNNOTICED_S:
        return []
    return sorted((row for row in others if _helps(row, pause_s)), key=_price)


def _halvings(pause_s: float) -> float:
    """Return how many halvings bring a pause down to one second; all unnoticeable pauses count the same."""
    return log2(max(pause_s, UNNOTICED_S))


def _price(row: Figures) -> float:
    """Return a remedy's remaining pause plus its cost, in halvings: less is better."""
    return _halvings(row.mean("longest_pause_s")) + row.cost / HALVING


def _alternative(row: Figures) -> str:
    """Describe the effect and the cost of another remedy."""
    return f"{row.name} would give {quantity(row.mean('longest_pause_s'), 's')}, {_cost(row, 'but')}"


def _cost(row: Figures, joint: str) -> str:
    """Describe what a remedy costs the offender. joint: the conjunction before the cost."""
    if row.cost < _NOTHING:
        return "at no cost for the heavy writer"
    return f"{joint} makes the heavy writer {percent(row.cost)} slower"


def _by(row: Figures) -> str:
    """Return the interval of how much a remedy shortens the longest pause; '' if it has none."""
    found = row.longest_pause_s
    if found is None or found.low is None or found.high is None:
        return ""
    return f" (by {span(-found.high, -found.low, 's')})"


def _helps(row: Figures, now_s: float) -> bool:
    if row.name == NOW or row.longest_pause_s is None or row.wait_time_s is None:
        return False
    enough = row.longest_pause_s.estimate <= -LEAST_GAIN * now_s
    return enough and row.longest_pause_s.claim < 0 and row.wait_time_s.claim <= 0


def _effort(candidate: Candidate) -> tuple[bool, int]:
    """Return a remedy's effort: whether the heavy writer must be known, then the number of settings."""
    return candidate.has_group, len(candidate.wanted)
