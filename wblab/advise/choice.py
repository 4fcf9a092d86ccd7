"""Which remedy is worth it, by a rule that can be said in three sentences.

A remedy helps if the interval of what it takes from the longest pause lies beyond zero, that is a fifth of it at least,
and nobody waits longer. All are as good as the best that leave no more than half as much again, or what nobody notices.
Of these the one that costs the offender least is recommended; where costs are equal, the one that sets least.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wblab.advise.figures import Figures
from wblab.advise.plan import Candidate
from wblab.advise.remedies import NOW
from wblab.twin.match import UNNOTICED

UNNOTICED_S = UNNOTICED["longest_pause_s"]
WORTH, AS_GOOD, SAME_COST = 0.2, 1.5, 0.02  # shares; of the cost, in shares of the offender's rate


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
    if live_s is not None and live_s < UNNOTICED_S:
        said = f"nobody was stopped for longer than {live_s:.2f} s in the live run"
        return Choice(None, f"{said}, and below {UNNOTICED_S:g} s nobody notices; the twin expects {pause_s:.2f} s")
    if pause_s < UNNOTICED_S:
        return Choice(
            None,
            f"nobody is stopped for long as it is: {pause_s:.2f} s expected, below {UNNOTICED_S:g} s nobody notices",
        )
    helping = [row for row in others if _helps(row, pause_s)]
    if not helping:
        few = min((len(row.outcomes) for row in (now, *others)), default=0)
        said = f"of {len(others)} remedies none shortens the longest pause by a fifth beyond what chance could"
        return Choice(None, f"{said}, with {few} runs each: more may tell (--seeds)")
    best_s = min(row.mean("longest_pause_s") for row in helping)
    good_s = max(AS_GOOD * best_s, UNNOTICED_S)
    as_good = [row for row in helping if row.mean("longest_pause_s") <= good_s]
    least = min(row.cost for row in as_good)
    cheap = [row for row in as_good if row.cost <= least + SAME_COST]
    chosen = min(cheap, key=lambda row: (_effort(candidates[row.name]), row.mean("longest_pause_s"), row.cost))
    took = chosen.longest_pause_s
    assert took is not None
    left_s = chosen.mean("longest_pause_s")
    reason = f"{left_s:.2f} s expected instead of {pause_s:.2f} s, for {chosen.cost:.0%} of the offender's rate; "
    if len(as_good) == 1:
        return Choice(chosen.name, f"{reason}no other leaves {good_s:.2f} s or less")
    why = "costs least" if len(cheap) == 1 else f"sets least of {len(cheap)} that cost the same"
    return Choice(chosen.name, f"{reason}of {len(as_good)} that leave {good_s:.2f} s or less it {why}")


def _helps(row: Figures, now_s: float) -> bool:
    if row.name == NOW or row.longest_pause_s is None or row.wait_time_s is None:
        return False
    enough = row.longest_pause_s.estimate <= -WORTH * now_s
    return enough and row.longest_pause_s.claim < 0 and row.wait_time_s.claim <= 0


def _effort(candidate: Candidate) -> tuple[bool, int]:
    """Return how much a remedy asks for: to know who writes much, and how many settings."""
    return candidate.has_group, len(candidate.wanted)
