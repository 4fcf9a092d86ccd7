"""Shares of a response's variance: what each factor accounts for, and what two do together beyond both.

A factor's share is S = (SSB - (k - 1) MSW) / SST, of sums of squares between its k levels and within them: the
first-order index of Sobol', Var(E(Y|X)) / Var(Y), without what chance puts between levels (T. Kelley, "An unbiased
correlation ratio measure", PNAS 21, 1935, where it is epsilon squared). It asks nothing of the levels' order. An
estimate may come out below 0. Of two factors, S is what their cells differ by beyond the sum of both, of a response
from which the main effects of all factors were taken: what those do is no noise then.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from wblab.data.discoveries import RATE, corrected, joint_confidence
from wblab.sensitivity.cells import Split, between_levels, beyond_both, incidence, residuals
from wblab.sensitivity.levels import joined
from wblab.sensitivity.observed import Codes, Factor, Values

_AT_ONCE = 1 << 19  # values of all rows, of as many samples as that gives
_LEAST_ROWS = 2  # for each level of all factors; with fewer, main effects leave nothing for pairs


@dataclass(frozen=True)
class Sampling:
    """How p values and intervals are made: how often chance is drawn, and how many samples of the rows."""

    permutations: int = 4999
    resamples: int = 400


DEFAULT = Sampling()


@dataclass(frozen=True)
class Effect:
    """What a factor, or two beyond both, account for: a share of the response's variance, 1 is all.

    low, high: its interval; NaN where there are too few rows for one. p: how often chance does as much; q: p, corrected
    for how many effects were looked at. chance: the share that chance exceeds one time in twenty.
    """

    factors: tuple[str, ...]
    share: float
    low: float
    high: float
    p: float
    q: float
    chance: float

    @property
    def found(self) -> bool:
        """Whether it is claimed that the response depends on this: chance seldom does as much, and 0 is not within."""
        return self.q <= RATE and self.low > 0


@dataclass(frozen=True)
class Variance:
    """The effects on one response: of each factor, in their order, and of each two of them.

    confidence: of each interval, so that those of what is claimed are right together. rows: how many there were.
    """

    mains: tuple[Effect, ...]
    pairs: tuple[Effect, ...]
    confidence: float
    rows: int


def variance(
    factors: Sequence[Factor],
    codes: Codes,
    values: Values,
    random: np.random.Generator,
    sampling: Sampling = DEFAULT,
) -> Variance:
    """Return what the values (rows,), all finite, depend on. codes: (rows, factors), indices of levels.

    p values: of a factor, the rows are put in random order. Of a pair, what main effects leave of each row has its sign
    drawn at random, so that rows of which the spread differs, as it does of the few that make a tail, are compared with
    their like (the wild bootstrap: R. Davidson and E. Flachaire, Journal of Econometrics 146, 2008).
    """
    plan = _plan(factors, codes, values)
    count = len(plan.names)
    if not len(values) or np.ptp(values) == 0:
        return _result(plan, np.full((5, count), np.nan))
    each = np.ones((len(values), 1))
    observed = _measure(plan, each, plan.values[:, None], plan.left[:, None])
    by_chance = [
        _measure(plan, each, plan.values[order], plan.left[:, None] * sign)
        for order, sign in _chance(random, len(values), sampling.permutations)
    ]
    f = np.concatenate([item.f for item in by_chance], axis=1)
    more = (f >= observed.f * (1 - 1e-9)).sum(axis=1)  # an order that changes nothing may differ by rounding
    p = np.where(np.isnan(observed.f[:, 0]), np.nan, (more + 1) / (sampling.permutations + 1))
    chance = np.quantile(np.concatenate([item.share for item in by_chance], axis=1), 1 - RATE, axis=1)
    samples = [
        _measure(plan, weights, plan.values[:, None], plan.left[:, None]).share
        for weights in _weights(random, len(values), sampling.resamples)
    ]
    shares = np.concatenate(samples, axis=1)
    told = ~np.isnan(shares).all(axis=0)  # not where all rows drawn have the same value, as of a rare one
    low, high = _ends(observed, shares[:, told].var(axis=1, ddof=1), len(values), joint_confidence(p))
    return _result(plan, np.array([observed.share[:, 0], low, high, p, chance]))


def _ends(observed: "_Measured", variances: Values, rows: int, confidence: float) -> tuple[Values, Values]:
    """Return the ends of the intervals of shares; variances: of the shares of samples of the rows with replacement.

    Percentiles of those will not do: chance between levels counts twice in them, so that of 24 levels and 1,024 rows
    their 95 % held a share of 2 % in 62 of 100 trials. A share's variance grows with the share S, as 2 k / rows + 4 S
    of k degrees of freedom (of a noncentral chi square), and that of samples is the one at what all rows show, chance
    included. The ends are those S at which the estimate lies as far off as the confidence allows, as in Wilson's
    interval of a share. In 95 to 97 of 100 such trials they held it. Where few values outweigh all others, any
    interval is too short: see the logarithm then.
    """
    quantile, own, ways = NormalDist().inv_cdf(0.5 + confidence / 2), observed.share[:, 0], observed.ways[:, 0]
    least = 2 * ways / rows
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = quantile**2 * variances / (least + 4 * observed.apparent[:, 0])
    arm = np.sqrt(np.maximum(4 * scale * own + 4 * scale**2 + scale * least, 0))
    return np.minimum(own + 2 * scale - arm, own), np.clip(own + 2 * scale + arm, own, 1)


@dataclass(frozen=True, eq=False)
class _Plan:
    """What does not change from sample to sample. names: of each effect. levels, cells: what adds rows up by them.

    factors, pairs: which rows of those are whose; shapes: of the cells of pairs. left: what main effects leave of the
    values. growth: by how much the fit of main effects has shrunk each effect; NaN where there are too few rows.
    """

    names: tuple[tuple[str, ...], ...]
    levels: csr_array
    factors: tuple[slice, ...]
    cells: csr_array
    pairs: tuple[slice, ...]
    shapes: tuple[tuple[int, int], ...]
    values: Values
    left: Values
    growth: Values


def _plan(factors: Sequence[Factor], codes: Codes, values: Values) -> _Plan:
    sizes = [len(factor.levels) for factor in factors]
    levels = incidence(list(codes.T), sizes, len(values))
    few = [joined(factor, column) for factor, column in zip(factors, codes.T, strict=True)]
    # The second of two is the smaller one: what has to be solved is of its size.
    pairs = [sorted(two, key=lambda one: -len(one[0].levels)) for two in combinations(few, 2)]
    shapes = [(len(one.levels), len(two.levels)) for (one, _), (two, _) in pairs]
    of_cells = [one * shape[1] + two for ((_, one), (_, two)), shape in zip(pairs, shapes, strict=True)]
    areas = [first * second for first, second in shapes]
    centred = values - values.mean() if len(values) else values
    left, rank = residuals(levels, centred)
    taken = np.array([0.0] * len(factors) + [rank + 1.0 - sum(shape) for shape in shapes])  # by other factors
    growth = len(values) / np.maximum(len(values) - taken, 1)
    growth[len(factors) :][len(values) < _LEAST_ROWS * rank] = np.nan
    return _Plan(
        names=(*((factor.name,) for factor in factors), *((a.name, b.name) for a, b in combinations(factors, 2))),
        levels=levels,
        factors=tuple(_slices(sizes)),
        cells=incidence(of_cells, areas, len(values)),
        pairs=tuple(_slices(areas)),
        shapes=tuple(shapes),
        values=centred,
        left=left,
        growth=growth,
    )


@dataclass(frozen=True, eq=False)
class _Measured:
    """Of each effect (rows) and sample: its share, that before chance was taken from it, F, and degrees of freedom."""

    share: Values
    apparent: Values
    f: Values
    ways: Values


def _measure(plan: _Plan, weights: Values, values: Values, left: Values) -> _Measured:
    """Measure samples: weights say how often each has each row, (rows, samples or 1), as do the values."""
    counts, sums = plan.levels @ weights, plan.levels @ (weights * values)
    total = (weights * values**2).sum(axis=0)
    mains = [between_levels(counts[of], sums[of], total) for of in plan.factors]
    counts, sums = plan.cells @ weights, plan.cells @ (weights * left)
    of_left = (weights * left**2).sum(axis=0)
    pairs = [
        beyond_both(counts[of].reshape(*shape, -1), sums[of].reshape(*shape, -1), of_left)
        for of, shape in zip(plan.pairs, plan.shapes, strict=True)
    ]
    found: list[Split] = [*mains, *pairs]
    samples = max(weights.shape[1], values.shape[1])
    whole = total - (weights * values).sum(axis=0) ** 2 / weights.sum(axis=0)
    with np.errstate(divide="ignore"):  # a sample in which all rows are alike has no variance to share
        scale = np.where(whole > 0, plan.growth[:, None] / whole, np.nan)
    excess, between, f, ways = (
        np.array([np.broadcast_to(getattr(split, name), samples) for split in found])
        for name in ("excess", "between", "f", "ways")
    )
    return _Measured(excess * scale, between * scale, np.where(np.isnan(scale), np.nan, f), ways)


def _result(plan: _Plan, figures: Values) -> Variance:
    """Return the effects; figures: of each its share, low, high, p and chance."""
    p = figures[3]
    rows = zip(plan.names, *figures[:4].tolist(), corrected(p).tolist(), figures[4].tolist(), strict=True)
    effects = [Effect(*row) for row in rows]
    count = len(plan.factors)
    return Variance(tuple(effects[:count]), tuple(effects[count:]), joint_confidence(p), len(plan.values))


def _slices(sizes: Sequence[int]) -> Iterator[slice]:
    ends = np.cumsum([0, *sizes])
    return (slice(int(start), int(end)) for start, end in pairwise(ends))


def _chance(random: np.random.Generator, rows: int, count: int) -> Iterator[tuple[NDArray[np.int64], Values]]:
    """Yield orders of the rows, and a sign for each, (rows, so many at once)."""
    for now in _parts(rows, count):
        orders = np.stack([random.permutation(rows) for _ in range(now)], axis=1)
        yield orders, random.choice(np.array([-1.0, 1.0]), size=(rows, now))


def _weights(random: np.random.Generator, rows: int, count: int) -> Iterator[Values]:
    """Yield how often each row is in a sample of as many rows, drawn with replacement, (rows, so many at once)."""
    for now in _parts(rows, count):
        drawn = [random.integers(rows, size=rows) for _ in range(now)]
        yield np.stack([np.bincount(of, minlength=rows) for of in drawn], axis=1).astype(np.float64)


def _parts(rows: int, count: int) -> Iterator[int]:
    """Yield how many of so many samples are measured at once."""
    size = max(1, _AT_ONCE // rows)
    return (min(size, count - begin) for begin in range(0, count, size))
