"""An exploration as a report: what each response depends on, where its worst tenth is, and where it is best."""

import math
from collections.abc import Iterator, Mapping

from wblab.analysis.sensitivity.analysis import Analysis, Front, Sensitivities, floor
from wblab.analysis.sensitivity.anova import FactorEffect
from wblab.analysis.sensitivity.observed import Observed
from wblab.lab.printable import printable
from wblab.report.explorationtext import (
    SCALES,
    EffectLine,
    beyond_sentences,
    conditions,
    effect_lines,
    ends,
    headline,
    looks,
    region_sentences,
    salib_sentence,
    tail_sentences,
)
from wblab.report.quantities import enumerated, percent, quantity
from wblab.report.report import Block, Column, Picture, Points, Report, Row, Section, Span, Table

Figures = Mapping[str, str]  # SVG elements by their heads

_MOST = 3  # factors in a sentence; the evidence has all
_MOST_FRONT = 25
_CAPTIONS = {
    "What it depends on": "Each bar is the share of the variance between rows that one factor explains, or that two "
    "explain together beyond the sum of both.",
    "How it is distributed, and what it costs": "On the left, the share of rows up to each value. On the right, if "
    "there is a trade-off, every row; the line joins those that no row beats in both.",
    "By the levels of what it depends on most": "All rows; the other factors vary at random. The bar is the median, "
    "the triangle is where the worst tenth of the level begins.",
    "Two factors together: the median": "Only pairs whose joint effect differs from the sum of both. If a factor has "
    "many levels, neighbouring ones are joined.",
    "More or less frequent in the worst tenth": "The share of a level's rows that are in the worst tenth of all rows. "
    "If the factor had no effect, all bars would end at the line.",
    "Two factors together: the worst tenth": "A green ring marks a cell without any row near the worst tenth. With few "
    "rows in a cell, this may be chance.",
}
_HOW = (
    "A share of the variance is a bias-corrected first-order index, Var(E(Y|X)) / Var(Y), from an analysis of variance "
    "over levels, which need no order. For a pair of factors it is the interaction: the variance beyond the sum of "
    "both. It is estimated on up to three scales, because each answers its own question: the logarithm (by what factor "
    "does it change?), the response itself (what moves the sum of all runs?) and whether a run is in the worst tenth. "
    "An estimate below 0 is noise. An effect is found if it is significant after correction for the number of effects "
    "(Benjamini and Hochberg 1995) and its interval is above 0. The dummy is a factor without any effect on a run: its "
    "share is noise. The dashed line, the noise floor, is that share, or the share that chance exceeds one time in "
    "twenty, if larger.",
    "One half of the runs chooses the best region and the other half tests it: on the runs that chose it, a region "
    "looks better than it is. Shares hold for these factors and ranges: a factor that hardly varied has a small share.",
)
_SALIB = (
    "RBD-FAST and classes of rows estimate the share of the variance of {scale}. PAWN is the median distance, 0 to 1, "
    "between the distribution of all rows and that of the rows in one tenth of the factor's range. The Cramér–von "
    "Mises criterion shows how differently the factor is distributed in the worst tenth. The dummy shows what chance "
    "alone gives."
)


def report(analysis: Analysis, observed: Observed, title: str, figures: Mapping[str, Figures] | None = None) -> Report:
    """Return the report of an exploration. figures: its pictures, by response."""
    factors = [factor for factor in analysis.factors if not factor.is_dummy]
    varied = tuple(Row((factor.name, ", ".join(map(str, factor.levels)))) for factor in factors)
    said = (
        f"{analysis.rows} runs, each with different settings: {len(factors)} factors were varied together, at random "
        "but evenly. Therefore each run tells something about every factor, and each effect is an average over the "
        "levels of the other factors."
    )
    return Report(
        title=title,
        headline=_first(analysis),
        blocks=(
            *(_response(analysis, observed, finding, (figures or {}).get(finding.response, {}))
              for finding in analysis.findings),
            Section("How it was explored", (said,), "page"),
            Section("What was varied", (Table((Column("factor"), Column("levels", "prose")), varied),), "folded"),
            Section("How effects are found", _HOW, "page"),
        ),
        inputs={"analysis seed": str(analysis.seed)},
        data={"analysis": analysis.to_json()},
    )  # fmt: skip


