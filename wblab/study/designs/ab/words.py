"""A comparison of kernels in words: the headline, and the words of each row. Both come from the same rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from wblab.analysis.runs.builds import SHARE
from wblab.analysis.runs.undecided import is_asked
from wblab.analysis.statistics.dominance import least_runs
from wblab.lab.printable import printable
from wblab.report.comparisontext import line
from wblab.report.metricnames import metric_name, unit_of
from wblab.report.quantities import numbers, percent, quantity
from wblab.study.designs.ab.figures import Figure, Figures
from wblab.study.designs.ab.result import Result

_MOST_LOADS = 3  # in a headline
_NOUNS = {"paused": "paused time"}  # of a metric's name that is none
_FIRST = "longest_pause_s"  # what users ask about first
PEERS = "The comparisons of mmtests, LKP and Phoronix time real machines, and do not repeat to the bit."


@dataclass(frozen=True)
class Row:
    """A figure in words. a, b: the means. gain: 1 for better, -1 for worse, 0 if nothing is claimed."""

    spec: str
    load: str
    metric: str
    a: str
    b: str
    difference: str
    interval: str
    relative: str
    size: str
    verdict: str
    gain: int
    claimed: bool
    seeds: int


def row(figure: Figure) -> Row:
    """Return a figure in words."""
    words, (a, b) = line(figure.difference), means(figure)
    return Row(
        spec=figure.pair.spec,
        load=words.load,
        metric=words.metric,
        a=a,
        b=b,
        difference=words.difference,
        interval=words.interval,
        relative=words.relative,
        size=words.size,
        verdict="as two builds differ" if figure.is_of_build else words.verdict,
        gain=figure.gain,
        claimed=figure.claimed,
        seeds=figure.seeds,
    )


def means(figure: Figure) -> tuple[str, str]:
    """Return both means, in one unit."""
    (a, b), name = numbers([figure.before, figure.after], unit_of(figure.about.metric))
    return f"{a} {name}".rstrip(), f"{b} {name}".rstrip()


def headline(found: Result) -> str:
    """Return which figures differ, the largest first; or how small a difference would have been seen."""
    steps = found.asked.steps
    said = of_figures(found.figures)
    if len(steps) > 1:
        changed = sum(bool(found.figures.of(number).claimed) for number in range(len(steps)))
        return f"{changed} of {len(steps)} steps change a figure. {said}"
    if not found.asked.same_program(steps[0]):
        return said
    if any(item.difference.claim for item in found.figures.rows):
        return f"A and B are the same program, byte for byte, and yet figures differ: do not trust this. {said}"
    return f"A and B are the same program, byte for byte. {said}"


def of_figures(found: Figures) -> str:
    """Return the headline of figures. It claims what a row claims, and nothing else."""
    rows = found.rows
    if not rows:
        return "Nothing was run: no step changes the program."
    if claimed := found.claimed:
        count = f"{len(claimed)} of {len(rows)} figures {'differ' if len(claimed) > 1 else 'differs'}."
        largest = "; ".join(_sentence(item) for item in _of_loads(claimed)[:_MOST_LOADS])
        return f"{count} {'The largest: ' if len(claimed) > 1 else ''}{largest}."
    if apart := [item for item in rows if item.is_open]:
        least = least_runs(1 - found.whole.confidence) if found.whole else 0
        return (
            f"Not decided: in {len(apart)} of {len(rows)} figures every run of one side is above every run of the "
            f"other, but so few runs can be chance; {least} seeds would decide."
        )
    if not any(item.difference.interval.known for item in rows):
        return f"Too few runs to claim anything: {min(item.seeds for item in rows)} of each side."
    return f"No difference is shown in {len(rows)} figures. {_reach(rows)}".rstrip()


def _of_loads(claimed: Sequence[Figure]) -> list[Figure]:
    """Return one figure of each load, in order: its longest pause if that is claimed, else its largest difference."""
    found: dict[tuple[int, str, str], Figure] = {}
    for item in claimed:
        key = item.pair.number, item.pair.spec, item.about.load
        if key not in found or item.about.metric == _FIRST:
            found[key] = item
    return list(found.values())


def _sentence(item: Figure) -> str:
    a, b = means(item)
    better = {1: ", better", -1: ", worse"}.get(item.gain, "")
    return f"{_where(item)}: {b} instead of {a}{better}"


def _where(item: Figure) -> str:
    metric = metric_name(item.about.metric)
    return f"{item.pair.spec}, {printable(item.about.load)}'s {_NOUNS.get(metric, metric)}"


def _reach(rows: Sequence[Figure]) -> str:
    """Return how small a difference would have been claimed, in the pauses of innocent loads."""
    known = [(max(SHARE, item.reach / item.before), item) for item in rows
             if is_asked(item.about) and item.reach is not None and item.before > 0]  # fmt: skip
    if not known:
        return ""
    shares = [share for share, _ in known]
    if max(shares) == SHARE:
        return f"Each of the {len(known)} figures of pauses would have shown a difference above {percent(SHARE)}."
    worst = max(known, key=lambda each: each[0])[1]
    unit = unit_of(worst.about.metric)
    where = _where(worst)
    return (
        f"Of the {len(known)} figures of pauses, half would have shown a difference above {percent(median(shares))}, "
        f"and all one above {percent(max(shares))} ({where}: {quantity(worst.reach or 0.0, unit)})."
    )


def counts(found: Figures) -> str:
    """Return how many figures differ, are not decided, and show no difference."""
    claimed, apart = len(found.claimed), sum(item.is_open for item in found.rows)
    rest = len(found.rows) - claimed - apart
    return f"{claimed} differ, {apart} not decided, {rest} show no difference"


def trust(found: Result) -> str:
    """Return why the figures can be trusted on another machine: what was checked, not what is promised."""
    if not found.is_virtual:
        return "The runs were made in real time: they depend on this machine, and do not repeat."
    count = len(found.repeated.same) + len(found.repeated.other)
    if found.repeated.other:
        return (
            f"{len(found.repeated.other)} of {count} runs that were made twice did not repeat to the bit "
            f"({', '.join(found.repeated.other)}): 'wblab rerun' shows the first difference."
        )
    return (
        f"The runs are in virtual time, which no machine's speed changes. With the same kernel, Python and trace-cmd "
        f"they repeat to the bit; checked here: {count} of {count} did. {PEERS}"
    )


def seeds(found: Result) -> str:
    """Return the number of seeds in words."""
    fewest, most = found.seeds
    return f"{most} seeds" if fewest == most else f"{fewest} to {most} seeds"
