"""A comparison in words: the lines of its tables, for a terminal and for a page."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from wblab.analysis.runs.comparison import About, Comparison, Difference, Sort
from wblab.analysis.runs.metrics import UNPLUG
from wblab.analysis.statistics.intervals import LEAST_RUNS, Interval, magnitude
from wblab.lab.printable import printable
from wblab.lab.tables import Table
from wblab.report import quantities
from wblab.report.metricnames import metric_name, unit_of
from wblab.report.quantities import interval, numbers, quantity

# What people ask first; a table of everything is long.
_HEADLINES = {"longest_pause_s", "wait_time_s", "paused_s", "cycle_p99_s", "mean_cycle_s"}
_ASKED = ("longest_pause_s", "paused_s", "wait_time_s")  # in this order
ABOUT: dict[Sort, str] = {
    "effect": "what one change does, averaged over all others",
    "interaction": "what two changes do beyond both",
    "group": "each group against the first",
}


@dataclass(frozen=True)
class Line:
    """A difference in words. gain: 1 better, -1 worse, 0 nothing of the two is claimed."""

    load: str
    metric: str
    change: str
    baseline: str
    difference: str
    interval: str
    relative: str
    size: str
    verdict: str
    gain: int
    claimed: bool


def is_headline(about: About) -> bool:
    """Return whether a metric is one that is shown first.

    Of the innocent these are pauses; of an offender its throughput or time, and when its disk could be unplugged.
    """
    if about.sort.role == "offender":
        own = ("dspan_bytes",) if about.sort.maps_files else ()
        return about.metric in (UNPLUG, "throughput_bps" if about.sort.has_pauses else "mean_cycle_s", *own)
    if about.metric == "cycle_rate_hz":
        return about.sort.waits_for_disk
    return about.sort.role == "innocent" and about.metric in _HEADLINES


def line(item: Difference) -> Line:
    """Return a difference in words; where its interval spans zero, they claim nothing."""
    found, metric = item.interval, item.about.metric
    claimed, unit = found.claim != 0, unit_of(metric)
    ends = [] if found.low is None or found.high is None else [found.low, found.high]
    (estimate, *outer), name = numbers([found.estimate, *ends], unit, signed=True)
    delta = item.found.delta
    return Line(
        load=printable(item.about.load),
        metric=printable(metric_name(metric)),
        change=printable(item.name),
        baseline=quantity(item.found.reference, unit),
        difference=f"{estimate} {name}".rstrip(),
        interval=" to ".join(outer) or f"needs {LEAST_RUNS} runs",
        relative=_relative(item.found.ratio),
        size="" if delta is None else f"{delta:+.2f} {magnitude(delta) if claimed else ''}".rstrip(),
        verdict=_verdict(item),
        gain=item.gain,
        claimed=claimed,
    )


def _relative(ratio: Interval | None) -> str:
    """Return by how much a ratio differs from 1, in per cent, with its interval: -25.2 % (-31.4 to -19.1)."""
    if ratio is None:
        return ""
    low, high = (None if end is None else end - 1 for end in (ratio.low, ratio.high))
    return interval(ratio.estimate - 1, low, high, "share", signed=True)


def _verdict(item: Difference) -> str:
    if not item.interval.known:
        return "too few runs"
    if not item.interval.claim:
        return "no difference shown"
    if item.sort == "interaction":
        return "more together" if item.interval.claim > 0 else "less together"
    return f"{'more' if item.interval.claim > 0 else 'less'}: {'better' if item.gain > 0 else 'worse'}"


def differences_frame(comparison: Comparison, sorts: Sequence[Sort] = ()) -> pd.DataFrame:
    """Return differences as a table for a notebook: those of the headlines, without sorts those that answer first."""
    chosen = sorts or chosen_sorts(comparison)
    lines = [line(item) for sort in chosen for item in comparison.of(sort) if is_headline(item.about)]
    columns = ["load", "metric", "change", "baseline", "difference", "interval", "relative", "size", "verdict"]
    rows = [[getattr(item, name) for name in columns] for item in lines]
    return pd.DataFrame(rows, columns=columns).set_index(["load", "metric", "change"])


def chosen_sorts(comparison: Comparison) -> tuple[Sort, ...]:
    """Return what answers the question: of a factorial experiment its effects, else the groups."""
    return ("effect", "interaction") if comparison.of("effect") else ("group",)


def listed(comparison: Comparison, sort: Sort, most: int | None = None) -> list[Difference]:
    """Return the differences of one sort for a table: of interactions those that are claimed.

    most: so many of those that are claimed, or of all where none is, those that people ask about first (see `rank`).
    None: all of them, in their order.
    """
    found = [item for item in comparison.of(sort) if sort != "interaction" or item.interval.claim]
    if most is None:
        return found
    claimed = [item for item in found if item.interval.claim]
    return sorted(claimed or found, key=rank)[:most]


def rank(item: Difference) -> tuple[bool, int, float]:
    """Return by what differences are sorted that answer: the innocents', pauses as people ask for them, the largest."""
    metric = item.about.metric
    place = _ASKED.index(metric) if metric in _ASKED else len(_ASKED)
    return item.about.sort.role != "innocent", place, -abs(item.relative or 0)


def differences_table(items: Sequence[Difference], confidence: float) -> Table:
    """Return differences as a table: load, metric, baseline, difference, interval, ratio, size, claim and change."""
    lines = [line(item) for item in items]
    heads = ("load", "metric", "baseline", "difference", f"{quantities.confidence(confidence)} interval", "relative",
             "Cliff's delta", "", "change")  # fmt: skip
    cells = [
        (it.load, it.metric, it.baseline, it.difference, it.interval, it.relative, it.size, it.verdict, it.change)
        for it in lines
    ]
    return Table(cells, heads, frozenset({2, 3, 4, 5}), spare=(6, 2, 5))


def footnotes(comparison: Comparison, *, lists_all: bool = False) -> list[str]:
    """Return what a reader must know: what was left out, what the table does not list, how many intervals there are."""
    hidden = [item for item in comparison.of("interaction") if not item.interval.claim]
    notes = list(comparison.notes)
    if hidden and not lists_all:
        notes.append(f"{len(hidden)} interactions whose intervals span zero are not listed")
    if comparison.intervals:
        notes.append(_looks(comparison))
    return notes


def _looks(comparison: Comparison) -> str:
    """Return how many intervals stand side by side, and what that asks of each."""
    count, alone = comparison.intervals, quantities.confidence(comparison.resampling.confidence)
    if comparison.confidence == comparison.resampling.confidence:
        return f"{count} interval{'' if count == 1 else 's'} of {alone}"
    rate = quantities.confidence(1 - comparison.resampling.confidence)
    return (
        f"{count} intervals of {alone}, widened to {quantities.confidence(comparison.confidence)} because {count} are "
        f"compared at once; at most {rate} of the differences reported should be false"
    )
