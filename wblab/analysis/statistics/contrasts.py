"""Contrasts over the cells of a factorial experiment: the effect of a change, all else being equal.

A contrast with one side is the mean of a group.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import false_discovery_control

from wblab.analysis.statistics.dominance import cliffs_delta, delta_interval, rank_p
from wblab.analysis.statistics.intervals import (
    DEFAULT,
    LEAST_RESAMPLED,
    LEAST_RUNS,
    RATE,
    Interval,
    Resampling,
    interval,
)

# Correction for multiple comparisons of the same runs.
#
# Of 100 tests without any effect, five have p <= 0.05. Y. Benjamini and Y. Hochberg ("Controlling the False Discovery
# Rate", Journal of the Royal Statistical Society B 57, 1995) limit the share of false claims. Intervals that were
# selected because they exclude zero miss the true value too often. Y. Benjamini and D. Yekutieli ("False Discovery
# Rate-Adjusted Multiple Confidence Intervals", Journal of the American Statistical Association 100, 2005) widen them
# according to the selection. For a single comparison, both corrections change nothing.


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


Levels = tuple[str, ...]
Runs = Mapping[int, Sequence[float]]  # by seed, one value for each run
Cells = Mapping[Levels, Runs]  # by the level of each axis


@dataclass(frozen=True)
class Side:
    """One side of a contrast. sign: of its mean. at: the levels of its cells, by their places in a cell's key."""

    sign: int
    at: Mapping[int, str]

    def has(self, key: Levels) -> bool:
        """Whether a cell belongs to this side."""
        return all(key[place] == level for place, level in self.at.items())


@dataclass(frozen=True)
class Contrast:
    """A difference with its interval, in the unit of the values.

    reference: the mean of the last side, the baseline. ratio: the first side's mean divided by the reference; None for
    an interaction, or if a mean is not above 0. delta: Cliff's delta, the mean over strata; None for an interaction.
    rank_p: the p value of the exact test whether one side's values are above the other's; None without a delta, with
    fewer than LEAST_RUNS, or if no side has any spread. chance: the probability that all runs divide into the two sides
    most extremely, in either direction, if nothing differs; None for an interaction. counts: the numbers of values of
    both sides, for the interval of delta; None with several strata. by_seed: each seed's difference is one
    observation. strata: the number of
    combinations of the other axes' levels that are averaged; 0 if the sides have none in common, so that the difference
    includes the other axes' effects.
    """

    interval: Interval
    reference: float
    ratio: Interval | None
    delta: float | None
    rank_p: float | None
    chance: float | None
    counts: tuple[int, int] | None
    by_seed: bool
    strata: int

    def delta_interval(self, confidence: float) -> tuple[float, float] | None:
        """Return the confidence interval of delta, if there is one."""
        return None if self.delta is None or not self.counts else delta_interval(self.delta, *self.counts, confidence)

    def at(self, confidence: float, present: float) -> "Contrast":
        """Return the contrast with intervals of another confidence."""
        ratio = self.ratio and _mapped(_mapped(self.ratio, math.log).at(confidence, present), math.exp)
        return replace(self, interval=self.interval.at(confidence, present), ratio=ratio)


def sides(*changes: tuple[int, str, str]) -> list[Side]:
    """Return the sides of a contrast of changes (place, level, first level): 2 for an effect, 4 for an interaction."""
    result = [Side(1, {})]
    for place, level, first in changes:
        chosen = ((1, level), (-1, first))
        result = [Side(side.sign * sign, {**side.at, place: name}) for side in result for sign, name in chosen]
    return result


def values_of(runs: Runs) -> list[float]:
    """Return the values of all runs of a cell."""
    return [value for same_seed in runs.values() for value in same_seed]


