"""Whether a load is stalled on a substrate: the figure that a witness compares. It needs no package."""

from dataclasses import dataclass
from statistics import median
from typing import Literal

STALLED_S = 0.3  # a longer pause is one that people notice, as for wblab why --pauses
Word = Literal["stalled", "not stalled", "in some runs"]


@dataclass(frozen=True)
class Figure:
    """The longest pause of one load on one substrate, in s, over seeds; at least one."""

    values_s: tuple[float, ...]

    @property
    def median_s(self) -> float:
        """The median over seeds."""
        return median(self.values_s)

    @property
    def word(self) -> Word:
        """Whether the load is stalled: in all runs, in none, or in some."""
        stalled = [value > STALLED_S for value in self.values_s]
        return "stalled" if all(stalled) else "in some runs" if any(stalled) else "not stalled"
