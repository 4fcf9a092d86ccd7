"""A comparison in words: each of its differences, which of them come first, and what a reader should know."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from wblab.analysis.groups.comparison import RESOLUTION_S, TOO_FEW, About, Comparison, Difference, Sort
from wblab.analysis.runs.metrics import UNPLUG, is_cause
from wblab.analysis.statistics.dominance import least_runs, magnitude
from wblab.analysis.statistics.intervals import LEAST_RESAMPLED, LEAST_RUNS, Interval
from wblab.lab.printable import printable
from wblab.report import quantities
from wblab.report.quantities import interval, metric_name, numbers, quantity, unit_of

# The metrics that users ask about first; a table of all metrics is long.
_HEADLINES = {"longest_pause_s", "wait_time_s", "paused_s", "cycle_p99_s", "mean_cycle_s"}
_MOST_RATIO = 1000  # above, means near zero were divided by: the quotient is known to be large, and no more
_ASKED = ("longest_pause_s", "paused_s", "wait_time_s")  # in this order


@dataclass(frozen=True)
class ComparedLine:
    """A difference in words. gain: 1 for better, -1 for worse, 0 if neither is claimed."""

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
    """Return whether a metric is shown first.

    For innocent loads these are pauses; for an offender, its throughput or time, and when its disk could be unplugged.
    """
    if about.sort.role == "offender":
        own = ("dspan_bytes",) if about.sort.maps_files else ()
        return about.metric in (UNPLUG, "throughput_bps" if about.sort.has_pauses else "mean_cycle_s", *own)
    if about.metric == "cycle_rate_hz":
        return about.sort.waits_for_disk
    return about.sort.role == "innocent" and about.metric in _HEADLINES


def is_first(about: About) -> bool:
    """Whether a metric is shown without being asked for."""
    return is_headline(about) or (about.sort.role == "innocent" and is_cause(about.metric))


def line(item: Difference) -> ComparedLine:
    """Return a difference in words."""
    found, metric = item.interval, item.about.metric
    claimed, unit = item.claim != 0, unit_of(metric)
    ends = [] if found.low is None or found.high is None else [found.low, found.high]
    (estimate, *outer), name = numbers([found.estimate, *ends], unit, signed=True)
    return ComparedLine(
        load=printable(item.about.load),
        metric=printable(metric_name(metric)),
        change=printable(item.name),
        baseline=quantity(item.found.reference, unit),
        difference=f"{estimate} {name}".rstrip(),
        interval=" to ".join(outer) or f"needs {LEAST_RUNS} runs",
        relative=_relative(item.found.ratio),
        size=_size(item),
        verdict=_verdict(item),
        gain=item.gain,
        claimed=claimed,
    )


def _relative(ratio: Interval | None) -> str:
    """Return a ratio's difference from 1, in per cent, with its interval: -25.2 % (-31.4 to -19.1)."""
    if ratio is None:
        return ""
    low, high = (None if end is None else end - 1 for end in (ratio.low, ratio.high))
    if ratio.estimate > _MOST_RATIO:
        return f"over ×{_MOST_RATIO:,}"
    if high is None or high <= _MOST_RATIO:
        return interval(ratio.estimate - 1, low, high, "share", signed=True)
    middle, least = quantity(ratio.estimate - 1, "share", signed=True), quantity(low or 0, "share", signed=True)
    return f"{middle} ({least.removesuffix(' %')} or more)"


def _size(item: Difference) -> str:
    """Return Cliff's delta with its interval, and a word for it if a difference is claimed."""
    delta, ends = item.found.delta, item.found.delta_interval(item.confidence)
    if delta is None:
        return ""
    span = f" ({ends[0]:+.2f} to {ends[1]:+.2f})" if ends else ""
    return f"{delta:+.2f}{span} {magnitude(delta) if item.claim else ''}".rstrip()


def is_complete(item: Difference) -> bool:
    """Whether every value of one side is above every value of the other."""
    return abs(item.found.delta or 0) == 1


def is_open(item: Difference) -> bool:
    """Whether values look different, but are too few to exclude chance."""
    looks_different = is_complete(item) or item.interval.claim != 0
    return item.interval.known and looks_different and not item.claim and not item.is_below_resolution


