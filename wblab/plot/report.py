"""A comparison as a page: one HTML file, that needs nothing beside it and no network."""

from collections.abc import Iterable, Sequence
from html import escape

from wblab import __version__
from wblab.data.comparison import Comparison, Difference, Sort
from wblab.data.statistics import LEAST_RESAMPLED, LEAST_RUNS
from wblab.plot.comparison import comparison_figure, svg
from wblab.plot.comparisontext import Line, chosen_sorts, footnotes, is_headline, line, metric_name, values_text

_STYLE = """
body { font: 15px/1.45 "DejaVu Sans", Verdana, sans-serif; color: #222 }
body { max-width: 1180px; margin: 2em auto; padding: 0 1em }
h1 { font-size: 1.5em; margin-bottom: .2em } h2 { font-size: 1.15em; margin-top: 2em }
svg { width: 100%; height: auto }
table { border-collapse: collapse; font-size: 13px; margin: .6em 0 1.4em }
th, td { padding: .22em .7em; text-align: left; border-bottom: 1px solid #ddd; white-space: nowrap }
th { border-bottom: 2px solid #666 } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums }
tr.better .v { color: #00684c; font-weight: bold } tr.worse .v { color: #a84300; font-weight: bold }
tr.none .v { color: #767676 } tr.both .v { font-weight: bold }
summary { cursor: pointer; font-weight: bold; margin: .4em 0 } .scroll { overflow-x: auto }
footer { color: #666; font-size: 13px; margin-top: 3em }
"""
_HEADS = {
    "effect": "Effects: what one change does, averaged over all others",
    "interaction": "Interactions: what two changes do beyond the sum of both",
    "group": "Groups, each against the first",
}
_COLUMNS = ("load", "metric", "change", "baseline", "difference", "interval", "relative", "Cliff's delta", "")
_METHOD = f"""
<p>Every value is one number for each run. A difference is one of means over runs; where all cells have runs of the same
seeds, it is taken seed by seed. Its interval is a bootstrap's: percentiles of resampled differences, moved outwards for
small samples (Hesterberg 2015); with fewer than {LEAST_RESAMPLED} runs Student's, with fewer than {LEAST_RUNS} none.
<b>Where an interval spans zero, nothing is claimed.</b> Cliff's delta is the probability that a run is above one of the
baseline, less the probability that it is below: from −1 to 1, and 0 where neither is likelier. The relative difference
is one of a ratio of means, with an interval of its own (Cochran 1977); what is claimed is the difference.</p>
<p>An effect compares runs that are alike in all other axes, and averages over those with equal weights. An interaction
is by how much the effect of one change differs between with and without the other.</p>
"""


def report(comparison: Comparison, title: str) -> str:
    """Return the page of a comparison."""
    first = chosen_sorts(comparison)
    answers = [item for sort in first for item in comparison.of(sort)]
    short = [item for item in answers if is_headline(item.about)]
    parts = [
        f"<h1>{escape(title)}</h1>",
        "<h2>What the runs show</h2>",
        _list(map(_sentence, (item for item in short if item.interval.claim)), "No difference is shown."),
        _undecided(short),
        svg(comparison_figure(comparison)),
        "<h2>What to know</h2>",
        _list(map(escape, footnotes(comparison, lists_all=True)), ""),
        _METHOD,
        *(_section(comparison, sort, is_open=sort in first) for sort in ("effect", "interaction", "group")),
        _distributions(comparison),
        f"<footer>wblab {__version__}; resampling seed {comparison.resampling.seed}</footer>",
    ]
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    body = "\n".join(parts)
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>{head}</head>\n<body>\n{body}\n</body>\n</html>\n'


def _sentence(item: Difference) -> str:
    said = line(item)
    share = f", {said.relative}" if said.relative else ""
    return (
        f"<b>{escape(said.load)}</b>, {escape(said.metric)}: {escape(said.difference)}{share} "
        f"({escape(said.interval)}) with {escape(said.change)} – {escape(said.verdict)}"
    )


def _undecided(items: Sequence[Difference]) -> str:
    names = dict.fromkeys(
        f"{item.about.load}, {metric_name(item.about.metric)}: {item.name}"
        for item in items
        if not item.interval.claim and item.sort != "interaction"
    )
    if not names:
        return ""
    return f"<details><summary>No difference shown: {len(names)}</summary>{_list(map(escape, names), '')}</details>"


def _list(items: Iterable[str], instead: str) -> str:
    lines = "".join(f"<li>{item}</li>" for item in items)
    return f"<ul>{lines}</ul>" if lines else f"<p>{instead}</p>"


def _section(comparison: Comparison, sort: Sort, *, is_open: bool) -> str:
    lines = [line(item) for item in comparison.of(sort)]
    if not lines:
        return ""
    head = "".join(f"<th{' class=n' if 3 <= i <= 6 else ''}>{name}</th>" for i, name in enumerate(_COLUMNS))
    rows = "".join(map(_row, lines))
    table = f'<div class="scroll"><table><tr>{head}</tr>{rows}</table></div>'
    return f"<details{' open' if is_open else ''}><summary>{_HEADS[sort]}</summary>{table}</details>"


def _row(said: Line) -> str:
    colour = {1: "better", -1: "worse"}.get(said.gain, "both" if said.claimed else "none")
    words = "".join(f"<td>{escape(text)}</td>" for text in (said.load, said.metric, said.change))
    numbers = "".join(
        f'<td class="n{" v" if place else ""}">{escape(text)}</td>'
        for place, text in enumerate((said.baseline, said.difference, said.interval, said.relative))
    )
    rest = "".join(f'<td class="v">{escape(text)}</td>' for text in (said.size, said.verdict))
    return f'<tr class="{colour}">{words}{numbers}{rest}</tr>'


def _distributions(comparison: Comparison) -> str:
    columns = ("load", "metric", "group", "runs", "least", "median", "mean", "most")
    head = "".join(f"<th{' class=n' if place > 2 else ''}>{name}</th>" for place, name in enumerate(columns))
    rows = []
    for item in comparison.distributions:
        values = (min(item.values), item.median, item.mean.estimate, max(item.values))
        numbers = (str(len(item.values)), *values_text(item.about.metric, *values))
        words = "".join(
            f"<td>{escape(text)}</td>" for text in (item.about.load, metric_name(item.about.metric), item.group)
        )
        rows.append(f"<tr>{words}{''.join(f'<td class=n>{escape(text)}</td>' for text in numbers)}</tr>")
    table = f'<div class="scroll"><table><tr>{head}</tr>{"".join(rows)}</table></div>'
    return f"<details><summary>Distributions of all metrics</summary>{table}</details>"
