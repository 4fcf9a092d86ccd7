"""SALib's estimates for factors with levels on a scale: a second opinion beside the analysis of variance.

SALib has no notion of levels, so it gets the sample from which they were drawn. For factors without a scale its shares
are too low: RBD-FAST gives 1 % for 24 names that account for 13 %. Such factors are left out.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from wblab.analysis.sensitivity.observed import Factor, Values

_RESAMPLES = 50
_TENTHS = 10  # bins of the response, of which the last is the worst
_LEAST_ROWS = 64  # each of RBD-FAST's 10 harmonics takes two rows, and its error comes from half the rows


@dataclass(frozen=True)
class Estimate:
    """SALib's estimates for one factor.

    share: of the variance, by RBD-FAST (S. Tarantola and others, "Random balance designs for the estimation of first
    order global sensitivity indices", Reliability Engineering and System Safety 91, 2006). error: half the width of its
    95 % interval. of_classes: the same share by classes of rows (E. Plischke and others, "Global sensitivity measures
    from given data", European Journal of Operational Research 226, 2013). distance: PAWN, the median distance, 0 to 1,
    between the response's distribution in a tenth of the factor's range and in all rows; unlike a share, it reflects
    the whole distribution. tail: how much the factor's distribution differs in the worst tenth of rows (the Cramér-von
    Mises criterion, as in regional sensitivity analysis). The dummy shows the values of these two by chance.
    """

    factor: str
    share: float
    error: float
    of_classes: float
    distance: float
    tail: float

    def agrees(self, low: float, high: float) -> bool:
        """Return whether its interval of the share overlaps another."""
        return self.share - self.error <= high and self.share + self.error >= low


def estimates(
    factors: Sequence[Factor], u: Values, values: Values, seed: int, more_is_better: bool = False
) -> tuple[Estimate, ...]:
    """Return SALib's estimates for each ordered factor and the dummy. u: (rows, factors); values: (rows,), finite.

    Empty if all values are equal, or with too few rows.
    """
    places = [place for place, factor in enumerate(factors) if factor.ordered or factor.is_dummy]
    if not places or len(values) < _LEAST_ROWS or np.ptp(values) == 0:
        return ()
    from SALib.analyze import delta, pawn, rbd_fast, rsa  # imports Matplotlib, which takes a while

    sample = u[:, places]
    names = [f"x{place}" for place in places]  # SALib reserves some suffixes that factor names may have
    problem = {"num_vars": len(places), "names": names, "bounds": [[0, 1]] * len(places)}
    worse = -values if more_is_better else values
    with _restored():
        balanced = rbd_fast.analyze(problem, sample, values, num_resamples=_RESAMPLES, seed=seed + 1)  # 0 is no seed
        classes = delta.analyze(problem, sample, values, num_resamples=2, method="sobol", seed=seed + 1)
        distances = pawn.analyze(problem, sample, values, S=_TENTHS, seed=seed + 1)
        tails = rsa.analyze(problem, sample, worse, bins=_TENTHS, target="Y")
    return tuple(
        Estimate(
            factor=factors[place].name,
            share=float(balanced["S1"][number]),
            error=float(balanced["S1_conf"][number]),
            of_classes=float(classes["S1"][number]),
            distance=float(distances["median"][number]),
            tail=float(tails[names[number]][-1]),
        )
        for number, place in enumerate(places)
    )


@contextmanager
def _restored() -> Iterator[None]:
    """Restore what SALib changes for the whole process: the format of warnings, and NumPy's global generator."""
    state, written = np.random.get_state(), warnings.formatwarning
    try:
        with warnings.catch_warnings():
            yield
    finally:
        warnings.formatwarning = written
        np.random.set_state(state)