def runs_to_decide(item: Difference) -> int:
    """Return the number of runs of each side with which an open difference like this one can be claimed."""
    if item.interval.claim:
        return LEAST_RESAMPLED
    return least_runs(1 - item.confidence)


def _verdict(item: Difference) -> str:
    if not item.interval.known:
        return "too few runs"
    if item.is_below_resolution:
        return "below resolution"
    if not item.claim:
        return "not decided" if is_open(item) else "no difference shown"
    if item.sort == "interaction":
        return "more together" if item.claim > 0 else "less together"
    ranks = ", by ranks" if item.is_by_ranks else ""
    return f"{'more' if item.claim > 0 else 'less'}: {'better' if item.gain > 0 else 'worse'}{ranks}"


def differences_frame(comparison: Comparison, sorts: Sequence[Sort] = ()) -> pd.DataFrame:
    """Return the differences of the first metrics as a table for a notebook. sorts: by default `chosen_sorts`."""
    chosen = sorts or chosen_sorts(comparison)
    lines = [line(item) for sort in chosen for item in comparison.of(sort) if is_headline(item.about)]
    columns = ["load", "metric", "change", "baseline", "difference", "interval", "relative", "size", "verdict"]
    rows = [[getattr(item, name) for name in columns] for item in lines]
    return pd.DataFrame(rows, columns=columns).set_index(["load", "metric", "change"])


def chosen_sorts(comparison: Comparison) -> tuple[Sort, ...]:
    """Return the sorts of differences to show first: effects and interactions of a factorial experiment, or groups."""
    return ("effect", "interaction") if comparison.of("effect") else ("group",)


def listed(comparison: Comparison, sort: Sort, most: int | None = None) -> list[Difference]:
    """Return the differences of one sort for a table; interactions only if they are claimed.

    most: the number of claimed differences to return, or of all if none is claimed, in the order of `rank`. None: all
    of them, in their own order.
    """
    found = [item for item in comparison.of(sort) if sort != "interaction" or item.claim]
    if most is None:
        return found
    claimed = [item for item in found if item.claim]
    return sorted(claimed or found, key=rank)[:most]


def rank(item: Difference) -> tuple[bool, int, float]:
    """Return the sort key of a difference: innocent loads first, then metrics in the order of _ASKED, then by size."""
    metric = item.about.metric
    place = _ASKED.index(metric) if metric in _ASKED else len(_ASKED)
    return item.about.sort.role != "innocent", place, -abs(item.relative or 0)


def footnotes(comparison: Comparison) -> list[str]:
    """Return notes for the reader: what was left out, what rare verdicts mean, and the number of tests."""
    too_few = not any(item.interval.known for item in comparison.differences)  # then the answer says so
    notes = [note for note in comparison.notes if not (too_few and TOO_FEW in note)]
    notes += _meanings(comparison)
    if comparison.tests:
        notes.append(_looks(comparison))
    return notes


def _meanings(comparison: Comparison) -> list[str]:
    """Return what rare verdicts mean, for those that occur."""
    items = comparison.differences
    notes = []
    if any(item.is_by_ranks for item in items):
        notes.append(
            "by ranks: the interval of the means includes zero, but an exact test of which runs have the larger values "
            "(Mann-Whitney) finds a difference; it does not show how large"
        )
    if undecided := [item for item in items if is_open(item)]:
        least = max(map(runs_to_decide, undecided))
        notes.append(
            "not decided: the interval excludes zero, or every run of one side is above every run of the other, but "
            f"these are too few runs to exclude chance; {least} of each would decide it"
        )
    if any(item.is_below_resolution for item in items):
        notes.append(f"below resolution: shorter than {quantity(RESOLUTION_S, 's')}, which no clock here resolves")
    return notes


def _looks(comparison: Comparison) -> str:
    """Return the number of tests, and how intervals are widened because of it."""
    count, alone = comparison.tests, quantities.confidence(comparison.resampling.confidence)
    if comparison.confidence == comparison.resampling.confidence:
        return f"{count} test{'' if count == 1 else 's'}, intervals of {alone}"
    rate = quantities.confidence(1 - comparison.resampling.confidence)
    return (
        f"{count} tests of means and of ranks, so intervals of {alone} are widened to "
        f"{quantities.confidence(comparison.confidence)}; at most {rate} of the differences reported should be false"
    )
