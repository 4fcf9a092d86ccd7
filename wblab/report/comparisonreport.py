"""A comparison as a report: the one difference that matters most, the differences of each sort, and all values."""

from collections.abc import Iterable, Iterator, Sequence

from wblab.analysis.groups.comparison import Comparison, Difference, Sort
from wblab.analysis.groups.observations import NONE
from wblab.analysis.statistics.intervals import LEAST_RESAMPLED, LEAST_RUNS
from wblab.lab.callings import introduced
from wblab.lab.printable import printable
from wblab.report import quantities
from wblab.report.comparisontext import (
    chosen_sorts,
    footnotes,
    is_complete,
    is_first,
    is_headline,
    is_open,
    line,
    listed,
    rank,
    runs_to_decide,
)
from wblab.report.quantities import enumerated, metric_name, numbers, span, unit_of
from wblab.report.report import Block, Cell, Column, Picture, Points, Report, Row, Section, Table

_MOST_ROWS = 12  # of a table in a terminal
_MOST_UNKNOWN = 6  # of them, where nothing can be claimed of any
_MOST_GROUPS = 6


_HEADS: dict[Sort, str] = {
    "effect": "Effects: what one change does, averaged over all others",
    "interaction": "Interactions: what two changes do beyond both",
    "group": "Groups: each group against the first",
}
_HOW = (
    "Every run gives one value of each metric. A difference is between means over runs. Where all cells have runs of "
    "the same seeds, it is computed seed by seed. Its interval is from a bootstrap: percentiles of resampled "
    f"differences, widened for small samples (Hesterberg 2015). With fewer than {LEAST_RESAMPLED} runs it is "
    f"Student's; with fewer than {LEAST_RUNS} there is none. A difference is claimed if the interval of the means "
    "excludes zero, or if exact tests of ranks exclude chance (Mann-Whitney, and the sign test for groups that spread "
    "unequally).",
    "Among many tests some find a difference by chance. Therefore the intervals of differences are wider, the more "
    "tests there are and the fewer of them are clear (Benjamini and Hochberg 1995; intervals: Benjamini and Yekutieli "
    "2005): they grow as Student's quantile does. Cliff's delta is the probability that a run is above a run of the "
    "baseline, minus the probability that it is below: from −1 to 1, 0 if both are equal; its interval is Newcombe's "
    "(2006). The relative difference is a ratio of means with an interval of its own (Cochran 1977); claims do not "
    "rest on it.",
    "An effect compares runs that are alike in all other axes, averaged over those with equal weights. An interaction "
    "is the difference between the effect of a change with and without another change.",
)


def report(  # noqa: PLR0913 - what is compared, and how much of it comes first
    comparison: Comparison,
    title: str = "Comparison",
    figure: str = "",
    shown: Comparison | None = None,
    *,
    every: bool = False,
    groups: bool = False,
) -> Report:
    """Return the report of a comparison.

    figure: its picture, as an SVG element. shown: the part that comes first; by default, the first metrics. every:
    show its rows without a claim there too. groups: also show the groups of a factorial comparison.
    """
    part = shown or comparison.only(is_first)
    part = part if part.differences else comparison
    sorts = [*chosen_sorts(part)]
    if groups and "group" not in sorts:
        sorts.append("group")
    part = part if "group" in sorts else part.without("group")
    return Report(
        title=title,
        headline=answer(part),
        blocks=(opening(comparison), *_first(part, sorts, every), *_whole(comparison, figure)),
        notes=tuple(_notes(part, sorts, every)),
        inputs={"resampling seed": str(comparison.resampling.seed)},
        data=comparison.to_json(),
        is_open=is_open_answer(part),
    )


def _first(part: Comparison, sorts: Sequence[Sort], every: bool) -> Iterator[Block]:
    """Yield a table for each sort of difference."""
    known = any(item.interval.known for item in part.differences)
    most = None if every else _MOST_ROWS if known else _MOST_UNKNOWN
    for sort in sorts:
        if items := listed(part, sort, None if every else len(part.differences)):
            yield Section(_HEADS[sort], (differences_table(items, part.confidence, most),))


def _notes(part: Comparison, sorts: Sequence[Sort], every: bool) -> Iterator[str]:
    """Yield what the first tables leave out, and how the differences are to be read."""
    found = [[bool(item.claim) for item in part.of(sort)] for sort in sorts if sort != "interaction"]
    if not every and (unclaimed := sum(claims.count(False) for claims in found if any(claims))):
        yield f"{unclaimed} differences without a claim are not listed: --all lists them, and so does a page"
    if hidden := sum(not item.claim for item in part.of("interaction")):
        yield f"{hidden} interactions whose intervals include zero are listed on a page only"
    yield from footnotes(part)


