"""The point of no return: the latest moment at which a change still spares the load."""

from collections.abc import Callable
from dataclasses import dataclass

from wblab.proof.trial import Outcome, Verdict

GONE: frozenset[Verdict] = frozenset(("gone",))


@dataclass(frozen=True)
class Return:
    """Where it lies: changed at `saved`, the load is spared; at `lost`, it is not. curve: all runs, by their times.

    `lost` is None where it was spared whenever the change came, `saved` where it was never.
    """

    saved: Outcome | None
    lost: Outcome | None
    curve: tuple[Outcome, ...]


def spares(first: Outcome) -> frozenset[Verdict]:
    """Return what spares a load, by what a change did that came first: a pause that was gone is to stay gone."""
    return GONE if first.verdict == "gone" else GONE | {"shorter"}


def point_of_no_return(
    probe: Callable[[int], Outcome],
    first: Outcome,
    last_ns: int,
    tolerance_ns: int,
    spared: frozenset[Verdict] = GONE,
) -> Return:
    """Return the point of no return between a first run, in which the load may be spared, and `last_ns`.

    By bisection, as if there were one such point; the curve shows whether that is so.
    """
    if first.verdict not in spared:
        return Return(None, first, (first,))
    last = probe(last_ns)
    made = [first, last]
    if last.verdict in spared:
        return Return(last, None, (first, last))
    saved, lost = first, last
    while lost.at_ns - saved.at_ns > tolerance_ns:
        made.append(probe((saved.at_ns + lost.at_ns) // 2))
        if made[-1].verdict in spared:
            saved = made[-1]
        else:
            lost = made[-1]
    return Return(saved, lost, tuple(sorted(made, key=lambda item: item.at_ns)))
