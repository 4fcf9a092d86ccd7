"""The latest effective intervention (point of no return): the last moment at which a change still spares the load."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from wblab.study.designs.prove.trial import TrialOutcome

Spared = Callable[[TrialOutcome], bool]
_PARTS = 6  # a change that always helps is sampled between this many equal parts of the time


@dataclass(frozen=True)
class Return:
    """The point of no return: a change at `saved` spares the load, a change at `lost` does not.

    `lost` is None if every change spared the load, `saved` if none did. curve: all runs, by time. odd: runs that
    contradict a single point: spared after `lost`, or not spared before `saved`.
    """

    saved: TrialOutcome | None
    lost: TrialOutcome | None
    curve: tuple[TrialOutcome, ...]
    odd: tuple[TrialOutcome, ...] = ()


def is_gone(outcome: TrialOutcome) -> bool:
    """Whether the pause is gone. In the strict sense, only then is the load spared."""
    return outcome.verdict == "gone"


def helps(first: TrialOutcome, pause_ns: int) -> Spared:
    """Return a test of whether a change still helps, from its `first` outcome for a pause of `pause_ns`.

    If the pause was gone at first, it must be gone. If it was shorter, at least half of that reduction must remain.
    """
    if first.verdict != "shorter":
        return is_gone
    return lambda outcome: 2 * outcome.pause_ns <= first.pause_ns + pause_ns


def point_of_no_return(
    probe: Callable[[Sequence[int]], list[TrialOutcome]],
    first: TrialOutcome,
    last_ns: int,
    tolerance_ns: int,
    is_spared: Spared = is_gone,
) -> Return:
    """Return the point of no return between the `first` run and `last_ns`.

    probe: returns the outcomes of changes at some moments. A bisection finds one point. Samples after it, near and
    far, test whether the load is spared again later; if so, the search continues from there. Samples before it test
    whether the point is the only one.
    """
    if not is_spared(first):
        return Return(None, first, (first,))
    (last,) = probe([last_ns])
    made = [first, last]
    if is_spared(last):
        made += probe(_between(first.at_ns, last_ns))
        return Return(last, None, _ordered(made), _ordered(item for item in made if not is_spared(item)))
    tried = {item.at_ns: item for item in made}

    def at(moments_ns: Sequence[int]) -> list[TrialOutcome]:
        new = [at_ns for at_ns in moments_ns if at_ns not in tried]
        tried.update(zip(new, probe(new) if new else (), strict=True))
        return [tried[at_ns] for at_ns in moments_ns]

    saved, lost = first, last
    while True:
        saved, lost = _bisected(at, saved, lost, tolerance_ns, is_spared)
        later = at(_steps(lost.at_ns, last_ns, tolerance_ns))
        again = [item for item in later if is_spared(item)]
        if not again:
            break
        saved = again[-1]
        lost = min((item for item in tried.values() if item.at_ns > saved.at_ns), key=lambda item: item.at_ns)
    at(_steps(saved.at_ns, first.at_ns, -tolerance_ns))
    odd = (item for item in tried.values() if is_spared(item) != (item.at_ns <= saved.at_ns))
    return Return(saved, lost, _ordered(tried.values()), _ordered(odd))


def _bisected(
    at: Callable[[Sequence[int]], list[TrialOutcome]],
    saved: TrialOutcome,
    lost: TrialOutcome,
    tolerance_ns: int,
    is_spared: Spared,
) -> tuple[TrialOutcome, TrialOutcome]:
    """Return the last outcome that spares the load and the first that does not, at most the tolerance apart."""
    while lost.at_ns - saved.at_ns > tolerance_ns:
        (middle,) = at([(saved.at_ns + lost.at_ns) // 2])
        saved, lost = (middle, lost) if is_spared(middle) else (saved, middle)
    return saved, lost


def _steps(start_ns: int, end_ns: int, step_ns: int) -> list[int]:
    """Return moments from start towards end; each is twice as far from the start as the one before."""
    found = []
    while (end_ns - start_ns) / step_ns > 0 and abs(step_ns) < abs(end_ns - start_ns):
        found.append(start_ns + step_ns)
        step_ns *= 2
    return found


def _between(start_ns: int, end_ns: int) -> list[int]:
    """Return moments that divide the span evenly; none if it is too short."""
    return (
        [start_ns + (end_ns - start_ns) * part // _PARTS for part in range(1, _PARTS)]
        if end_ns > start_ns + _PARTS
        else []
    )


def _ordered(made: Iterable[TrialOutcome]) -> tuple[TrialOutcome, ...]:
    return tuple(sorted(made, key=lambda item: item.at_ns))
