"""A comparison as a page: one HTML file that needs no other file and no network."""

from collections.abc import Iterable, Iterator
from typing import Any

from wblab import __version__
from wblab.analysis.runs.comparison import Comparison, Difference, Sort
from wblab.analysis.statistics.intervals import LEAST_RESAMPLED, LEAST_RUNS
from wblab.report.comparisonanswer import answer
from wblab.report.comparisontext import chosen_sorts, footnotes, is_first, is_headline, is_open, line
from wblab.report.metricnames import metric_name, unit_of
from wblab.report.quantities import numbers
from wblab.report.render import render

_HEADS: dict[Sort, str] = {
    "effect": "Effects: what one change does, averaged over all others",
    "interaction": "Interactions: what two changes do beyond the sum of both",
    "group": "Groups, each against the first",
}


def comparison_page(comparison: Comparison, title: str, figure: str, shown: Comparison | None = None) -> str:
    """Return the page of a comparison. figure: its picture, as an SVG element.

    shown: the part that the first sentence is about, by default the metrics that are shown without being asked for.
    """
    first = chosen_sorts(comparison)
    part = shown or comparison.only(is_first)
    short = [item for sort in first for item in comparison.of(sort) if is_headline(item.about)]
    return render(
        "wblab.report",
        "comparison.html",
        title=title,
        answer=answer(part if part.differences else comparison),
        claimed=[line(item) for item in short if item.claim],
        open=_names(item for item in short if _is_undecided(item)),
        undecided=_names(item for item in short if not item.claim and not _is_undecided(item)),
        figure=figure,
        notes=footnotes(comparison, lists_all=True),
        least_resampled=LEAST_RESAMPLED,
        least_runs=LEAST_RUNS,
        sections=[
            {"head": head, "is_open": sort in first, "lines": [line(item) for item in comparison.of(sort)]}
            for sort, head in _HEADS.items()
        ],
        distributions=list(_distributions(comparison)),
        version=__version__,
        seed=comparison.resampling.seed,
    )


def _is_undecided(item: Difference) -> bool:
    return is_open(item) or not (item.claim or item.interval.known)


def _names(items: Iterable[Difference]) -> list[str]:
    """Return the names of differences, each once, without those of interactions."""
    names = (
        f"{item.about.load}, {metric_name(item.about.metric)}: {item.name}"
        for item in items
        if item.sort != "interaction"
    )
    return list(dict.fromkeys(names))


def _distributions(comparison: Comparison) -> Iterator[tuple[Any, Any]]:
    """Yield each distribution in words and in numbers."""
    for item in comparison.distributions:
        values = (min(item.values), item.median, item.mean.estimate, max(item.values))
        words = (item.about.load, metric_name(item.about.metric), item.group)
        (*texts, longest), unit = numbers(values, unit_of(item.about.metric))
        yield words, (str(len(item.values)), *texts, f"{longest} {unit}".rstrip())