def _first(analysis: Analysis) -> str:
    """Return what the first response depends on, and what was analysed where none depends on anything."""
    for finding in analysis.findings:
        if finding.views:
            return _depends(finding, printable(finding.response))
    return f"{analysis.rows} runs, in which no response depends on a factor."


def _response(analysis: Analysis, observed: Observed, finding: Sensitivities, figures: Figures) -> Section:
    """Return the section of a response; a terminal has its answer alone."""
    units = {name: of.unit for name, of in observed.responses.items()}
    points = Points((*answer(finding), *finding.notes))
    blocks: list[Block] = [points] if points.items else []
    if finding.views:
        rest = (*tail_sentences(finding), *region_sentences(finding.region, units))
        blocks.append(
            Section("The worst tenth and the best region, in full", (*rest, salib_sentence(finding)), "folded")
        )
    blocks += [Section(name, (Picture(_CAPTIONS[name], svg=figure),), "page") for name, figure in figures.items()]
    if finding.views:
        limit = floor(finding.views[0].variance, analysis.factors)
        dummy = "" if math.isnan(limit) else f"; the noise floor, from the dummy factor, is {percent(limit)}"
        effects = _effects(finding, effect_lines(finding, analysis.factors))
        said = f"*: found. {looks(finding)}{dummy}."
        blocks.append(Section("Shares of the variance, in numbers", (effects, said), "folded"))
    blocks += [*_levels(finding), *_fronts(finding, observed), *_estimates(finding)]
    return Section(headline(finding, observed), tuple(blocks), anchor=finding.response)


def answer(finding: Sensitivities) -> list[str]:
    """Return at most four sentences: limits, what the response depends on, its worst tenth, and its best region."""
    if not finding.views:
        return []
    return [*beyond_sentences(finding), _depends(finding, "It"), *_worst(finding), *_best(finding)]


def _depends(finding: Sensitivities, what: str) -> str:
    """Return the effects that explain most of the variance in the first view. what: the response in words."""
    first = finding.views[0]
    effects = (*first.variance.mains, *first.variance.pairs)
    found = sorted((effect for effect in effects if effect.found), key=lambda effect: effect.share, reverse=True)
    if not found:
        return f"{what} is not shown to depend on any factor. More rows may show one."
    strongest, *others = found[:_MOST]
    whole = "its variance" if first.scale == "raw" else f"the variance of {SCALES[first.scale]}"
    named = enumerated(
        [
            f"{_name(strongest)} ({percent(strongest.share)} of {whole})",
            *(f"{_name(effect)} ({percent(effect.share)})" for effect in others),
        ]
    )
    rest = len(found) - _MOST
    more = f"; {rest} more {'effect is' if rest == 1 else 'effects are'} smaller" if rest > 0 else ""
    return f"{what} depends most on {named}{more}."


def _name(effect: FactorEffect) -> str:
    return printable(" together with ".join(effect.factors))


def _worst(finding: Sensitivities) -> list[str]:
    """Return the level of each factor that is most often in the worst tenth, for the strongest factors."""
    tail = finding.tail
    if tail is None:
        return []
    ranked = sorted((level for level in tail.levels if level.leads > 0), key=lambda level: level.share)
    strongest = {level.factor: level for level in ranked}  # of each factor, the last one in the order of shares
    named = [
        f"{percent(level.share)} of the rows with {printable(f'{level.factor} = {level.level}')}"
        for level in sorted(strongest.values(), key=lambda level: level.share, reverse=True)[:_MOST]
    ]
    return [f"In the worst tenth are {enumerated(named)}; of all rows {percent(tail.share)}."] if named else []


