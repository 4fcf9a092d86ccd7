"""Analyse the responses of an exploration: what they depend on, the worst tenth, and the best region."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from wblab.analysis.sensitivity.anova import DEFAULT, FactorEffect, Sampling, Variance, variance
from wblab.analysis.sensitivity.observed import Codes, Factor, Observed, Response, Values
from wblab.analysis.sensitivity.region import BestRegion, best_region, front
from wblab.analysis.sensitivity.salib import Estimate, estimates
from wblab.analysis.sensitivity.tail import Beyond, PairMap, TailMap, beyond, in_tail, pair_map, tail_map
from wblab.analysis.statistics.intervals import generator
from wblab.lab.formats import ANALYSIS
from wblab.lab.progress import Report, silent

Scale = Literal["log2", "raw", "tail"]

_DECADES = 100  # largest / smallest: above this, a few rows make up all of the variance
_MOST_MAPS = 12


@dataclass(frozen=True)
class View:
    """What a response depends on, on one scale: raw, the logarithm to base 2, or whether it is in the tail.

    Each scale answers its own question: what changes the sum of all rows, what multiplies a row's value, and what makes
    the worst tenth more likely.
    """

    scale: Scale
    variance: Variance


@dataclass(frozen=True)
class Front:
    """The Pareto front of this response and `against`. rows: the numbers of those that no other row beats in both."""

    against: str
    rows: tuple[int, ...]


@dataclass(frozen=True)
class Sensitivities:
    """The analysis of one response. rows: the number with a value; failed: the number without one.

    views: in reading order. estimates: SALib's estimates, on the scale of the first view. tail, best: the levels of
    the worst and of the best tenth. maps: of the pairs of factors that account for most of the tail. notes: sentences
    for the reader. beyond: the shares of rows above the requested limits.
    """

    response: str
    unit: str
    more_is_better: bool
    rows: int
    failed: int
    views: tuple[View, ...]
    estimates: tuple[Estimate, ...]
    tail: TailMap | None
    best: TailMap | None
    maps: tuple[PairMap, ...]
    region: BestRegion | None
    fronts: tuple[Front, ...]
    notes: tuple[str, ...]
    beyond: tuple[Beyond, ...] = ()

    def view(self, scale: Scale) -> View | None:
        """Return the view on this scale, if there is one."""
        return next((view for view in self.views if view.scale == scale), None)


@dataclass(frozen=True)
class Analysis:
    """The analysis of an exploration of `rows` rows, by response. seed: decides all random numbers."""

    factors: tuple[Factor, ...]
    rows: int
    findings: tuple[Sensitivities, ...]
    seed: int

    def to_json(self) -> dict[str, Any]:
        """Return the analysis as a JSON object; unknown numbers are null."""
        content: dict[str, Any] = ANALYSIS.head() | _known(asdict(self))
        for finding in content["findings"]:
            for view in finding["views"]:
                for effect in (*view["variance"]["mains"], *view["variance"]["pairs"]):
                    known = effect["q"] is not None and effect["low"] is not None
                    effect["found"] = known and FactorEffect(**effect).found
        return content


def floor(found: Variance, factors: Sequence[Factor]) -> float:
    """Return the noise floor: the dummy's share, or the share that chance exceeds one time in twenty, if larger.

    NaN without a dummy.
    """
    dummies = {factor.name for factor in factors if factor.is_dummy}
    shares = [max(effect.share, effect.chance) for effect in found.mains if dummies & set(effect.factors)]
    return max(shares, default=math.nan)


def spans_decades(values: Values) -> bool:
    """Return whether the largest value is more than a hundred times the smallest above 0."""
    positive = values[values > 0]
    return bool(len(positive)) and bool(positive.max() > _DECADES * positive.min())


def analyse(
    observed: Observed,
    names: Sequence[str] = (),
    seed: int = 0,
    sampling: Sampling = DEFAULT,
    report: Report = silent,
) -> Analysis:
    """Analyse the named responses, or all. The result for one does not depend on the others.

    The cost of improving a response is measured in those of opposite direction: of a pause, in throughput. Raises
    KeyError for an unknown name.
    """
    chosen = [observed.responses[name] for name in names or observed.responses]
    findings = [
        _finding(observed, response, seed, sampling, partial(_within, report, place, len(chosen)))
        for place, response in enumerate(chosen)
    ]
    return Analysis(observed.factors, len(observed.codes), tuple(findings), seed)


def _within(report: Report, place: int, count: int, share: float | None, text: str) -> None:
    """Report the share of one response's analysis as a share of all `count` responses."""
    report((place + (share or 0)) / count, text)


