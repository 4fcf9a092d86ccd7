"""A comparison of groups of runs: for each load and metric the distributions, differences, intervals and effect sizes.

With several axes the experiment is factorial. The effect of a level is its difference from the axis's first level,
averaged over all combinations of the other axes in which both occur, so that the other axes do not confound it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any, Literal

import numpy as np

from wblab.analysis.groups.observations import Observations
from wblab.analysis.runs.metrics import METRICS, MORE_IS_BETTER, OF_BUILDS_SHARE, TICK_S, UNPLUG
from wblab.analysis.statistics.contrasts import (
    Cells,
    Contrast,
    Levels,
    Side,
    contrast,
    joint_confidence,
    sides,
    values_of,
)
from wblab.analysis.statistics.intervals import DEFAULT, LEAST_RESAMPLED, LEAST_RUNS, Interval, Resampling
from wblab.core.errors import InputError, nearest
from wblab.core.loads import KINDS, Load, Role
from wblab.lab.formats import COMPARISON

RESOLUTION_S = 1e-6  # the virtual clock advances by 256 ns at each reading
_OF_TICK = 0.01  # of a tick, by which a difference of one tick may miss it
TOO_FEW = "without an interval"  # words of notes

Sort = Literal["group", "effect", "interaction"]
_MOST_NAMED = 8  # in a note
_WITH = " × "  # between the changes of an interaction
_RANKS: dict[Role, int] = {"innocent": 0, "offender": 1, "control": 2}  # most interesting first


@dataclass(frozen=True)
class About:
    """What a value measures: a metric of a load of some kind."""

    load: str
    kind: str
    metric: str

    @property
    def sort(self) -> type[Load]:
        """The class of the load's kind; for an unknown kind, the base class."""
        return KINDS.get(self.kind, Load)


@dataclass(frozen=True)
class GroupValues:
    """The values of one group, one for each run, in the unit of the metric, and their mean with its interval."""

    about: About
    group: str
    values: tuple[float, ...]
    mean: Interval

    @property
    def median(self) -> float:
        """The median."""
        return float(np.median(self.values))


@dataclass(frozen=True)
class Difference:
    """The difference due to the change `name`, in the unit of the metric.

    sort: a group against the first; the effect of a level against the axis's first level; or an interaction, the change
    of one axis's effect with another's level. confidence: of the interval and of the test of ranks.
    """

    about: About
    sort: Sort
    name: str
    axes: tuple[str, ...]
    found: Contrast
    confidence: float

    @property
    def interval(self) -> Interval:
        """The difference and its confidence interval."""
        return self.found.interval

    @property
    def changes(self) -> list[str]:
        """The names of the changes that an interaction is of; the name of any other difference."""
        return self.name.split(_WITH) if self.sort == "interaction" else [self.name]

    @property
    def relative(self) -> float | None:
        """The difference as a share of the baseline's mean; None where that is 0."""
        return self.interval.estimate / self.found.reference if self.found.reference else None

    @property
    def is_below_resolution(self) -> bool:
        """Whether times differ by less than the clock resolves."""
        return self.about.metric.endswith("_s") and 0 < abs(self.interval.estimate) < RESOLUTION_S

    @property
    def is_of_builds(self) -> bool:
        """Whether two builds of one kernel may differ by as much: by a small share, or by one tick of the clock."""
        small = self.relative is not None and abs(self.relative) < OF_BUILDS_SHARE
        return small or self._is_one_tick

    @property
    def _is_one_tick(self) -> bool:
        """Whether times differ by one tick with every seed; or at most by one, where ticks decide when a thing ends."""
        found = self.interval
        if self.about.metric == UNPLUG:
            return abs(found.estimate) < TICK_S * (1 + _OF_TICK)
        return self.about.metric.endswith("_s") and all(
            end is not None and abs(abs(end) - TICK_S) < _OF_TICK * TICK_S for end in (found.low, found.high)
        )

    @property
    def is_of_few(self) -> bool:
        """Whether there are so few runs that chance alone can give any difference between them.

        An interval from 3 or 4 values trusts that they are normally distributed. Pauses often are not: they are short
        or long, and nothing in between. Then 3 short ones against 3 long ones look certain.
        """
        return self.interval.known and self.interval.runs < LEAST_RESAMPLED and _chance(self) > 1 - self.confidence

    @property
    def is_by_ranks(self) -> bool:
        """Whether the ranks of the values alone show the difference: the interval of the means includes zero."""
        p = self.found.rank_p
        is_shown = p is not None and p <= 1 - self.confidence and not self.is_of_few
        return is_shown and not self.interval.claim and not self.is_below_resolution

    @property
    def claim(self) -> int:
        """The sign of the claimed difference, 1 or -1; 0 if none is claimed.

        It is claimed if the interval of the means excludes zero, or if an exact test of ranks permits it, and if there
        are not too few runs.
        """
        if self.is_by_ranks:
            return 1 if (self.found.delta or 0) > 0 else -1
        return 0 if self.is_below_resolution or self.is_of_few else self.interval.claim

    @property
    def gain(self) -> int:
        """1 for better, -1 for worse, 0 if nothing is claimed and for interactions."""
        if self.sort == "interaction":
            return 0
        return self.claim * (1 if self.about.metric in MORE_IS_BETTER else -1)


