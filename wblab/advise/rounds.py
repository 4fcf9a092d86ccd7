"""The second round: the best remedies, two at a time.

In the first each is tried alone. Of those that help the best are taken, as many as set different things, and any two of
them are tried together with the same seeds. What was chosen stands in the matrix and is not chosen again, so that an
advice which was interrupted goes on with the same.
"""

from collections.abc import Sequence

from wblab.advise.plan import Option
from wblab.advise.result import Result

BEST = 3


def second_round(found: Result) -> list[Option]:
    """Return what is to be tried after the first round; nothing where it was begun before."""
    tried = {candidate.name for candidate in found.advice.candidates}
    if any(option.candidate.name in tried for option in found.advice.pairs):
        return []
    return pairs_of_best([row.name for row in found.helping], found.advice.pairs)


def pairs_of_best(helping: Sequence[str], pairs: Sequence[Option]) -> list[Option]:
    """Return the pairs of the best remedies. helping: their names, the best first; pairs: all that there can be."""
    possible = {frozenset(option.of) for option in pairs}
    best: list[str] = []
    for name in helping:
        if len(best) < BEST and all(frozenset((name, other)) in possible for other in best):
            best.append(name)
    return [option for option in pairs if set(option.of) <= set(best)]
