"""Factor mapping: which levels are more frequent in the worst tenth of the runs, and which are less frequent.

The method follows J. He and others, "Reducing File System Tail Latencies with Chopper" (FAST 2015). A. Saltelli and
others, "Global Sensitivity Analysis: The Primer" (2008), chapter 5, call it Monte Carlo filtering. The best tenth is
mapped in the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, fisher_exact

from wblab.analysis.sensitivity.observed import Codes, Factor, Values, joined
from wblab.analysis.statistics.contrasts import corrected
from wblab.analysis.statistics.intervals import RATE, wilson

Marks = NDArray[np.bool_]

TENTH = 0.1
_MOST_TAIL = 0.5  # of the rows; a larger share is not a tail
CONFIDENCE = 0.95
_NEAR = 0.9  # Chopper: a cell has a tail if its worst row reaches this share of the threshold


@dataclass(frozen=True)
class LevelTail:
    """The share of a level's rows in the tail. low, high: an interval of the share (Wilson).

    q: the p value of its difference from the other levels' share, corrected for the number of factors and levels
    tested. leads: 1 if the level is more frequent in the tail, -1 if it is less frequent, 0 if neither is shown.
    """

    factor: str
    level: str
    rows: int
    inside: int
    low: float
    high: float
    q: float
    leads: int

    @property
    def share(self) -> float:
        """The share of the level's rows that lie in the tail."""
        return self.inside / self.rows


@dataclass(frozen=True)
class Beyond:
    """The number of rows above a limit. low, high: a 95 % interval of the share (Wilson)."""

    name: str
    bound: float
    rows: int
    inside: int
    low: float
    high: float


@dataclass(frozen=True)
class TailMap:
    """The tail of a response. threshold: where it begins, in the response's unit; rows: all; inside: rows in the tail.

    confidence: of each interval, corrected for the number of levels reported.
    """

    threshold: float
    rows: int
    inside: int
    levels: tuple[LevelTail, ...]
    confidence: float

    @property
    def share(self) -> float:
        """The share of all rows that lie in the tail: a tenth, or more if many rows have the same value."""
        return self.inside / self.rows


@dataclass(frozen=True)
class PairMap:
    """The tail by the levels of two factors, neighbours joined: lists of rows (first) and columns (second).

    rows: of each cell; inside: those in the tail; reached: whether a cell's worst row is near the threshold.
    """

    factors: tuple[str, str]
    first: tuple[str, ...]
    second: tuple[str, ...]
    rows: tuple[tuple[int, ...], ...]
    inside: tuple[tuple[int, ...], ...]
    reached: tuple[tuple[bool, ...], ...]


def in_tail(values: Values, more_is_better: bool, share: float = TENTH) -> tuple[float, Marks]:
    """Return the threshold of the worst share of values, and a mask of the values in it.

    Values at the threshold are included, unless the tail would then have most rows. If all values are equal, it is
    empty.
    """
    threshold = float(np.quantile(values, share if more_is_better else 1 - share))
    marks = values <= threshold if more_is_better else values >= threshold
    if marks.mean() > _MOST_TAIL:
        marks = values < threshold if more_is_better else values > threshold
    return threshold, marks


def tail_map(factors: Sequence[Factor], codes: Codes, values: Values, more_is_better: bool = False) -> TailMap | None:
    """Return how frequent each level is in the worst tenth of the values; None if there is no such tenth.

    codes: (rows, factors); values: (rows,), finite. For the best tenth, invert more_is_better.
    """
    if not len(values):
        return None
    threshold, marks = in_tail(values, more_is_better)
    total, inside = len(values), int(marks.sum())
    if not inside:
        return None
    counted = [
        (factor.name, level, int(own.sum()), int((own & marks).sum()))
        for factor, column in zip(factors, codes.T, strict=True)
        for place, level in enumerate(factor.levels)
        if (own := column == place).any()
    ]
    q = _corrected(counted, total, inside)
    confidence = 1 - RATE * max(1, int((q <= RATE).sum())) / len(q)
    lows, highs = wilson([hits for *_, hits in counted], [rows for *_, rows, _ in counted], confidence)
    levels = [
        LevelTail(
            *row, low=float(low), high=float(high), q=float(doubt),
            leads=int(np.sign(row[3] * total - inside * row[2])) if doubt <= RATE else 0,
        )
        for row, low, high, doubt in zip(counted, lows, highs, q, strict=True)
    ]  # fmt: skip
    return TailMap(threshold, total, inside, tuple(levels), confidence)


def pair_map(
    one: tuple[Factor, Codes], two: tuple[Factor, Codes], values: Values, more_is_better: bool = False
) -> PairMap:
    """Return the tail of the values by the levels of two factors, each with its codes (rows,)."""
    (first, of_first), (second, of_second) = joined(*one), joined(*two)
    threshold, marks = in_tail(values, more_is_better)
    reach = values <= threshold / _NEAR if more_is_better else values >= threshold * _NEAR
    shape = len(first.levels), len(second.levels)

    def count(chosen: Marks) -> NDArray[np.int64]:
        table = np.zeros(shape, np.int64)
        np.add.at(table, (of_first[chosen], of_second[chosen]), 1)
        return table

    everywhere = np.ones(len(values), np.bool_)
    rows, inside, reached = (count(chosen).tolist() for chosen in (everywhere, marks, reach))
    return PairMap(
        (first.name, second.name),
        first.levels,
        second.levels,
        tuple(map(tuple, rows)),
        tuple(map(tuple, inside)),
        tuple(tuple(number > 0 for number in row) for row in reached),
    )


def _corrected(counted: Sequence[tuple[str, str, int, int]], total: int, inside: int) -> Values:
    """Return p values of levels (factor, level, rows, rows in the tail), corrected.

    First the factors are tested; then the levels of the factors found, at a correspondingly lower rate (Y. Benjamini
    and M. Bogomolov, "Selective inference on multiple families of hypotheses", Journal of the Royal Statistical Society
    B 76, 2014). Thus many clear levels of one factor do not help the levels of a factor without an effect.
    """
    of_factor: dict[str, list[tuple[int, int]]] = {}
    for factor, _, rows, hits in counted:
        of_factor.setdefault(factor, []).append((rows, hits))
    p = [
        chi2_contingency([[hits, rows - hits] for rows, hits in levels], correction=False).pvalue
        if len(levels) > 1 and inside < total
        else np.nan
        for levels in of_factor.values()
    ]
    factors = corrected(p)
    rate = (factors <= RATE).sum() / max(1, (~np.isnan(factors)).sum())
    found = []
    for levels, doubt in zip(of_factor.values(), factors, strict=True):
        if np.isnan(doubt) or not rate:
            found += [doubt] * len(levels)
            continue
        own = [
            fisher_exact([[hits, rows - hits], [inside - hits, total - rows - inside + hits]]).pvalue
            for rows, hits in levels
        ]
        found += np.minimum(1, np.maximum(doubt, corrected(own) / rate)).tolist()
    return np.array(found, np.float64)


def beyond(values: Values, name: str, bound: float) -> Beyond:
    """Return the number of values above a limit; there is at least one value."""
    inside = int((values > bound).sum())
    low, high = wilson(inside, len(values), CONFIDENCE)
    return Beyond(name, bound, len(values), inside, float(low), float(high))
