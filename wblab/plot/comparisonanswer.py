"""What a comparison says first: what is compared with what, and the one difference that matters most."""

from wblab.data.comparison import Comparison, Difference
from wblab.data.observations import NONE
from wblab.data.statistics import LEAST_RUNS
from wblab.lab.printable import printable
from wblab.plot.comparisontext import chosen_sorts, line, listed, metric_name, rank, values_text

_MOST_GROUPS = 6


def opening(comparison: Comparison) -> str:
    """Return what is compared: by which keys, how many runs of each group, and with which one."""
    first, *others = (printable(group) for group in comparison.groups)
    counts: dict[str, int] = {}  # not every run has every figure
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
    """Return what differs most, of what people ask about first; or that nothing is shown to, and what may show it."""
    items = [item for sort in chosen_sorts(comparison) for item in listed(comparison, sort)]
    claimed = [item for item in items if item.interval.claim]
    if claimed:
        return _said(min(claimed, key=rank))
    if any(item.interval.known for item in items):
        return (
            "No difference is shown: every interval spans zero. More seeds make them narrower; a difference that "
            "matters to you and lies within them is not ruled out."
        )
    few = f"Too few runs to claim that: give {LEAST_RUNS} of each group, with seeds of their own (--set seed=2)."
    return f"{_said(min(items, key=rank))} {few}" if items else few


def _said(item: Difference) -> str:
    about, found, words = item.about, item.interval, line(item)
    value, before = values_text(about.metric, found.estimate + item.found.reference, item.found.reference)
    by = f"{words.difference.lstrip('+-')} {'more' if found.estimate > 0 else 'less'}"
    better = {1: ", which is better", -1: ", which is worse"}.get(item.gain, "")
    change = words.change if "=" in words.change or len(item.axes) != 1 else f"{item.axes[0]}={words.change}"
    interval = ""
    if found.low is not None and found.high is not None:
        ends = values_text(about.metric, found.low, found.high, signed=True)
        same = found.low == found.high
        interval = " (the same with every seed)" if same else f" (interval of the difference: {' to '.join(ends)})"
    measured = f"{value} instead of {before}{interval}"
    return f"{words.load}'s {metric_name(about.metric)} is {by} with {change}{better}: {measured}."