def _best(finding: Sensitivities) -> list[str]:
    """Return the best region if the rows that test it agree: where the worst tenth starts there and in all rows."""
    region = finding.region
    if region is None:
        return []
    inside, everywhere = region.inside[0].p90, region.everywhere[0].p90
    if (inside <= everywhere) if finding.more_is_better else (inside >= everywhere):
        return []
    there, anywhere = quantity(inside, finding.unit), quantity(everywhere, finding.unit)
    return [
        f"Best where {conditions(region)}: worst tenth from {there} there, from {anywhere} in all rows "
        f"(tested on {region.rows} rows)."
    ]


def _effects(finding: Sensitivities, found: list[EffectLine]) -> Table:
    columns = [Column("share of variance of")]
    for view in finding.views:
        columns += [Column(SCALES[view.scale], "number"), Column("interval (%)", "number")]
    rows = []
    for line in found:
        cells: list[str | Span] = [line.name + (" (no effect)" if line.is_dummy else "")]
        for share, ends_, is_found in line.cells:
            cells += [Span(f"{share} *", form="bold") if is_found else f"{share}  ", ends_]
        rows.append(Row(tuple(cells)))
    return Table(tuple(columns), tuple(rows))


def _levels(finding: Sensitivities) -> Iterator[Section]:
    """Yield the map of the worst tenth, level by level."""
    words = {1: "more frequent", -1: "less frequent", 0: ""}
    tail = finding.tail
    if tail is None or not tail.levels:
        return
    rows = (
        Row((of.factor, str(of.level), str(of.rows), str(of.inside), percent(of.share), ends(of.low, of.high),
             "–" if math.isnan(of.q) else f"{of.q:.3f}", words[of.leads]))
        for of in tail.levels
    )  # fmt: skip
    heads = ("rows", "in the worst tenth", "share", "interval (%)", "corrected p")
    columns = (Column("factor"), Column("level"), *(Column(head, "number") for head in heads), Column(""))
    yield Section("The worst tenth, level by level", (Table(columns, tuple(rows)),), "folded")


def _fronts(finding: Sensitivities, observed: Observed) -> Iterator[Section]:
    for front in finding.fronts:
        if rows := tuple(_front(front, finding, observed)):
            head = f"Pareto front: no row is better in both {finding.response} and {front.against}"
            columns = (Column("row"), Column(finding.response, "number"), Column(front.against, "number"),
                       Column("settings", "prose"))  # fmt: skip
            yield Section(head, (Table(columns, rows),), "folded")


def _front(front: Front, finding: Sensitivities, observed: Observed) -> Iterator[Row]:
    """Yield the rows of a Pareto front: their numbers, both responses, and their levels."""
    one, two = observed.responses[finding.response], observed.responses[front.against]
    for row in front.rows[:_MOST_FRONT]:
        levels = zip(observed.factors, observed.codes[row].tolist(), strict=True)
        settings = ", ".join(f"{factor.name} {factor.levels[code]}" for factor, code in levels if not factor.is_dummy)
        values = (quantity(float(of.values[row]), of.unit) for of in (one, two))
        yield Row((str(row), *values, settings))


def _estimates(finding: Sensitivities) -> Iterator[Section]:
    if not finding.estimates:
        return
    rows = (
        Row((one.factor, percent(one.share), f"± {percent(one.error)}", percent(one.of_classes),
             f"{one.distance:.2f}", f"{one.tail:.1f}"))
        for one in finding.estimates
    )  # fmt: skip
    heads = ("RBD-FAST", "", "by classes", "PAWN", "worst tenth (CvM)")
    columns = (Column("factor"), *(Column(head, "number") for head in heads))
    said = _SALIB.format(scale=SCALES[finding.views[0].scale]) if finding.views else ""
    yield Section("Estimates by SALib's methods", (Table(columns, tuple(rows)), said), "folded")
