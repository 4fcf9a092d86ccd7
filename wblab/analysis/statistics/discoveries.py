"""Correction for multiple comparisons of the same runs.

Of 100 tests without any effect, five have p <= 0.05. Y. Benjamini and Y. Hochberg ("Controlling the False Discovery
Rate", Journal of the Royal Statistical Society B 57, 1995) limit the share of false claims. Intervals that were
selected because they exclude zero miss the true value too often. Y. Benjamini and D. Yekutieli ("False Discovery
Rate-Adjusted Multiple Confidence Intervals", Journal of the American Statistical Association 100, 2005) widen them
according to the selection. For a single comparison, both corrections change nothing.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import false_discovery_control

RATE = 0.05  # the permitted share of false claims


def corrected(p: ArrayLike) -> NDArray[np.float64]:
    """Return p values corrected for their number, in the same shape; a difference with at most RATE may be claimed.

    NaN means not tested, and stays NaN. Raises ValueError for a value that is not a p value.
    """
    found = np.array(p, dtype=np.float64)
    looked = ~np.isnan(found)
    if looked.any():
        found[looked] = false_discovery_control(found[looked])
    return found


def joint_confidence(p: ArrayLike, rate: float = RATE) -> float:
    """Return the confidence for each interval at which at most the share `rate` of the claimed intervals is wrong.

    It is 1 - rate x claimed / tested, with at least one claim counted. An interval of this confidence excludes zero
    exactly if the corrected p value permits a claim.
    """
    adjusted = corrected(p)
    looked = int((~np.isnan(adjusted)).sum())
    return 1 - rate * max(1, int((adjusted <= rate).sum())) / max(1, looked)
