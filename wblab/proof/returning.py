"""The point of no return: the latest moment at which a change still spares the load."""

from collections.abc import Callable
from dataclasses import dataclass

from wblab.proof.trial import Outcome

Spared = Callable[[Outcome], bool]


@dataclass(frozen=True)
class Return:
    """Where it lies: changed at `saved`, the load is spared; at `lost`, it is not. curve: all runs, by their times.

    `lost` is None where it was spared whenever the change came, `saved` where it was never.
    """

    saved: Outcome | None
    lost: Outcome | None
    curve: tuple[Outcome, ...]


def is_gone(outcome: Outcome) -> bool:
    """Whether a change spares a load, in the strict sense."""
    return outcome.verdict == "gone"


def helps(first: Outcome, pause_ns: int) -> Spared:
    """Return what says whether a change helps that shortens a pause of `pause_ns`, as it did when it came `first`.

    What was gone is to stay gone; what was shorter is to be shorter by at least half as much.
    """
    if first.verdict != "shorter":
        return is_gone
    return lambda outcome: 2 * outcome.pause_ns <= first.pause_ns + pause_ns


def point_of_no_return(
    probe: Callable[[int], Outcome],
    first: Outcome,
    last_ns: int,
    tolerance_ns: int,
    is_spared: Spared = is_gone,
) -> Return:
    """Return the point of no return between a first run, in which the load may be spared, and `last_ns`.

    By bisection, as if there were one such point; the curve shows whether that is so.
    """
    if not is_spared(first):
        return Return(None, first, (first,))
    last = probe(last_ns)
    made = [first, last]
    if is_spared(last):
        return Return(last, None, (first, last))
    saved, lost = first, last
    while lost.at_ns - saved.at_ns > tolerance_ns:
        made.append(probe((saved.at_ns + lost.at_ns) // 2))
        if is_spared(made[-1]):
            saved = made[-1]
        else:
            lost = made[-1]
    return Return(saved, lost, tuple(sorted(made, key=lambda item: item.at_ns)))
