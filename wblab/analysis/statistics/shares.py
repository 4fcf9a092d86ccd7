"""Confidence intervals of shares, such as the share of runs that show something."""

from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray


def wilson(hits: ArrayLike, runs: ArrayLike, confidence: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the intervals of shares hits/runs.

    E. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the American
    Statistical Association 22, 1927.
    """
    count, z = np.asarray(runs, np.float64), NormalDist().inv_cdf(0.5 + confidence / 2)
    share = np.asarray(hits, np.float64) / count
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    arm = z / (1 + z**2 / count) * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    return np.maximum(middle - arm, 0), np.minimum(middle + arm, 1)
