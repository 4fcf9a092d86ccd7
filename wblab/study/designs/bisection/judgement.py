"""How many runs are enough, and on which side of a bisection a commit is.

Values are looked at after 3, 5, 8, 13 … seeds, until an interval excludes zero. Each look is one more chance to be
wrong, so that the looks share the error between them (Bonferroni): all together they have a confidence of 95 %.

- Two commits differ when the interval of the difference of their means excludes zero.
- A commit is on the side of the end, good or bad, on which its mean lies of the point half way between the ends'
  means. It is known when the interval of the distance to that point, mean - (good + bad) / 2, excludes zero; what is
  uncertain about the ends is part of that interval.
"""

from collections.abc import Sequence
from typing import Literal

from wblab.analysis.statistics.intervals import LEAST_RUNS, Interval, Resampling, interval

Side = Literal["good", "bad"]
Values = Sequence[float]

_ERROR = 0.05  # of all looks together


def looks(most: int) -> tuple[int, ...]:
    """Return after how many seeds to look: 3, 5, 8, 13 …, and at last after `most`, which is at least 3."""
    found, following = [LEAST_RUNS], 5
    while found[-1] < most:
        found.append(min(following, most))
        following = sum(found[-2:])
    return tuple(found)


def resampling(plan: Sequence[int]) -> Resampling:
    """Return how the intervals of such looks are made."""
    return Resampling(confidence=1 - _ERROR / len(plan))


def difference(good: Values, bad: Values, plan: Sequence[int]) -> Interval:
    """Return mean(bad) - mean(good), in the unit of the values."""
    return interval([bad, good], [1.0, -1.0], resampling(plan))


def side(values: Values, good: Values, bad: Values, plan: Sequence[int]) -> Side | None:
    """Return the side on which a commit's values are; None where they do not tell yet."""
    up = difference(good, bad, plan).estimate > 0
    claim = interval([values, good, bad], [1.0, -0.5, -0.5], resampling(plan)).claim
    if not claim:
        return None
    return "bad" if (claim > 0) == up else "good"