def _whole(comparison: Comparison, figure: str) -> Iterator[Block]:
    """Yield what only a page has: the picture, how differences are found, and all of them, folded."""
    short = [item for sort in chosen_sorts(comparison) for item in comparison.of(sort) if is_headline(item.about)]
    if figure:
        yield Picture("Each group: its mean with the interval, and each run as a dot", svg=figure)
    undecided = [item for item in short if is_open(item) or not (item.claim or item.interval.known)]
    alike = [item for item in short if not item.claim and item not in undecided]
    for head, items in (("Seen, but not decided by so few runs", undecided), ("No difference shown", alike)):
        if names := _names(items):
            yield Section(f"{head}: {len(names)}", (Points(tuple(names)),), "folded")
    yield Section("How differences are found", _HOW, "page")
    for sort, head in _HEADS.items():
        if items := comparison.of(sort):
            table = differences_table(items, comparison.confidence)
            yield Section(f"All {head[0].lower()}{head[1:]} ({len(items)})", (table,), "folded")
    yield Section("Distributions of all metrics", (_distributions(comparison),), "folded")


def differences_table(items: Sequence[Difference], confidence: float, most: int | None = None) -> Table:
    """Return differences as a table. most: rows in a terminal."""
    if not any(item.interval.known for item in items):  # too few runs, which the headline says
        few = (Column("load"), Column("metric"), Column("baseline", "number"), Column("difference", "number"),
               Column("relative", "number", 1), Column("change", "prose"))  # fmt: skip
        lines = [line(item) for item in items]
        return Table(few, tuple(Row((it.load, it.metric, it.baseline, it.difference, it.relative, it.change))
                                for it in lines), most)  # fmt: skip
    columns = (
        Column("load"), Column("metric"), Column("baseline", "number", 2), Column("difference", "number"),
        Column(f"{quantities.confidence(confidence)} interval", "number"), Column("relative", "number", 1),
        Column("Cliff's delta", "name", 3), Column(""), Column("change", "prose"),
    )  # fmt: skip
    return Table(columns, tuple(map(_row, items)), most)


def _row(item: Difference) -> Row:
    words = line(item)
    look = "yes" if item.gain > 0 else "no" if item.gain < 0 else "" if item.claim else "undecided"
    said = (words.difference, words.interval, words.relative, words.size, words.verdict)
    return Row((words.load, words.metric, words.baseline, *(Cell(text, look) for text in said), words.change))


def _names(items: Iterable[Difference]) -> list[str]:
    """Return the names of differences, each once, without those of interactions."""
    names = (
        f"{item.about.load}, {metric_name(item.about.metric)}: {item.name}"
        for item in items
        if item.sort != "interaction"
    )
    return list(dict.fromkeys(names))


def _distributions(comparison: Comparison) -> Table:
    """Return the values of each group, from the least to the greatest."""
    columns = (Column("load"), Column("metric"), Column("group", "prose"), Column("runs", "number"),
               *(Column(name, "number") for name in ("minimum", "median", "mean", "maximum")))  # fmt: skip
    rows = []
    for item in comparison.distributions:
        values = (min(item.values), item.median, item.mean.estimate, max(item.values))
        (*texts, longest), unit = numbers(values, unit_of(item.about.metric))
        cells = (*texts, f"{longest} {unit}".rstrip())
        rows.append(Row((item.about.load, metric_name(item.about.metric), item.group, str(len(item.values)), *cells)))
    return Table(columns, tuple(rows))


def opening(comparison: Comparison) -> str:
    """Return which groups are compared with which baseline, by which keys, and the number of runs in each."""
    first, *others = (printable(group) for group in comparison.groups)
    counts: dict[str, int] = {}  # not every run has every metric
    for item in comparison.distributions:
        counts[item.group] = max(counts.get(item.group, 0), len(item.values))
    least, most = min(counts.values()), max(counts.values())
    runs = f"{least} run{'' if most == 1 else 's'}" if least == most else f"{least} to {most} runs"
    more = [f"{len(others) - _MOST_GROUPS} more"] if len(others) > _MOST_GROUPS else []
    unset = f" ({NONE}: not set)" if NONE in others or first == NONE else ""
    return (
        f"{', '.join(comparison.axes)}: {', '.join([*others[:_MOST_GROUPS], *more])} against {first}{unset}, "
        f"{runs} each."
    )


def answer(comparison: Comparison) -> str:
    """Return the largest claimed difference in the metrics that users ask about first.

    In a factorial study that is what one change does, and then what another one does to that; what two do beyond both
    comes first only where no change is claimed. If nothing is claimed, say so, and what to do next.
    """
    return introduced(_answer(comparison), {item.about.load: item.about.kind for item in comparison.distributions})


