"""The first lines of a comparison: the groups, and the one difference that matters most."""

from wblab.analysis.runs.comparison import Comparison, Difference
from wblab.analysis.runs.observations import NONE
from wblab.analysis.statistics.intervals import LEAST_RUNS
from wblab.lab.printable import printable
from wblab.report.comparisontext import chosen_sorts, is_complete, is_open, line, listed, rank, runs_to_decide
from wblab.report.metricnames import metric_name, unit_of
from wblab.report.quantities import numbers, span

_MOST_GROUPS = 6


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

    If nothing is claimed, say so, and what to do next.
    """
    items = [item for sort in chosen_sorts(comparison) for item in listed(comparison, sort)]
    claimed = [item for item in items if item.claim]
    if claimed:
        return _sentence(min(claimed, key=rank))
    if apart := [item for item in items if is_open(item)]:
        first = min(apart, key=rank)
        more = f"Make {runs_to_decide(first)} of each."
        return f"Not decided: {_apart(first)}, but with so few runs that can be chance. {more}"
    if any(item.interval.known for item in items):
        tiny = any(item.is_below_resolution and item.interval.claim for item in items)
        return (
            f"No difference is shown: every interval includes zero{' or is below resolution' if tiny else ''}. A "
            "difference within the intervals is still possible; more seeds make them narrower."
        )
    few = f"Too few runs to claim that: give {LEAST_RUNS} of each group, each with its own seed (--set seed=2)."
    return f"{_sentence(min(items, key=rank))} {few}" if items else few


def _apart(item: Difference) -> str:
    """Return a clause about a difference whose sides do not overlap, or whose interval excludes zero."""
    more = "larger" if item.interval.estimate > 0 else "smaller"
    where = "in every run with" if is_complete(item) else "on average with"
    (value, before), name = _means(item)
    means = f"{value} and {before} {name}".rstrip()
    load = printable(item.about.load)
    return f"{load}'s {metric_name(item.about.metric)} is {more} {where} {_change(item)} (means: {means})"


def _sentence(item: Difference) -> str:
    about, found, words = item.about, item.interval, line(item)
    (value, before), name = _means(item)
    by = f"{words.difference.lstrip('+-')} {'more' if found.estimate > 0 else 'less'}"
    better = {1: ", which is better", -1: ", which is worse"}.get(item.gain, "")
    interval = ""
    if found.low is not None and found.high is not None:
        same = found.low == found.high
        ends = span(found.low, found.high, unit_of(about.metric), signed=True)
        interval = " (the same with every seed)" if same else f" (interval of the difference: {ends})"
    measured = f"{value} instead of {before} {name}".rstrip() + interval
    return f"{words.load}'s {metric_name(about.metric)} is {by} with {_change(item)}{better}: {measured}."


def _means(item: Difference) -> tuple[tuple[str, ...], str]:
    """Return the means with and without a change as text, and their unit."""
    before = item.found.reference
    return numbers([item.interval.estimate + before, before], unit_of(item.about.metric))


def _change(item: Difference) -> str:
    """Return what was changed; a level alone gets the name of its axis."""
    name = printable(item.name)
    return name if "=" in name or len(item.axes) != 1 else f"{item.axes[0]}={name}"