@dataclass(frozen=True)
class Comparison:
    """All differences between groups of runs: for each load the tails first, the means last.

    axes: the compared axes, with their levels. groups: their names; the first is the baseline. alone: the differences,
    each with the interval of a single comparison. notes: remarks for the reader. doubts: the p values of all tests,
    also of those that `only` leaves out: so a difference that is claimed in one view is claimed in all.
    """

    axes: dict[str, Levels]
    groups: tuple[str, ...]
    distributions: tuple[GroupValues, ...]
    alone: tuple[Difference, ...]
    notes: tuple[str, ...]
    resampling: Resampling
    doubts: tuple[float, ...]

    @cached_property
    def confidence(self) -> float:
        """The confidence of each interval of a difference, corrected for the number of tests.

        It keeps the share of false claims at that of a single test.
        """
        return joint_confidence(self.doubts, 1 - self.resampling.confidence)

    @property
    def tests(self) -> int:
        """The number of tests."""
        return len(self.doubts)

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """The differences, with intervals corrected for their number."""
        return tuple(
            replace(item, found=item.found.at(self.confidence, item.confidence), confidence=self.confidence)
            for item in self.alone
        )

    def of(self, sort: Sort) -> list[Difference]:
        """Return the differences of one sort."""
        return [item for item in self.differences if item.sort == sort]

    def only(self, keep: Callable[[About], bool]) -> "Comparison":
        """Return a view of the loads and metrics for which `keep` is true. It claims what the whole claims."""
        return replace(
            self,
            distributions=tuple(item for item in self.distributions if keep(item.about)),
            alone=tuple(item for item in self.alone if keep(item.about)),
        )

    def asked(self, keep: Callable[[About], bool]) -> "Comparison":
        """Return the comparison of these loads and metrics alone: of fewer tests, so with narrower intervals."""
        chosen = self.only(keep)
        return replace(chosen, doubts=_doubts(chosen.alone))

    def of_these(self, loads: Sequence[str], metrics: Sequence[str]) -> "Comparison":
        """Return the comparison of the loads and metrics that are named alone; none: of all. Raises InputError."""
        for kind, names in (("load", loads), ("metric", metrics)):
            known = list(dict.fromkeys(getattr(item.about, kind) for item in self.distributions))
            for name in names:
                if name not in known:
                    raise InputError(f"no {kind} {name!r}{nearest(name, known)}: the runs have {', '.join(known)}")
        return self.asked(
            lambda about: about.load in (loads or [about.load]) and about.metric in (metrics or [about.metric])
        )

    def without(self, sort: Sort) -> "Comparison":
        """Return the comparison without the differences of one sort."""
        return replace(self, alone=tuple(item for item in self.alone if item.sort != sort))

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as a JSON object."""
        return {
            "format": COMPARISON.version,
            "axes": {name: list(levels) for name, levels in self.axes.items()},
            "groups": list(self.groups),
            "resampling": asdict(self.resampling),
            "tests": self.tests,
            "confidence": self.confidence,
            "notes": list(self.notes),
            "distributions": [
                asdict(item.about)
                | {"group": item.group, "values": list(item.values), "median": item.median, "mean": asdict(item.mean)}
                for item in self.distributions
            ],
            "differences": [
                asdict(item.about)
                | {"sort": item.sort, "name": item.name, "axes": list(item.axes)}
                | asdict(item.found)
                | {"delta_interval": item.found.delta_interval(self.confidence)}
                | {"relative": item.relative, "claim": item.claim, "by_ranks": item.is_by_ranks, "gain": item.gain}
                | {"alone": asdict(alone.interval), "p": alone.interval.p(self.resampling.confidence)}
                for item, alone in zip(self.differences, self.alone, strict=True)
            ],
        }


def compare(data: Observations, resampling: Resampling = DEFAULT) -> Comparison:
    """Compare all groups with the first and, with two or more axes, effects and interactions.

    Only the resampling is random, and its seed decides it.
    """
    axes = list(data.levels)
    shown = [axes.index(name) for name in data.by]
    groups = _groups(data, axes, shown)
    short = short_names([axes[place] for place in shown])
    names = [_named(short, group) for group in groups]
    questions = [*_against_first(groups, names, shown), *_factorial(data, axes, shown)]
    distributions: list[GroupValues] = []
    differences: list[Difference] = []
    for about, cells in _by_metric(data, axes):
        for name, group in zip(names, groups, strict=True):
            side = Side(1, dict(zip(shown, group, strict=True)))
            if mean := contrast(cells, [side], resampling):
                values = [value for key, runs in cells.items() if side.has(key) for value in values_of(runs)]
                distributions.append(GroupValues(about, name, tuple(values), mean.interval))
        for sort, name, of, parts in questions:
            found = contrast(cells, parts, resampling)
            if found:
                of_axes = tuple(axes[place] for place in of)
                differences.append(Difference(about, sort, name, of_axes, found, resampling.confidence))
    levels = {name: data.levels[name] for name in data.by}
    notes = (*data.notes, *_notes(distributions, differences))
    doubts = _doubts(differences)
    return Comparison(levels, tuple(names), tuple(distributions), tuple(differences), notes, resampling, doubts)


def _doubts(differences: Sequence[Difference]) -> tuple[float, ...]:
    """Return the p values of the tests: of each difference's mean and of its ranks, if there is spread.

    A mean of few runs is no more certain than chance permits.
    """
    found: list[float | None] = []
    for item in differences:
        p = item.interval.p(item.confidence)
        found += [max(p, _chance(item)) if p is not None and item.interval.runs < LEAST_RESAMPLED else p]
        found += [item.found.rank_p]
    return tuple(p for p in found if p is not None)


def _chance(item: Difference) -> float:
    return item.found.chance or 0.0


def short_names(axes: Sequence[str]) -> list[str]:
    """Return the shortest distinct endings of the axes' names: scheduler, l1.ioclass."""
    for parts in range(1, max(name.count(".") for name in axes) + 2):
        names = [".".join(name.split(".")[-parts:]) for name in axes]
        if len(set(names)) == len(names):
            break
    return names