def _finding(observed: Observed, response: Response, seed: int, sampling: Sampling, report: Report) -> Sensitivities:
    known = np.isfinite(response.values)
    values, codes, u = response.values[known], observed.codes[known], observed.u[known]
    more = response.more_is_better
    scales = _scales(response, values)
    views: list[View] = []
    for scale, scaled in scales.items():
        report(len(views) / len(scales), response.name)
        random = generator(seed, response.name, scale)
        views.append(View(scale, variance(observed.factors, codes, scaled, random, sampling)))
    costs = [other for other in observed.responses.values() if other.more_is_better != more]
    first = next(iter(scales.values()), values)
    last = views[-1].variance if views else None
    return Sensitivities(
        response=response.name,
        unit=response.unit,
        more_is_better=more,
        rows=len(values),
        failed=len(known) - len(values),
        views=tuple(views),
        estimates=estimates(
            observed.factors, u, first, int(generator(seed, response.name, "SALib").integers(2**31)), more
        ),
        tail=tail_map(observed.factors, codes, values, more),
        best=tail_map(observed.factors, codes, values, not more),
        maps=tuple(_maps(observed.factors, codes, values, more, last)) if "tail" in scales else (),
        region=best_region(observed, response, costs, generator(seed, response.name, "region")),
        fronts=tuple(Front(cost.name, tuple(front(response, cost).tolist())) for cost in costs),
        notes=tuple(_notes(response, values, len(known), scales)),
        beyond=tuple(beyond(values, *bound) for bound in response.above.items() if len(values)),
    )


def _scales(response: Response, values: Values) -> dict[Scale, Values]:
    """Return the values on each scale, in reading order; none if all values are equal."""
    if not len(values) or np.ptp(values) == 0:
        return {}
    scales: dict[Scale, Values] = {"raw": values}
    positive = values[values > 0]
    has_logarithms = values.min() >= 0 and 2 * len(positive) > len(values) and np.ptp(positive) > 0
    if has_logarithms and (response.log or spans_decades(values)):
        scales = {"log2": np.log2(np.maximum(values, positive.min())), **scales}
    marks = in_tail(values, response.more_is_better)[1]
    return scales | ({"tail": marks.astype(np.float64)} if marks.any() else {})


def _maps(
    factors: Sequence[Factor], codes: Codes, values: Values, more_is_better: bool, tail: Variance | None
) -> list[PairMap]:
    """Return the maps of the pairs of factors that account for most of the tail."""
    if tail is None:
        return []
    alone = {effect.factors[0]: _found_share(effect) for effect in tail.mains}
    places = {factor.name: place for place, factor in enumerate(factors)}

    def both(effect: FactorEffect) -> float:
        return _found_share(effect) + sum(alone[name] for name in effect.factors)

    ranked = sorted(tail.pairs, key=both, reverse=True)
    dummies = {factor.name for factor in factors if factor.is_dummy}
    chosen = [effect for effect in ranked if both(effect) and not dummies & set(effect.factors)][:_MOST_MAPS]
    found = []
    for effect in chosen:
        one, two = ((factors[places[name]], codes[:, places[name]]) for name in effect.factors)
        found.append(pair_map(one, two, values, more_is_better))
    return found


def _found_share(effect: FactorEffect) -> float:
    return effect.share if effect.found else 0.0


def _notes(response: Response, values: Values, rows: int, scales: Mapping[Scale, Values]) -> list[str]:
    notes = []
    if failed := rows - len(values):
        notes.append(f"{failed} of {rows} rows have no {response.name} and are left out")
    if not scales:
        notes.append("all rows have the same value: it depends on no factor of this design")
    if "log2" in scales and (zeros := int((values == 0).sum())):
        notes.append(f"{zeros} rows measured 0; the logarithm uses the smallest other value for them")
    if scales and "tail" not in scales:
        notes.append("most rows have the worst value, so there is no tail")
    return notes


def _known(value: Any) -> Any:
    """Return a value for JSON, with None for unknown numbers."""
    if isinstance(value, dict):
        return {key: _known(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_known(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
