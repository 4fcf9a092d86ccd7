"""The second round: the best remedies, two at a time.

In the first each is tried alone. Of those that help the best are taken, as many as set different things, and any two of
them are tried together with the same seeds. What was chosen stands in the matrix and is not chosen again, so that an
advice which was interrupted goes on with the same.
"""

from collections.abc import Sequence

from wblab.advise.plan import Candidate, Option
from wblab.advise.result import Result
from wblab.advise.settings import Where

BEST = 3


def second_round(found: Result) -> list[Option]:
    """Return what is to be tried after the first round; nothing where it was begun before."""
    tried = {candidate.name for candidate in found.advice.candidates}
    if any(option.candidate.name in tried for option in found.advice.pairs):
        return []
    return pairs_of_best([found.advice.candidate(row.name) for row in found.helping], found.advice.pairs)


def pairs_of_best(helping: Sequence[Candidate], pairs: Sequence[Option]) -> list[Option]:
    """Return the pairs of the best remedies. helping: what helps, the best first; pairs: all that there can be."""
    best: dict[str, set[tuple[Where, str]]] = {}
    for candidate in helping:
        sets = {(item.where, item.key) for item in candidate.wanted}
        if len(best) < BEST and not any(sets & others for others in best.values()):
            best[candidate.name] = sets
    return [option for option in pairs if best.keys() >= set(option.of)]