_Question = tuple[Sort, str, Sequence[int], Sequence[Side]]


def _named(axes: Sequence[str], group: Levels) -> str:
    """Return the name of a group: its level or, with several axes, each axis and level."""
    if len(group) == 1:
        return group[0]
    return ", ".join(f"{axis} {level}" for axis, level in zip(axes, group, strict=True))


def _groups(data: Observations, axes: Sequence[str], shown: Sequence[int]) -> list[Levels]:
    """Return the combinations of levels that have runs, in the order of levels, the baseline first."""
    rows = data.table[[axes[place] for place in shown]].itertuples(index=False, name=None)
    ranks = [{level: rank for rank, level in enumerate(data.levels[axes[place]])} for place in shown]
    return sorted(set(rows), key=lambda group: [of[level] for of, level in zip(ranks, group, strict=True)])


def _against_first(groups: Sequence[Levels], names: Sequence[str], shown: Sequence[int]) -> Iterator[_Question]:
    first = Side(-1, dict(zip(shown, groups[0], strict=True)))
    for name, group in zip(names[1:], groups[1:], strict=True):
        yield "group", name, shown, [Side(1, dict(zip(shown, group, strict=True))), first]


def _factorial(data: Observations, axes: Sequence[str], shown: Sequence[int]) -> Iterator[_Question]:
    if len(shown) < 2:
        return
    changes = {place: [(place, level, data.levels[axes[place]][0]) for level in data.levels[axes[place]][1:]]
               for place in shown}  # fmt: skip
    names = dict(zip(shown, short_names([axes[place] for place in shown]), strict=True))
    for place in shown:
        for change in changes[place]:
            yield "effect", f"{names[place]} = {change[1]}", [place], sides(change)
    for one, two in combinations(shown, 2):
        for first, second in product(changes[one], changes[two]):
            name = f"{names[one]} = {first[1]}{_WITH}{names[two]} = {second[1]}"
            yield "interaction", name, [one, two], sides(first, second)


