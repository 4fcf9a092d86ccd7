"""Differences between groups of runs: intervals by resampling, and effect sizes.

Everything is a contrast: a weighted sum of the means of independent cells. A group's mean is one cell of weight 1, the
difference between two groups is two cells of weights 1 and -1, pairs are one cell of their differences, and an effect
in a factorial experiment is a sum over all its cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike, NDArray

RATE = 0.05  # the permitted share of false claims; decides together with the corrections of `contrasts`

# Confidence intervals of shares, such as the share of runs that show something.


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


Values = NDArray[np.float64]

LEAST_RUNS = 3  # in each cell; with fewer there is no interval
LEAST_RESAMPLED = 5  # with fewer, resampling gives too few different means for percentiles: 10 from 3 values
# A smaller difference, relative to the values, is rounding: times are whole ns, given in s.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Resampling:
    """Parameters of resampling. seed: decides everything random. confidence: of each single interval."""

    seed: int = 0
    confidence: float = 0.95
    count: int = 4000


DEFAULT = Resampling()


def generator(seed: int, *what: str) -> np.random.Generator:
    """Return the random generator of a seed and a purpose; other purposes do not affect its numbers."""
    return np.random.default_rng([seed, *(crc32(text.encode()) for text in what)])


@dataclass(frozen=True)
class Interval:
    """A contrast and its confidence interval, in the unit of the values.

    low, high: None if there are too few runs; both equal the estimate if the values do not differ within any cell.
    runs: of the smallest cell. freedom: degrees of freedom of the spread; None if there is no spread.
    """

    estimate: float
    low: float | None
    high: float | None
    runs: int
    freedom: float | None = None

    @property
    def known(self) -> bool:
        """Whether there is an interval."""
        return self.low is not None

    @property
    def without_spread(self) -> bool:
        """Whether all values of each cell are equal: then the interval is a point, which does not mean precision."""
        return self.known and self.low == self.high

    @property
    def claim(self) -> int:
        """The sign of the difference from zero: 1 or -1; 0 if the interval includes zero or is unknown."""
        if self.low is None or self.high is None:
            return 0
        return int(self.low > 0) - int(self.high < 0)

    def p(self, confidence: float) -> float | None:
        """Return the p value: the smallest 1 - confidence at which the interval excludes zero.

        confidence: the interval's present one. None if there is no interval or no spread.
        """
        if self.low is None or self.high is None or self.freedom is None:
            return None
        from scipy.special import stdtr  # what only counts runs needs no SciPy

        arm = self.estimate - self.low if self.estimate > 0 else self.high - self.estimate
        if not arm:
            return 0.0 if self.estimate else 1.0
        return float(2 * stdtr(self.freedom, -abs(self.estimate) / arm * _quantile(self.freedom, confidence)))

    def at(self, confidence: float, present: float) -> "Interval":
        """Return the interval with another confidence.

        Each arm scales with Student's quantile for the same degrees of freedom. So the interval keeps its skewness, and
        the number of resamples does not limit it: 4,000 resamples do not reach the quantile of 1 in 100,000.
        """
        if self.low is None or self.high is None or self.freedom is None or confidence == present:
            return self
        growth = _quantile(self.freedom, confidence) / _quantile(self.freedom, present)
        low, high = (self.estimate + growth * (end - self.estimate) for end in (self.low, self.high))
        return replace(self, low=low, high=high)


def _quantile(freedom: float, confidence: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + confidence / 2))


def interval(
    cells: Sequence[ArrayLike], weights: Sequence[float], resampling: Resampling = DEFAULT, scale: float = 0.0
) -> Interval:
    """Return sum(weight x mean) over independent cells of values, with its bootstrap confidence interval.

    Each cell is resampled independently (stratified). The ends are percentiles of the resampled contrasts, widened for
    small samples: with n values a bootstrap's spread is too small by sqrt((n - 1) / n), and the normal quantile is too
    small for an estimated spread (T. Hesterberg, "What Teachers Should Know About the Bootstrap", The American
    Statistician 69, 2015: the expanded percentile interval). The degrees of freedom are those of Welch (1947) and
    Satterthwaite (1946), because cells may differ in spread. If a cell has 3 or 4 values, the interval is Student's,
    with the same standard error and degrees of freedom. scale: the size of the original values, if these are their
    differences; a result smaller by nine digits is rounding.
    """
    arrays = [np.asarray(cell, dtype=np.float64) for cell in cells]
    factors = np.asarray(weights, dtype=np.float64)
    if len(arrays) != len(factors) or not arrays or any(array.ndim != 1 or not len(array) for array in arrays):
        raise ValueError("there must be as many weights as cells, and at least one value in each cell")
    counts = np.array([len(array) for array in arrays])
    estimate = float(factors @ [array.mean() for array in arrays])
    rounding = _ROUNDING * max(scale, *(float(np.abs(array).max()) for array in arrays))
    estimate = 0.0 if abs(estimate) <= rounding else estimate
    runs = int(counts.min())
    if runs < LEAST_RUNS:
        return Interval(estimate, None, None, runs)
    if all(float(np.ptp(array)) <= rounding for array in arrays):
        return Interval(estimate, estimate, estimate, runs)
    variances = np.array([array.var(ddof=1) for array in arrays])
    shares = factors**2 * variances / counts
    freedom = float(shares.sum() ** 2 / (shares**2 / (counts - 1)).sum())
    quantile = _quantile(freedom, resampling.confidence)
    if runs < LEAST_RESAMPLED:
        reach = quantile * float(np.sqrt(shares.sum()))
        return Interval(estimate, estimate - reach, estimate + reach, runs, freedom)
    narrowness = np.sqrt(shares.sum() / (shares * (counts - 1) / counts).sum())
    tail = NormalDist().cdf(-quantile * float(narrowness))
    low, high = np.quantile(_resampled(arrays, factors, resampling), [tail, 1 - tail])
    return Interval(estimate, min(float(low), estimate), max(float(high), estimate), runs, freedom)


def _resampled(arrays: Sequence[Values], weights: Values, resampling: Resampling) -> Values:
    random = np.random.default_rng(resampling.seed)
    result = np.zeros(resampling.count)
    for array, weight in zip(arrays, weights, strict=True):
        count = len(array)
        drawn = random.integers(count, size=(resampling.count, count))
        result += weight * array[drawn].mean(axis=1)
    return result


def predicted(values: ArrayLike, confidence: float) -> tuple[float, float]:
    """Return where one more value of the same normal distribution lies: Student's prediction interval, from two values.

    G. J. Hahn and W. Q. Meeker, Statistical Intervals, 1991, 4.8.
    """
    array = np.asarray(values, np.float64)
    reach = _quantile(len(array) - 1, confidence) * float(array.std(ddof=1)) * float(np.sqrt(1 + 1 / len(array)))
    return float(array.mean()) - reach, float(array.mean()) + reach
