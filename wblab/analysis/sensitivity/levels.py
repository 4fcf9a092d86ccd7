"""Join neighbouring levels, so that each cell of two factors has enough rows."""

import numpy as np

from wblab.analysis.sensitivity.observed import Codes, Factor

MOST = 8  # levels of an ordered factor in a pair


def joined(factor: Factor, codes: Codes, most: int = MOST) -> tuple[Factor, Codes]:
    """Return an ordered factor with neighbouring levels joined into at most `most`; others unchanged.

    Levels of an unordered factor have no neighbours.
    """
    count = len(factor.levels)
    if not factor.ordered or count <= most:
        return factor, codes
    group = np.arange(count) * most // count
    ends = [np.flatnonzero(group == place) for place in range(most)]
    labels = tuple(
        factor.levels[of[0]] if len(of) == 1 else f"{factor.levels[of[0]]} … {factor.levels[of[-1]]}" for of in ends
    )
    return Factor(factor.name, labels, ordered=True, is_dummy=factor.is_dummy), group[codes]