def _answer(comparison: Comparison) -> str:
    items = _answering(comparison)
    claimed = [item for item in items if item.claim]
    together = sorted((item for item in claimed if item.sort == "interaction"), key=rank)
    if changes := [item for item in claimed if item.sort != "interaction"]:
        first = min(changes, key=rank)
        beside = [_beside(item, first) for item in together if item.about == first.about and first.name in item.changes]
        asked_first = [_together(item) for item in together if rank(item)[:-1] < rank(first)[:-1]]
        return " ".join([_sentence(first), *(beside or asked_first)[:1]])
    if together:
        return _together(together[0])
    if apart := [item for item in items if is_open(item)]:
        first = min(apart, key=rank)
        more = f"so few runs can be chance. Make {runs_to_decide(first)} of each."
        return f"Seen, but not decided: {_apart(first)}; {more}"
    if any(item.interval.known for item in items):
        tiny = any(item.is_below_resolution and item.interval.claim for item in items)
        return (
            f"No difference is shown: every interval includes zero{' or is below resolution' if tiny else ''}. A "
            "difference within the intervals is still possible; more seeds make them narrower."
        )
    few = f"Too few runs to claim that: give {LEAST_RUNS} of each group, each with its own seed (--set seed=2)."
    return f"{_sentence(min(items, key=rank))} {few}" if items else few


def is_open_answer(comparison: Comparison) -> bool:
    """Whether the answer is of something seen that more runs must decide: nothing is claimed, or known."""
    items = _answering(comparison)
    undecided = any(map(is_open, items)) or not any(item.interval.known for item in items)
    return undecided and not any(item.claim for item in items)


def _answering(comparison: Comparison) -> list[Difference]:
    return [item for sort in chosen_sorts(comparison) for item in listed(comparison, sort)]


def _apart(item: Difference) -> str:
    """Return a clause about a difference whose sides do not overlap, or whose interval excludes zero."""
    more = "larger" if item.interval.estimate > 0 else "smaller"
    where = "in every run with" if is_complete(item) else "on average with"
    (value, before), name = _means(item)
    means = f"{value} and {before} {name}".rstrip()
    load = printable(item.about.load)
    return f"{load}'s {metric_name(item.about.metric)} is {more} {where} {_change(item)} (means: {means})"


def _beside(item: Difference, said: Difference) -> str:
    """Return what an interaction does to an effect that was told, as a sentence."""
    others = [name for name in item.changes if name != said.name]
    return f"With {printable(enumerated(others))} too, it is {_beyond(item)}."


def _together(item: Difference) -> str:
    """Return an interaction as a sentence."""
    changes = printable(enumerated(item.changes))
    return f"{line(item).load}'s {metric_name(item.about.metric)} with {changes} is {_beyond(item)}."


def _beyond(item: Difference) -> str:
    """Return how much two changes do beyond both: what is printed is no mean of any run."""
    found, words = item.interval, line(item)
    by = f"{words.difference.lstrip('+-')} {'more' if found.estimate > 0 else 'less'}"
    return f"{by} than both changes, each alone, add up to{_interval(item)}"


def _sentence(item: Difference) -> str:
    about, found, words = item.about, item.interval, line(item)
    (value, before), name = _means(item)
    by = f"{words.difference.lstrip('+-')} {'more' if found.estimate > 0 else 'less'}"
    better = {1: ", which is better", -1: ", which is worse"}.get(item.gain, "")
    measured = f"{value} instead of {before} {name}".rstrip() + _interval(item, " of the difference")
    return f"{words.load}'s {metric_name(about.metric)} is {by} with {_change(item)}{better}: {measured}."


def _interval(item: Difference, of: str = "") -> str:
    """Return the interval of a difference in brackets; empty without one. of: what it is of, if that is not clear."""
    found = item.interval
    if found.low is None or found.high is None:
        return ""
    ends = span(found.low, found.high, unit_of(item.about.metric), signed=True)
    return " (the same with every seed)" if found.low == found.high else f" (interval{of}: {ends})"


def _means(item: Difference) -> tuple[tuple[str, ...], str]:
    """Return the means with and without a change as text, and their unit."""
    before = item.found.reference
    return numbers([item.interval.estimate + before, before], unit_of(item.about.metric))


def _change(item: Difference) -> str:
    """Return what was changed; a level alone gets the name of its axis."""
    name = printable(item.name)
    return name if "=" in name or len(item.axes) != 1 else f"{item.axes[0]}={name}"