def contrast(cells: Cells, parts: Sequence[Side], resampling: Resampling = DEFAULT) -> Contrast | None:
    """Return the contrast of the sides, with equal weights for the strata of other axes; None if a side is empty.

    Strata are the combinations of other axes that all sides have. If all their cells share at least half of their
    seeds, the difference is computed within each seed and seeds are resampled. Then effects common to the runs of a
    seed cancel, and if an axis has no effect, its runs of one seed count as one sample. This takes 3 seeds, or 5 if
    there is only one stratum. Otherwise the runs of each cell are resampled independently.
    """
    groups = [{key: runs for key, runs in cells.items() if part.has(key)} for part in parts]
    if not all(groups):
        return None
    strata = _strata(groups, parts)
    count = len(strata)
    strata = strata or [[_pooled(group) for group in groups]]
    signs = [part.sign / len(strata) for part in parts]
    flat = [(sign, runs) for stratum in strata for sign, runs in zip(signs, stratum, strict=True)]
    common = sorted(set.intersection(*(set(runs) for _, runs in flat)))
    least = LEAST_RUNS if len(strata) > 1 else LEAST_RESAMPLED
    by_seed = len(common) >= least and 2 * len(common) >= max(len(runs) for _, runs in flat)
    if by_seed:
        of_seed = [sum(sign * float(np.mean(runs[number])) for sign, runs in flat) for number in common]
        scale = max(abs(value) for _, runs in flat for value in values_of(runs))
        found = interval([of_seed], [1.0], resampling, scale)
    else:
        found = interval([values_of(runs) for _, runs in flat], [sign for sign, _ in flat], resampling)
    delta = relation = doubt = chance = counts = None
    if len(parts) == 2:
        relation = _ratio(flat, common if by_seed else [], resampling)
        pairs = [(values_of(ours), values_of(theirs)) for ours, theirs in strata]
        delta = float(np.mean([cliffs_delta(*pair) for pair in pairs]))
        chance = 2 / math.prod(math.comb(len(ours) + len(theirs), len(ours)) for ours, theirs in pairs)
        if found.known and not found.without_spread:
            doubt = rank_p(pairs)
        if len(pairs) == 1:
            counts = len(pairs[0][0]), len(pairs[0][1])
    reference = float(np.mean([np.mean(values_of(stratum[-1])) for stratum in strata]))
    return Contrast(found, reference, relation, delta, doubt, chance, counts, by_seed, count)


def _ratio(flat: Sequence[tuple[float, Runs]], common: Sequence[int], resampling: Resampling) -> Interval | None:
    """Return the ratio of two sides' means, by seed if they share some.

    Its interval comes from the linearised logarithm (W. Cochran, "Sampling Techniques", 1977, chapter 6): it is the
    interval of a contrast of the values, each divided by the mean of its side.
    """
    groups = [
        [
            (abs(sign), [np.mean(runs[number]) for number in common] or values_of(runs))
            for sign, runs in flat
            if sign * side > 0
        ]
        for side in (1, -1)
    ]
    means = [float(sum(weight * np.mean(values) for weight, values in group)) for group in groups]
    if min(means) <= 0:
        return None
    shares = [(sign / means[sign < 0], runs) for sign, runs in flat]
    if common:
        of_seed = [sum(share * float(np.mean(runs[number])) for share, runs in shares) for number in common]
        found = interval([of_seed], [1.0], resampling, 1.0)
    else:
        found = interval([values_of(runs) for _, runs in shares], [share for share, _ in shares], resampling)
    ratio = means[0] / means[1]
    return _mapped(found, lambda end: ratio * math.exp(end - found.estimate))


def _mapped(found: Interval, scale: Callable[[float], float]) -> Interval:
    """Return an interval, transformed to another scale."""
    low, high = (None if end is None else scale(end) for end in (found.low, found.high))
    return replace(found, estimate=scale(found.estimate), low=low, high=high)


def _strata(groups: Sequence[Cells], parts: Sequence[Side]) -> list[list[Runs]]:
    """Return the runs of each side, for each combination of the other axes that all sides have."""
    found: list[dict[Levels, Runs]] = []
    for group, part in zip(groups, parts, strict=True):
        found.append({tuple(v for i, v in enumerate(key) if i not in part.at): runs for key, runs in group.items()})
    return [[side[rest] for side in found] for rest in found[0] if all(rest in side for side in found)]


def _pooled(group: Cells) -> Runs:
    result: dict[int, list[float]] = {}
    for runs in group.values():
        for number, values in runs.items():
            result.setdefault(number, []).extend(values)
    return result
