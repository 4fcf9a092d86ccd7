"""An exploration as a page: one HTML file that needs no other file and no network."""

import math
from typing import Any

from wblab import __version__
from wblab.analysis.sensitivity.analysis import Analysis, Finding, Front
from wblab.analysis.sensitivity.observed import Observed
from wblab.plot.comparison import svg
from wblab.plot.exploration import exploration_figures
from wblab.report.explorationanswer import answer
from wblab.report.explorationtext import (
    SCALES,
    effect_lines,
    ends,
    headline,
    looks,
    region_sentences,
    salib_sentence,
    tail_sentences,
)
from wblab.report.quantities import percent, quantity
from wblab.report.render import render

_MOST_FRONT = 25
_CAPTIONS = {
    "What it depends on": "Each bar is the share of the variance between rows that one factor explains, or that two "
    "explain together beyond the sum of both.",
    "How it is distributed, and what it costs": "On the left, the share of rows up to each value. On the right, if "
    "there is a trade-off, every row; the red line joins those that no row beats in both.",
    "By the levels of what it depends on most": "All rows; the other factors vary at random. The bar is the median, "
    "the triangle is where the worst tenth of the level begins.",
    "Two factors together: the median": "Only pairs whose joint effect differs from the sum of both. If a factor has "
    "many levels, neighbouring ones are joined.",
    "More or less frequent in the worst tenth": "The share of a level's rows that are in the worst tenth of all rows. "
    "If the factor had no effect, all bars would end at the line.",
    "Two factors together: the worst tenth": "A green ring marks a cell without any row near the worst tenth. With few "
    "rows in a cell, this may be chance.",
}


def exploration_page(analysis: Analysis, observed: Observed, title: str) -> str:
    """Return the page of an exploration's analysis."""
    return render(
        "wblab.plot",
        "exploration.html",
        title=title,
        rows=analysis.rows,
        factors=[factor for factor in analysis.factors if not factor.is_dummy],
        sections=[_section(analysis, observed, finding) for finding in analysis.findings],
        version=__version__,
        seed=analysis.seed,
    )


def _section(analysis: Analysis, observed: Observed, finding: Finding) -> dict[str, Any]:
    units = {name: of.unit for name, of in observed.responses.items()}
    regions = region_sentences(finding.region, units) if finding.views else []
    figures = exploration_figures(analysis, observed, finding)
    return {
        "head": headline(finding, observed),
        "name": finding.response,
        "answer": answer(finding),
        "details": [*tail_sentences(finding), *regions, *filter(None, [salib_sentence(finding)])],
        "notes": finding.notes,
        "looks": looks(finding) if finding.views else "",
        "figures": [(name, _CAPTIONS[name], svg(figure)) for name, figure in figures.items()],
        "scales": [SCALES[view.scale] for view in finding.views],
        "effects": effect_lines(finding, analysis.factors),
        "levels": _levels(finding),
        "estimates": [
            (one.factor, percent(one.share), f"± {percent(one.error)}", percent(one.of_classes),
             f"{one.distance:.2f}", f"{one.tail:.1f}")
            for one in finding.estimates
        ],
        "fronts": [(front.against, _front(front, finding, observed)) for front in finding.fronts],
    }  # fmt: skip


def _levels(finding: Finding) -> list[tuple[str, ...]]:
    """Return the levels of the map of the worst tenth in words."""
    words = {1: "more frequent", -1: "less frequent", 0: ""}
    tail = finding.tail
    return [
        (of.factor, of.level, str(of.rows), str(of.inside), percent(of.share), ends(of.low, of.high),
         "–" if math.isnan(of.q) else f"{of.q:.3f}", words[of.leads])
        for of in (tail.levels if tail else ())
    ]  # fmt: skip


def _front(front: Front, finding: Finding, observed: Observed) -> list[tuple[str, str, str, str]]:
    """Return the rows of a Pareto front: their numbers, both responses, and their levels."""
    one, two = observed.responses[finding.response], observed.responses[front.against]
    return [
        (
            str(row),
            quantity(float(one.values[row]), one.unit),
            quantity(float(two.values[row]), two.unit),
            ", ".join(
                f"{factor.name} {factor.levels[code]}"
                for factor, code in zip(observed.factors, observed.codes[row].tolist(), strict=True)
                if not factor.is_dummy
            ),
        )
        for row in front.rows[:_MOST_FRONT]
    ]
