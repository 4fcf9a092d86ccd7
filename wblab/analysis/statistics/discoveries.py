"""Correction for multiple comparisons of the same runs.

Of 100 tests without any effect, five have p <= 0.05. Y. Benjamini and Y. Hochberg ("Controlling the False Discovery
Rate", Journal of the Royal Statistical Society B 57, 1995) bound the share of false ones among the claims. Intervals
that were selected for being far from zero miss the truth too often; Y. Benjamini and D. Yekutieli ("False Discovery
Rate-Adjusted Multiple Confidence Intervals", Journal of the American Statistical Association 100, 2005) widen them
according to the selection. For a single comparison, both change nothing.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import false_discovery_control

RATE = 0.05  # the permitted share of false claims


def corrected(p: ArrayLike) -> NDArray[np.float64]:
    """Return p values corrected for their number, in their shape: a value of at most RATE may be claimed.

    NaN means not tested, and stays NaN. Raises ValueError for a value that is not a p value.
    """
    found = np.array(p, dtype=np.float64)
    looked = ~np.isnan(found)
    if looked.any():
        found[looked] = false_discovery_control(found[looked])
    return found


def joint_confidence(p: ArrayLike, rate: float = RATE) -> float:
    """Return the confidence of each interval for which a share of at most `rate` of the claimed intervals is wrong.

    It is 1 - rate x claimed / tested, with at least one claim counted. An interval of this confidence excludes zero
    where `corrected` claims, and includes it elsewhere.
    """
    adjusted = corrected(p)
    looked = int((~np.isnan(adjusted)).sum())
    return 1 - rate * max(1, int((adjusted <= rate).sum())) / max(1, looked)
