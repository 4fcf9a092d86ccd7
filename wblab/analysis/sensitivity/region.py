"""The best region: the levels that together keep a response low, and their cost in other responses."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wblab.analysis.sensitivity.observed import Factor, Observed, Response, Values, joined
from wblab.analysis.sensitivity.tail import CONFIDENCE, in_tail
from wblab.analysis.statistics.intervals import wilson

Marks = NDArray[np.bool_]

_MOST_CONDITIONS = 4
_LEAST_ROWS = 20  # in the half that chooses; with fewer, P90 is the second worst value
_LEAST_GAIN = 0.1  # of P90: a condition must gain at least this


@dataclass(frozen=True)
class Condition:
    """A factor restricted to some of its levels."""

    factor: str
    levels: tuple[str, ...]


@dataclass(frozen=True)
class ResponseSpread:
    """A response over some rows, in its unit: the median, the start of the worst tenth, and the worst value."""

    response: str
    median: float
    p90: float
    worst: float


@dataclass(frozen=True)
class BestRegion:
    """The region in which a response is best. conditions: all of them hold; the strongest first.

    One half of the rows chooses the region, the other half tests it. chosen_rows: the rows of the first half inside.
    rows, total: the rows of the second half inside, and all of that half. inside, everywhere: the response and then its
    costs, over those rows. tail: the number of rows inside that are in the worst tenth; tail_low, tail_high: the 95 %
    interval of their share.
    """

    conditions: tuple[Condition, ...]
    chosen_rows: int
    rows: int
    total: int
    inside: tuple[ResponseSpread, ...]
    everywhere: tuple[ResponseSpread, ...]
    tail: int
    tail_low: float
    tail_high: float


def best_region(
    observed: Observed, response: Response, costs: Sequence[Response], random: np.random.Generator
) -> BestRegion | None:
    """Return the region with the best P90 of a response; None if none improves it, or with too few rows.

    The search is greedy: each step adds the condition with the best P90 (after J. Friedman and N. Fisher, "Bump hunting
    in high-dimensional data", Statistics and Computing 9, 1999). A region looks better than it is on the rows that
    chose it. Therefore one half of the rows, drawn at random, chooses it, and the other half tests it.
    """
    known = np.isfinite(response.values)
    for cost in costs:
        known &= np.isfinite(cost.values)
    places = random.permutation(np.flatnonzero(known))
    choosing, judging = places[: len(places) // 2], places[len(places) // 2 :]
    if len(choosing) < 2 * _LEAST_ROWS:
        return None
    chosen = _chosen(observed, response, choosing)
    if not chosen:
        return None
    marks = np.logical_and.reduce([within for _, within in chosen])
    inside = judging[marks[judging]]
    if not len(inside):
        return None
    hits = int(in_tail(response.values[judging], response.more_is_better)[1][marks[judging]].sum())
    low, high = wilson(hits, len(inside), CONFIDENCE)
    return BestRegion(
        conditions=tuple(_condition(observed, place, within) for place, within in chosen),
        chosen_rows=int(marks[choosing].sum()),
        rows=len(inside),
        total=len(judging),
        inside=tuple(_spread(of, inside) for of in (response, *costs)),
        everywhere=tuple(_spread(of, judging) for of in (response, *costs)),
        tail=hits,
        tail_low=float(low),
        tail_high=float(high),
    )


def front(one: Response, two: Response) -> NDArray[np.int64]:
    """Return the rows that no other beats in both responses (Pareto front), ordered by the first response."""
    costs = [-of.values if of.more_is_better else of.values for of in (one, two)]
    known = np.flatnonzero(np.isfinite(costs[0]) & np.isfinite(costs[1]))
    order = known[np.lexsort((costs[1][known], costs[0][known]))]
    least = np.minimum.accumulate(np.append(np.inf, costs[1][order]))
    best: NDArray[np.int64] = order[costs[1][order] < least[:-1]]
    return best


def _chosen(observed: Observed, response: Response, rows: NDArray[np.int64]) -> list[tuple[int, Marks]]:
    """Return the conditions that these rows choose: the index of a factor, and a mask of all rows that meet it."""
    candidates = [
        (place, np.isin(codes, levels))
        for place, factor in enumerate(observed.factors)
        if not factor.is_dummy
        for few, codes in [joined(factor, observed.codes[:, place])]
        for levels in _choices(few)
    ]
    found: list[tuple[int, Marks]] = []
    worst = _p90(response, rows)
    while len(found) < _MOST_CONDITIONS:
        used = {place for place, _ in found}
        choices = [
            (_p90(response, kept), -len(kept), number)
            for number, (place, within) in enumerate(candidates)
            if place not in used and len(kept := rows[within[rows]]) >= _LEAST_ROWS
        ]
        if not choices:
            break
        p90, _, number = min(choices)
        if worst - p90 <= _LEAST_GAIN * abs(worst):
            break
        found.append(candidates[number])
        worst, rows = p90, rows[candidates[number][1][rows]]
    return found


def _condition(observed: Observed, place: int, within: Marks) -> Condition:
    """Return a condition in terms of the factor's original levels, before neighbours were joined."""
    factor = observed.factors[place]
    levels = np.unique(observed.codes[within, place]).tolist()
    return Condition(factor.name, tuple(factor.levels[level] for level in levels))


def _choices(factor: Factor) -> Iterator[tuple[int, ...]]:
    """Yield the allowed restrictions of a factor: one level; on a scale, all levels up to or from one."""
    count = len(factor.levels)
    if not factor.ordered:
        yield from ((level,) for level in range(count))
        return
    for level in range(1, count):
        yield tuple(range(level))
        yield tuple(range(level, count))


def _p90(response: Response, rows: NDArray[np.int64]) -> float:
    """Return the start of the worst tenth, negated if more is better."""
    values: Values = -response.values[rows] if response.more_is_better else response.values[rows]
    return float(np.quantile(values, 0.9))


def _spread(response: Response, rows: NDArray[np.int64]) -> ResponseSpread:
    values, sign = response.values[rows], -1 if response.more_is_better else 1
    p90 = sign * float(np.quantile(sign * values, 0.9))
    return ResponseSpread(response.name, float(np.median(values)), p90, float((sign * values).max() * sign))
