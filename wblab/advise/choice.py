"""Which remedy is worth it, by a rule that can be said in a few sentences.

A remedy helps if the interval of what it takes from the longest pause lies beyond zero, that is a fifth of it at least,
and nobody waits longer. To halve the longest pause is worth a fifth of the offender's rate, down to what nobody
notices. The one that is worth most is recommended, if it is worth its cost; of several that are worth about the same
the one that sets least.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2

from wblab.advise.figures import Figures
from wblab.advise.plan import Candidate
from wblab.advise.remedies import NOW
from wblab.twin.match import UNNOTICED

UNNOTICED_S = UNNOTICED["longest_pause_s"]
LEAST_GAIN = 0.2  # of the longest pause
HALVING = 0.2  # of the offender's rate: what a halving of the longest pause is worth
_SAME = 0.1  # halvings
_NOTHING = 0.005  # of the offender's rate


@dataclass(frozen=True)
class Choice:
    """What is recommended, or nothing; and why, in a sentence or two."""

    name: str | None
    reason: str


def choose(
    now: Figures, others: Sequence[Figures], candidates: Mapping[str, Candidate], live_s: float | None = None
) -> Choice:
    """Return what to set. candidates: by name, for what each sets. live_s: a live run's longest pause, in s.

    What was seen counts more than what a twin expects.
    """
    pause_s = now.mean("longest_pause_s")
    best = helping(now, others, live_s)
    if live_s is not None and live_s < UNNOTICED_S:
        said = f"nobody was stopped for longer than {live_s:.2f} s in the live run"
        return Choice(None, f"{said}, and below {UNNOTICED_S:g} s nobody notices; the twin expects {pause_s:.2f} s")
    if pause_s < UNNOTICED_S:
        return Choice(
            None,
            f"nobody is stopped for long as it is: {pause_s:.2f} s expected, below {UNNOTICED_S:g} s nobody notices",
        )
    if not best:
        few = min((len(row.outcomes) for row in (now, *others)), default=0)
        said = f"of {len(others)} remedies none shortens the longest pause by a fifth beyond what chance could"
        return Choice(None, f"{said}, with {few} run{'s' * (few != 1)} each: more may tell (--seeds)")
    most = _price(best[0])
    shortest = min(best, key=lambda row: row.mean("longest_pause_s"))
    if most >= _halvings(pause_s):
        return Choice(None, f"what helps costs more than it is worth: {_said(shortest)}")
    near = [row for row in best if _price(row) <= most + _SAME]
    chosen = min(near, key=lambda row: (_effort(candidates[row.name]), _price(row)))
    reason = (
        f"it shortens the expected longest pause from {pause_s:.2f} s to {chosen.mean('longest_pause_s'):.2f} s"
        f"{_by(chosen)}, {_cost(chosen, 'and')}"
    )
    more = "No other remedy leaves less" if shortest is chosen else _said(shortest)
    return Choice(chosen.name, f"{reason}. {more}")


def helping(now: Figures, others: Sequence[Figures], live_s: float | None = None) -> list[Figures]:
    """Return what helps, what is worth most first; nothing where nobody is stopped for long as it is."""
    pause_s = now.mean("longest_pause_s")
    if min(pause_s, pause_s if live_s is None else live_s) < UNNOTICED_S:
        return []
    return sorted((row for row in others if _helps(row, pause_s)), key=_price)


def _halvings(pause_s: float) -> float:
    """Return how often a pause would have to be halved to be a second; what nobody notices counts alike."""
    return log2(max(pause_s, UNNOTICED_S))


def _price(row: Figures) -> float:
    """Return what a remedy leaves and costs, in halvings: the less, the more it is worth."""
    return _halvings(row.mean("longest_pause_s")) + row.cost / HALVING


def _said(row: Figures) -> str:
    return f"{row.name} would give {row.mean('longest_pause_s'):.2f} s, {_cost(row, 'but')}"


def _cost(row: Figures, joint: str) -> str:
    """Return what a remedy costs the offender. joint: the word before a cost."""
    if row.cost < _NOTHING:
        return "at no cost for the heavy writer"
    return f"{joint} makes the heavy writer {100 * row.cost:.0f} % slower"


def _by(row: Figures) -> str:
    """Return the interval of what a remedy takes from the longest pause; '' where it has none."""
    found = row.longest_pause_s
    if found is None or found.low is None or found.high is None:
        return ""
    return f" (by {-found.high:.2f} to {-found.low:.2f} s)"


def _helps(row: Figures, now_s: float) -> bool:
    if row.name == NOW or row.longest_pause_s is None or row.wait_time_s is None:
        return False
    enough = row.longest_pause_s.estimate <= -LEAST_GAIN * now_s
    return enough and row.longest_pause_s.claim < 0 and row.wait_time_s.claim <= 0


def _effort(candidate: Candidate) -> tuple[bool, int]:
    """Return how much a remedy asks for: to know who writes much, and how many settings."""
    return candidate.has_group, len(candidate.wanted)
