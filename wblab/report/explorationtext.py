"""An exploration in words: its effects, its worst tenth and its best region, and the labels of axes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from wblab.analysis.sensitivity.analysis import Scale, Sensitivities
from wblab.analysis.sensitivity.anova import FactorEffect
from wblab.analysis.sensitivity.observed import Factor, Observed
from wblab.analysis.sensitivity.region import BestRegion
from wblab.analysis.sensitivity.tail import LevelTail
from wblab.lab.printable import printable
from wblab.report.quantities import confidence, numbers, percent, quantity

MOST_PAIRS = 8  # the most pairs to show
SCALES: dict[Scale, str] = {"log2": "its logarithm", "raw": "itself", "tail": "the worst tenth"}


@dataclass(frozen=True)
class EffectLine:
    """An effect in words. cells: for each scale its share, its interval, and whether it is found."""

    name: str
    cells: tuple[tuple[str, str, bool], ...]
    is_dummy: bool

    @property
    def found(self) -> bool:
        """Whether it is found on any scale."""
        return any(found for *_, found in self.cells)


def ends(low: float, high: float) -> str:
    """Return the ends of an interval of shares, in per cent; empty if they are unknown."""
    return "" if math.isnan(low) else " to ".join(numbers([low, high], "share")[0])


def effect_name(effect: FactorEffect) -> str:
    """Return the name of an effect: its factor, or both factors of a pair."""
    return " × ".join(effect.factors)


def shown_effects(finding: Sensitivities, factors: Sequence[Factor]) -> list[tuple[str, ...]]:
    """Return the factors of the effects to show: every factor, then the pairs found, by their shares in the first view.

    The dummy follows the other factors.
    """
    if not finding.views:
        return []
    pairs = {effect.factors for view in finding.views for effect in view.variance.pairs if effect.found}
    mains = sorted(finding.views[0].variance.mains, key=_share, reverse=True)
    both = sorted((of for of in finding.views[0].variance.pairs if of.factors in pairs), key=_share, reverse=True)
    dummies = {(factor.name,) for factor in factors if factor.is_dummy}
    names = [effect.factors for effect in mains]
    return [
        *(of for of in names if of not in dummies),
        *(of for of in names if of in dummies),
        *(effect.factors for effect in both[:MOST_PAIRS]),
    ]


def effect_lines(finding: Sensitivities, factors: Sequence[Factor]) -> list[EffectLine]:
    """Return the effects in words."""
    found = [
        {effect.factors: effect for effect in (*view.variance.mains, *view.variance.pairs)} for view in finding.views
    ]
    dummies = {factor.name for factor in factors if factor.is_dummy}
    return [
        EffectLine(
            printable(effect_name(found[0][names])),
            tuple((percent(of[names].share), ends(of[names].low, of[names].high), of[names].found) for of in found),
            bool(dummies & set(names)),
        )
        for names in shown_effects(finding, factors)
    ]


def effects_frame(finding: Sensitivities, factors: Sequence[Factor]) -> pd.DataFrame:
    """Return the effects as a table for a notebook: for each scale the share, its interval, and whether it is found."""
    scales = [SCALES[view.scale] for view in finding.views]
    columns = pd.MultiIndex.from_product([scales, ["share", "interval (%)", "found"]])
    lines = effect_lines(finding, factors)
    rows = [[cell for cells in line.cells for cell in cells] for line in lines]
    return pd.DataFrame(rows, columns=columns, index=[line.name for line in lines])


def headline(finding: Sensitivities, observed: Observed) -> str:
    """Return one line with the number of rows, the median, the start of the worst tenth, and the worst value."""
    values = observed.responses[finding.response].values
    values = values[np.isfinite(values)]
    if not len(values):
        return f"{printable(finding.response)}: not measured in any row"
    sign = -1 if finding.more_is_better else 1
    median, p90, worst = (sign * float(np.quantile(sign * values, share)) for share in (0.5, 0.9, 1))
    figures = (quantity(value, finding.unit) for value in (median, p90, worst))
    text = "median {}, worst tenth from {}, worst {}".format(*figures)
    return f"{printable(finding.response)}: {finding.rows} rows, {text}"


def beyond_sentences(finding: Sensitivities) -> list[str]:
    """Return a sentence with the share of rows above each limit; empty if the design sets no limits."""
    shares = [
        f"{printable(of.name)} in {percent(of.inside / of.rows)} ({ends(of.low, of.high)})" for of in finding.beyond
    ]
    return [f"More than {', '.join(shares)} of the rows."] if shares else []


def tail_sentences(finding: Sensitivities) -> list[str]:
    """Return which levels are more frequent in the worst tenth, and which are less frequent."""
    tail = finding.tail
    if tail is None:
        return []
    side = "at most" if finding.more_is_better else "at least"
    worst = f"The worst {percent(tail.share)} of the rows ({side} {quantity(tail.threshold, finding.unit)})"
    lines = [
        f"{worst} are {how} frequent with {'; '.join(_by_factor(levels, way))}."
        for way, how in ((1, "more"), (-1, "less"))
        if (levels := [level for level in tail.levels if level.leads == way])
    ]
    return lines or [f"{worst} are not shown to be more or less frequent with any level."]


def _by_factor(levels: Sequence[LevelTail], way: int) -> list[str]:
    """Return levels in words, grouped by factor, the strongest first."""
    ranked = sorted(levels, key=lambda level: -way * level.share)
    factors = list(dict.fromkeys(level.factor for level in ranked))
    return [
        printable(
            f"{name} = {', '.join(f'{of.level} ({of.inside} of {of.rows})' for of in ranked if of.factor == name)}"
        )
        for name in factors
    ]


def conditions(region: BestRegion) -> str:
    """Return the conditions of a region, all of which hold."""
    return printable(" and ".join(f"{one.factor} is {_either(one.levels)}" for one in region.conditions))


def region_sentences(region: BestRegion | None, units: dict[str, str]) -> list[str]:
    """Describe the best region: its levels, the response in it, and the cost in other responses. units: by response."""
    if region is None:
        return ["No region is better by a tenth or more, or there are too few rows to choose and test one."]
    first, everywhere = region.inside[0], region.everywhere[0]
    unit = units[first.response]
    lines = [
        f"Best where {conditions(region)}. One half of the rows chose this region. {region.rows} of the {region.total} "
        f"rows in the other half lie in it: median {quantity(first.median, unit)} (all: "
        f"{quantity(everywhere.median, unit)}), worst tenth from {quantity(first.p90, unit)} (all: "
        f"{quantity(everywhere.p90, unit)}), worst {quantity(first.worst, unit)} (all: "
        f"{quantity(everywhere.worst, unit)}). {region.tail} of these {region.rows} rows are in the worst tenth of all "
        f"rows (95 %: {ends(region.tail_low, region.tail_high)} %)."
    ]
    for inside, every in zip(region.inside[1:], region.everywhere[1:], strict=True):
        unit = units[inside.response]
        change = f": {quantity(inside.median / every.median - 1, 'share', signed=True)}" if every.median else ""
        lines.append(
            f"The median of {printable(inside.response)} is {quantity(inside.median, unit)} there and "
            f"{quantity(every.median, unit)} in all rows{change}."
        )
    return lines


def salib_sentence(finding: Sensitivities) -> str:
    """Return whether SALib finds the same shares for factors on a scale; empty if it gave no estimates."""
    if not finding.estimates or not finding.views:
        return ""
    ours = {effect.factors[0]: effect for effect in finding.views[0].variance.mains}
    differ = [
        f"{one.factor} ({percent(one.share)} ± {percent(one.error)})"
        for one in finding.estimates
        if not one.agrees(ours[one.factor].low, ours[one.factor].high)
    ]
    count = len(finding.estimates)
    text = f"RBD-FAST (SALib) also estimates the shares of the {count} factors whose levels lie on a scale"
    return f"{text}: they differ for {printable(', '.join(differ))}." if differ else f"{text}: they agree."


def looks(finding: Sensitivities) -> str:
    """Return the number of effects tested on the first scale, and the confidence of their intervals."""
    first = finding.views[0].variance
    count = sum(not math.isnan(effect.p) for effect in (*first.mains, *first.pairs))
    few = "; there are too few rows for pairs" if all(math.isnan(effect.p) for effect in first.pairs) else ""
    return (
        f"{count} effects were tested on each scale; at most 5 % of those found should be false. Intervals on the "
        f"first scale have {confidence(first.confidence)} confidence{few}"
    )


def _either(levels: Sequence[str]) -> str:
    if len(levels) > 2:
        return f"{levels[0]} to {levels[-1]}"  # only an ordered factor keeps more than one level
    return " or ".join(levels)


def _share(effect: FactorEffect) -> float:
    return -math.inf if math.isnan(effect.share) else effect.share
