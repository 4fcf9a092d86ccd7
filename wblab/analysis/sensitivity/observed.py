"""The observations of an exploration: each run's levels and measured responses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Values = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Factor:
    """A factor that was varied. levels: their labels in order; for a range, the labels of its bins ("1–2 MiB").

    ordered: its levels lie on a scale. is_dummy: it has no effect on a run, and so shows the effect of chance.
    """

    name: str
    levels: tuple[str, ...]
    ordered: bool
    is_dummy: bool = False


@dataclass(frozen=True, eq=False)
class Response:
    """One measured quantity. unit: s, bytes, bytes/s, or empty. values: by row; NaN if the run failed.

    log: always show its logarithm. above: limits by name; the analysis counts the rows above each.
    """

    name: str
    unit: str
    values: Values
    more_is_better: bool = False
    log: bool = False
    above: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Observed:
    """The rows of an exploration, each one run.

    u: (rows, factors), in [0, 1), the sample from which the levels were drawn. codes: (rows, factors), the index of the
    row's level. responses: by name. Raises ValueError if the shapes do not match.
    """

    factors: tuple[Factor, ...]
    u: Values
    codes: Codes
    responses: Mapping[str, Response]

    def __post_init__(self) -> None:
        shape = self.codes.shape
        if len(shape) != 2 or shape[1] != len(self.factors) or self.u.shape != shape:
            raise ValueError(f"{len(self.factors)} factors, u of {self.u.shape} and codes of {shape} do not fit")
        if not np.issubdtype(self.codes.dtype, np.integer):
            raise ValueError("codes must be integers: they are indices of levels")
        if len({factor.name for factor in self.factors}) != len(self.factors):
            raise ValueError("two factors have the same name")
        if ((self.u < 0) | (self.u >= 1)).any() or np.isnan(self.u).any():
            raise ValueError("u is not in [0, 1)")
        for factor, column in zip(self.factors, self.codes.T, strict=True):
            if len(column) and not 0 <= column.min() <= column.max() < len(factor.levels):
                raise ValueError(f"{factor.name}: a code is outside its {len(factor.levels)} levels")
        for name, response in self.responses.items():
            if response.values.shape != shape[:1]:
                raise ValueError(f"{name}: {response.values.shape} values of {shape[0]} rows")


# Join neighbouring levels, so that each cell of two factors has enough rows.

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


# Sums of squares of many samples at once, from the count and sum of rows by level, or by cell of a pair.
#
# They belong to an analysis of variance with unequal cells. Samples are the last axis of every array.

_RIDGE = 1e-9  # as a share of the rows: empty levels, and the common mean of both factors, make systems singular


@dataclass(frozen=True, eq=False)
class Split:
    """Sums of squares of samples, and their degrees of freedom.

    within, freedom: of rows around the means of their levels or cells. between, ways: of the effect, that is, of levels
    around the mean, or of cells around the sum of both factors.
    """

    between: Values
    ways: Values
    within: Values
    freedom: Values

    @property
    def excess(self) -> Values:
        """The sum of squares between, minus its expectation by chance; NaN with too few rows."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found: Values = np.where(self.freedom > 0, self.between - self.ways * self.within / self.freedom, np.nan)
        return found

    @property
    def f(self) -> Values:
        """The statistic F; infinite if nothing is left within, NaN with too few rows."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found = self.between / self.ways / (self.within / self.freedom)
        known: Values = np.where((self.freedom > 0) & (self.ways > 0), found, np.nan)
        return known


def incidence(codes: Sequence[Codes], sizes: Sequence[int], rows: int) -> csr_array:
    """Return the matrix that adds rows up by level: (levels of all columns, rows), 1 where a row has the level."""
    starts = np.cumsum([0, *sizes])
    shifted = [column + start for column, start in zip(codes, starts, strict=False)]
    places = np.concatenate([np.empty(0, np.int64), *shifted])
    ones = np.ones(len(places))
    return csr_array((ones, (places, np.tile(np.arange(rows), len(codes)))), shape=(sum(sizes), rows))


def between_levels(counts: Values, sums: Values, total: Values) -> Split:
    """Return the split between levels. counts, sums: (levels, samples). total: the sum of squares about 0."""
    rows, added = counts.sum(axis=0), sums.sum(axis=0)
    mean = added**2 / rows
    means = _squares(sums, counts).sum(axis=0)
    present = (counts > 0).sum(axis=0)
    return Split(means - mean, present - 1.0, total - means, rows - present)


def beyond_both(counts: Values, sums: Values, total: Values) -> Split:
    """Return the split of cells around the sum of both factors. counts, sums: (levels, levels, samples).

    The sum of both is fitted by least squares over all rows, so cells may have any number of rows. The first factor is
    eliminated, which leaves a system of the second factor's size (H. Scheffé, "The Analysis of Variance",
    1959, section 4.4).
    """
    of_first, of_second = counts.sum(axis=1), counts.sum(axis=0)
    sum_first, sum_second = sums.sum(axis=1), sums.sum(axis=0)
    rows = of_first.sum(axis=0)
    shares = np.divide(counts, of_first[:, None], out=np.zeros(np.broadcast_shapes(counts.shape)), where=counts > 0)
    system = -np.einsum("ijs,iks->sjk", shares, counts)
    size = system.shape[1]
    system[:, range(size), range(size)] += of_second.T + _RIDGE * rows[:, None]
    rest = sum_second - (shares * sum_first[:, None]).sum(axis=0)
    if len(system) == 1:  # all samples have the same cells
        second = (rest * np.linalg.solve(system[0], rest)).sum(axis=0)
    else:
        second = (rest * np.linalg.solve(system, rest.T[..., None])[..., 0].T).sum(axis=0)
    additive = _squares(sum_first, of_first).sum(axis=0) + second
    cells = _squares(sums, counts).sum(axis=(0, 1))
    present = (counts > 0).sum(axis=(0, 1))
    ways = present - (of_first > 0).sum(axis=0) - (of_second > 0).sum(axis=0) + 1.0
    return Split(cells - additive, ways, total - cells, rows - present)


def residuals(levels: csr_array, values: Values) -> tuple[Values, int]:
    """Return the residuals of the main effects of all factors, and the rank of their fit."""
    gram: NDArray[np.float64] = (levels @ levels.T).toarray()
    addends, _, rank, _ = np.linalg.lstsq(gram, levels @ values, rcond=_RIDGE)
    return values - levels.T @ addends, int(rank)


def _squares(sums: Values, counts: Values) -> Values:
    """Return sum²/count, or 0 for empty levels; counts of one sample are used for all."""
    out = np.zeros(np.broadcast_shapes(sums.shape, counts.shape))
    return np.divide(sums**2, counts, out=out, where=np.broadcast_to(counts > 0, out.shape))
