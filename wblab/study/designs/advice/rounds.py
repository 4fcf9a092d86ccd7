"""The second round: pairs of the best remedies.

The first round tries each remedy alone. The second takes the best three remedies that help and set different keys, and
tries every pair of them with the same seeds. The study's plan stores the choice, so a resumed study tries the same
pairs.
"""

from collections.abc import Sequence

from wblab.study.designs.advice.plan import Candidate, Option
from wblab.study.designs.advice.result import Result
from wblab.study.designs.advice.settings import Where

BEST = 3


def second_round(found: Result) -> list[Option]:
    """Return the pairs to try after the first round; none if the second round has begun."""
    tried = {candidate.name for candidate in found.advice.candidates}
    if any(option.candidate.name in tried for option in found.advice.pairs):
        return []
    return pairs_of_best([found.advice.candidate(row.name) for row in found.helping], found.advice.pairs)


def pairs_of_best(helping: Sequence[Candidate], pairs: Sequence[Option]) -> list[Option]:
    """Return pairs of the best remedies. helping: the remedies that help, best first. pairs: all possible pairs."""
    best: dict[str, set[tuple[Where, str]]] = {}
    for candidate in helping:
        sets = {(item.where, item.key) for item in candidate.wanted}
        if len(best) < BEST and not any(sets & others for others in best.values()):
            best[candidate.name] = sets
    return [option for option in pairs if best.keys() >= set(option.of)]
