"""Many looks at the same runs: what is still claimed when so many stand side by side.

Of 100 tests of what changes nothing, five have p <= 0.05. Y. Benjamini and Y. Hochberg ("Controlling the False
Discovery Rate", Journal of the Royal Statistical Society B 57, 1995) bound the share of false ones among what is
claimed. Intervals of what was chosen for being far from zero miss the truth too often; Y. Benjamini and D. Yekutieli
("False Discovery Rate-Adjusted Multiple Confidence Intervals", Journal of the American Statistical Association 100,
2005) make them as much wider as the choice was narrow. With one look, both change nothing.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import false_discovery_control

RATE = 0.05  # the share of what is claimed that may be false


def corrected(p: ArrayLike) -> NDArray[np.float64]:
    """Return p values corrected for how many they are, in their shape: what is at most RATE may be claimed.

    What is NaN was not looked at, and stays so. Raises ValueError for what is no p value.
    """
    found = np.array(p, dtype=np.float64)
    looked = ~np.isnan(found)
    if looked.any():
        found[looked] = false_discovery_control(found[looked])
    return found


def joint_confidence(p: ArrayLike, rate: float = RATE) -> float:
    """Return the confidence of each interval with which the intervals of what is claimed are right but for the rate.

    That is 1 - rate x claimed / looked at, and never less than one claim takes. An interval of this confidence
    excludes zero where `corrected` claims, and spans it elsewhere.
    """
    adjusted = corrected(p)
    looked = int((~np.isnan(adjusted)).sum())
    return 1 - rate * max(1, int((adjusted <= rate).sum())) / max(1, looked)