def _by_metric(data: Observations, axes: Sequence[str]) -> list[tuple[About, Cells]]:
    """Return the cells of each load and metric: innocent loads first, metrics in the order of METRICS."""
    found: dict[About, dict[Levels, dict[int, list[float]]]] = {}
    columns = [*axes, "seed", "load", "kind", "metric", "value"]
    for *key, seed, load, kind, metric, value in data.table[columns].itertuples(index=False, name=None):
        cells = found.setdefault(About(load, kind, metric), {})
        cells.setdefault(tuple(key), {}).setdefault(int(seed), []).append(float(value))
    loads = list(dict.fromkeys(about.load for about in found))
    ranks = {metric: rank for rank, metric in enumerate(METRICS)}

    def order(item: tuple[About, Cells]) -> tuple[int, int, int]:
        about = item[0]
        return _RANKS[about.sort.role], loads.index(about.load), ranks.get(about.metric, len(ranks))

    return sorted(found.items(), key=order)


def _first(names: Iterable[str]) -> str:
    """Return the first names of a list, and the number of the others."""
    shown = list(names)
    more = f"; and {len(shown) - _MOST_NAMED} more" if len(shown) > _MOST_NAMED else ""
    return "; ".join(shown[:_MOST_NAMED]) + more


def _notes(distributions: Sequence[GroupValues], differences: Sequence[Difference]) -> Iterator[str]:
    few = dict.fromkeys(item.group for item in distributions if not item.mean.known)
    if few:
        yield f"groups {TOO_FEW}, because they have fewer than {LEAST_RUNS} runs: {_first(few)}"
    unknown = dict.fromkeys(item.name for item in differences if not item.interval.known)
    if unknown:
        yield f"differences {TOO_FEW}, because there are too few runs: {_first(unknown)}"
    if any(item.interval.without_spread for item in differences):
        yield (
            "where an interval is a single number, every seed gave the same value: with the virtual clock runs are "
            "repeatable, and no random choice mattered"
        )
    if mixed := dict.fromkeys(item.name for item in differences if not item.found.strata):
        yield f"differences that may be due to other axes, because no runs differ in this alone: {_first(mixed)}"
