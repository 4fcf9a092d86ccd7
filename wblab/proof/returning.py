"""The point of no return: the latest moment at which stopping a suspect still spares the load."""

from collections.abc import Callable
from dataclasses import dataclass

from wblab.proof.cut import Cut


@dataclass(frozen=True)
class Return:
    """Where it lies: stopped at `saved`, the pause is gone; at `lost`, it is not. curve: all runs, by their times.

    `lost` is None where it was gone whenever the suspect was stopped, `saved` where it was never.
    """

    saved: Cut | None
    lost: Cut | None
    curve: tuple[Cut, ...]


def point_of_no_return(probe: Callable[[int], Cut], first: Cut, last_ns: int, tolerance_ns: int) -> Return:
    """Return the point of no return between a first run, in which the pause may be gone, and `last_ns`.

    By bisection, as if there were one such point; the curve shows whether that is so.
    """
    if first.verdict != "gone":
        return Return(None, first, (first,))
    last = probe(last_ns)
    made = [first, last]
    if last.verdict == "gone":
        return Return(last, None, (first, last))
    saved, lost = first, last
    while lost.halted_ns - saved.halted_ns > tolerance_ns:
        made.append(probe((saved.halted_ns + lost.halted_ns) // 2))
        if made[-1].verdict == "gone":
            saved = made[-1]
        else:
            lost = made[-1]
    return Return(saved, lost, tuple(sorted(made, key=lambda item: item.halted_ns)))
