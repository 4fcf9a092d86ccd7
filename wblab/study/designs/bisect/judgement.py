"""Decide how many runs are enough, and whether a commit is good or bad.

Values are looked at after 3, 5, 8, 13 … seeds, until an interval excludes zero. Each look is one more chance to decide
wrongly. The looks therefore share the error (Bonferroni), and their joint confidence is 95 %.

- Two commits differ when the interval of the difference of their means excludes zero.
- A commit is good or bad by which end's mean is nearer: its mean is compared with the midpoint of the ends' means. The
  decision is made when the interval of mean - (good + bad) / 2 excludes zero. That interval includes the uncertainty of
  the ends.
"""

from collections.abc import Sequence
from typing import Literal

from wblab.analysis.statistics.decision import for_looks
from wblab.analysis.statistics.intervals import Interval, interval

Side = Literal["good", "bad"]
Values = Sequence[float]


def difference(good: Values, bad: Values, plan: Sequence[int]) -> Interval:
    """Return mean(bad) - mean(good), in the unit of the values."""
    return interval([bad, good], [1.0, -1.0], for_looks(len(plan)))


def side(values: Values, good: Values, bad: Values, plan: Sequence[int]) -> Side | None:
    """Return whether a commit's values are good or bad; None if more values are needed."""
    bad_is_higher = difference(good, bad, plan).estimate > 0
    claim = interval([values, good, bad], [1.0, -0.5, -0.5], for_looks(len(plan))).claim
    if not claim:
        return None
    return "bad" if (claim > 0) == bad_is_higher else "good"
