"""What differs in figures: the comparisons of all pairs, with one correction for all their tests."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from wblab.analysis.groups.comparison import About, Comparison, Difference, compare
from wblab.analysis.groups.observations import NOISY_COLUMN, observations
from wblab.analysis.statistics.intervals import Resampling
from wblab.lab.formats import COLUMNS
from wblab.report.comparisontext import is_complete, is_headline
from wblab.report.quantities import unit_of
from wblab.study.designs.ab.plan import Pair
from wblab.study.undecided import is_asked, is_decided

_AXIS = "compared"


@dataclass(frozen=True)
class ComparedFigure:
    """One figure before and after a step: a metric of a load in a spec. seeds: of the side with fewer."""

    pair: Pair
    difference: Difference
    seeds: int

    @property
    def about(self) -> About:
        """The load and the metric."""
        return self.difference.about

    @property
    def claim(self) -> int:
        """1 if the figure is claimed to be larger after the step, -1 if smaller, 0 if nothing is claimed."""
        return 0 if self.is_of_build else self.difference.claim

    @property
    def claimed(self) -> bool:
        """Whether a difference is claimed."""
        return self.claim != 0

    @property
    def gain(self) -> int:
        """1 if it is claimed to be better, -1 if worse, 0 if nothing is claimed or neither is better."""
        return self.difference.gain if self.claimed else 0

    @property
    def is_of_build(self) -> bool:
        """Whether they look different, but by no more than two builds of one kernel may differ."""
        return (self.difference.claim != 0 or is_complete(self.difference)) and self.difference.is_of_builds

    @property
    def is_open(self) -> bool:
        """Whether all runs of one side are above all of the other, but too few to exclude chance."""
        known = not self.difference.claim and self.difference.interval.known
        return known and is_complete(self.difference) and not self.is_of_build

    @property
    def before(self) -> float:
        """The mean before the step."""
        return self.difference.found.reference

    @property
    def after(self) -> float:
        """The mean after it."""
        return self.before + self.difference.interval.estimate

    @property
    def reach(self) -> float | None:
        """How large a measured difference would have been claimed, in the metric's unit; None without an interval."""
        found = self.difference.interval
        if found.low is None or found.high is None:
            return None
        return max(found.estimate - found.low, found.high - found.estimate)

    @property
    def share(self) -> float:
        """The difference as a share of the larger mean, from 0 to 1."""
        largest = max(abs(self.before), abs(self.after))
        return abs(self.difference.interval.estimate) / largest if largest else 0.0


@dataclass(frozen=True)
class ComparedFigures:
    """All figures, the largest differences first. whole: all comparisons as one, for its notes and its correction."""

    rows: tuple[ComparedFigure, ...]
    whole: Comparison | None

    @property
    def claimed(self) -> list[ComparedFigure]:
        """Those with a claimed difference."""
        return [row for row in self.rows if row.claimed]

    def of(self, number: int) -> "ComparedFigures":
        """Return the figures of one step."""
        return replace(self, rows=tuple(row for row in self.rows if row.pair.number == number))


def figures(table: pd.DataFrame, pairs: Sequence[Pair], resampling: Resampling) -> ComparedFigures:
    """Return the figures of all pairs that have runs. table: of the study's results."""
    found = []
    for pair in pairs:
        part = table[table["cell"].isin([pair.before.name, pair.after.name])]
        if part["cell"].nunique() == 2:
            columns = ["seed", *COLUMNS, *([NOISY_COLUMN] if NOISY_COLUMN in part.columns else [])]
            data = observations(part[columns].assign(**{_AXIS: part["cell"]}), baseline={_AXIS: pair.before.name})
            found.append((pair, compare(data, resampling).asked(is_headline)))
    if not found:
        return ComparedFigures((), None)
    doubts = tuple(p for _, comparison in found for p in comparison.doubts)
    rows = [row for pair, comparison in found for row in _rows(pair, replace(comparison, doubts=doubts))]
    return ComparedFigures(tuple(sorted(rows, key=_rank)), _whole([comparison for _, comparison in found], doubts))


def undecided(found: ComparedFigures) -> list[Pair]:
    """Return the pairs that need more seeds: a pause of an innocent load neither differs nor is shown to be equal."""
    pairs = (row.pair for row in found.rows if is_asked(row.about) and not is_decided(row.difference))
    return list({(pair.before.name, pair.after.name): pair for pair in pairs}.values())


def _rows(pair: Pair, comparison: Comparison) -> Iterable[ComparedFigure]:
    counts: dict[About, int] = {}
    for item in comparison.distributions:
        counts[item.about] = min(counts.get(item.about, len(item.values)), len(item.values))
    return (ComparedFigure(pair, item, counts[item.about]) for item in comparison.differences)


def _rank(row: ComparedFigure) -> tuple[bool, bool, bool, float]:
    """Order figures: claimed ones first, innocent loads first, then times by their difference, and others by share."""
    is_time = unit_of(row.about.metric) == "s"
    size = abs(row.difference.interval.estimate) if is_time else row.share
    return not row.claimed, row.about.sort.role != "innocent", not is_time, -size


def _whole(comparisons: Sequence[Comparison], doubts: tuple[float, ...]) -> Comparison:
    notes = dict.fromkeys(note for comparison in comparisons for note in comparison.notes)
    alone = tuple(item for comparison in comparisons for item in comparison.alone)
    return replace(comparisons[0], alone=alone, notes=tuple(notes), doubts=doubts)
