"""The one judge: whether a figure lies in a stated range, by its interval over seeds or by the seeds in which it does.

All that the lab states of runs is decided here: claims, recommendations, findings, models of machines.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wblab.analysis.statistics.intervals import DEFAULT, LEAST_RUNS, RATE, Interval, Resampling, interval, wilson

# Looks at values while they are gathered: more seeds only until they decide.
#
# Each look is one more chance to decide wrongly. The looks therefore share the error (Bonferroni).


def looks(most: int) -> tuple[int, ...]:
    """Return the numbers of seeds after which to look: 3, 5, 8, 13 …, and finally `most`, which is at least 3."""
    found, following = [LEAST_RUNS], 5
    while found[-1] < most:
        found.append(min(following, most))
        following = sum(found[-2:])
    return tuple(found)


def for_looks(count: int, alone: Resampling = DEFAULT) -> Resampling:
    """Return the resampling whose confidence is corrected for `count` looks."""
    return replace(alone, confidence=1 - (1 - alone.confidence) / count)


# The outcomes of checking a claim, a recommendation or a model of a machine: one set of words for all of them.

Outcome = Literal["reproduced", "not reproduced", "harms", "not decided", "not testable"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
REPRODUCED: Outcome = "reproduced"
NOT_REPRODUCED: Outcome = "not reproduced"
HARMS: Outcome = "harms"  # a recommendation that makes something worse
NOT_DECIDED: Outcome = "not decided"  # more seeds may decide it
NOT_TESTABLE: Outcome = "not testable"


LEAST = 0.001  # on a logarithmic scale a smaller figure counts as this: 1 ms, a thousandth
HALF = 0.5  # "most runs" means more than this share


@dataclass(frozen=True)
class Range:
    """The range in which a figure must lie: from low to high, both included."""

    low: float = -math.inf
    high: float = math.inf

    def __contains__(self, value: float) -> bool:
        """Whether a figure lies in the range; NaN never does."""
        return self.low <= value <= self.high


def over(least: float) -> Range:
    """Return the range of all figures above one."""
    return Range(low=math.nextafter(least, math.inf))


def under(most: float) -> Range:
    """Return the range of all figures below one."""
    return Range(high=math.nextafter(most, -math.inf))


def at_least(least: float) -> Range:
    """Return the range of one figure and all above it."""
    return Range(low=least)


def at_most(most: float) -> Range:
    """Return the range of one figure and all below it."""
    return Range(high=most)


def between(low: float, high: float) -> Range:
    """Return the range from one figure to another."""
    return Range(low, high)


@dataclass(frozen=True)
class Decision:
    """The decision whether a figure lies in a range. interval: of the figure, or of the share of seeds, at 95 %.

    p: the smallest 1 - confidence at which the interval includes neither end of the range; None with too few seeds.
    held: the number of seeds whose own value lies in the range, of `seeds`. never: a single one outside refutes it.
    """

    interval: Interval
    is_inside: bool
    p: float | None
    held: int
    seeds: int
    never: bool = False

    @property
    def is_refuted(self) -> bool:
        """Whether a run refutes it, since that run can be repeated."""
        return self.never and self.held < self.seeds

    def outcome(self, q: float | None = None) -> Outcome:
        """Return the outcome. q: p, corrected for the number of decisions made together; by default p itself."""
        if self.is_refuted:
            return NOT_REPRODUCED
        doubt = self.p if q is None else q
        if doubt is None or doubt > RATE:
            return NOT_DECIDED
        return REPRODUCED if self.is_inside else NOT_REPRODUCED


def located(values: Sequence[float], wanted: Range, *, is_log: bool, never: bool = False) -> Decision:
    """Decide whether the mean of at least one finite value lies in a range; see `scaled` for is_log.

    never: the range is one that no single value ever leaves.
    """
    held = sum(value in wanted for value in values)
    figures, low, high = (scaled(each, is_log=is_log) for each in (values, wanted.low, wanted.high))
    found = interval([figures], [1.0], scale=1.0)
    if found.without_spread:  # compared unscaled, because the scale rounds the ends
        is_below, is_above = values[0] < wanted.low, values[0] > wanted.high
    else:
        is_below, is_above = bool(found.estimate < low), bool(found.estimate > high)
    ends = [low] if is_below else [high] if is_above else [low, high]
    p = max((doubt(figures, float(end)) for end in ends if math.isfinite(end)), default=0.0)
    is_inside, p_known = not (is_below or is_above), p if found.known else None
    return Decision(unscaled(found, is_log=is_log), is_inside, p_known, held, len(values), never)


def shared(held: int, seeds: int) -> Decision:
    """Decide whether something holds in most runs. held: the number of seeds that show it, of one or more.

    The interval is Wilson's; p is that of the score test against HALF.
    """
    low, high = wilson(held, seeds, DEFAULT.confidence)
    z = (held / seeds - HALF) / math.sqrt(HALF * (1 - HALF) / seeds)
    share = Interval(held / seeds, float(low), float(high), seeds)
    return Decision(share, held / seeds > HALF, math.erfc(abs(z) / math.sqrt(2)), held, seeds)


def placed(low: float, high: float, wanted: Range) -> Outcome:
    """Return whether an interval lies in a range (equivalence), outside of it, or over one of its ends: undecided."""
    if low in wanted and high in wanted:
        return REPRODUCED
    return NOT_REPRODUCED if low > wanted.high or high < wanted.low else NOT_DECIDED


def doubt(values: ArrayLike, threshold: float) -> float:
    """Return the p value of a threshold: the smallest 1 - confidence at which the interval of the mean excludes it.

    It is 0 if all values are equal, and 1 with too few values for an interval.
    """
    found = interval([np.asarray(values, np.float64) - threshold], [1.0], scale=1.0)
    p = found.p(DEFAULT.confidence)
    return p if p is not None else 0.0 if found.known else 1.0


def scaled(values: ArrayLike, *, is_log: bool) -> NDArray[np.float64]:
    """Return figures on the scale on which they are compared.

    is_log: take logarithms, for figures that are never negative, such as times and ratios. Their mean is then the
    geometric mean, and no interval reaches below 0. A figure below LEAST counts as LEAST; -inf, an open end, is kept.
    """
    found = np.asarray(values, np.float64)
    return np.where(np.isneginf(found), found, np.log(np.maximum(found, LEAST))) if is_log else found


def unscaled(found: Interval, *, is_log: bool) -> Interval:
    """Return an interval on the original scale of the figures."""
    if not is_log:
        return found
    low, high = (None if end is None else math.exp(end) for end in (found.low, found.high))
    return Interval(math.exp(found.estimate), low, high, found.runs)
