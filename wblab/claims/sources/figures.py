"""Figures that several groups of claims use, and claims about one figure of one case, or of two cases."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wblab.analysis.runs.names import unplug_s
from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.run import Run
from wblab.analysis.statistics.decision import Range
from wblab.analysis.why.account import UNEXPLAINED, account
from wblab.analysis.why.explain import call_of
from wblab.analysis.why.explanations import Explained, explanations_of
from wblab.claims.sources.claim import Claim, Measure, Samples
from wblab.claims.sources.sample import Sample
from wblab.core.errors import InputError
from wblab.core.layout import LEFT
from wblab.core.units import NS_PER_MS, NS_PER_S
from wblab.lab.formats import RUN, read_object
from wblab.report.quantities import percent
from wblab.study.statement import Verdict, judge, over_seeds, ratio

# The waits in long pauses of loads: of which kind, in which system call, and behind which task, from `why`.

INODE = "inode under writeback"  # a wait for I_SYNC: see wblab.analysis.why.kinds
_MOST_UNKNOWN = 0.5  # of paused time; it is more if the kernel records no stacks
_LEAST_SHOWN = 0.005


@dataclass(frozen=True)
class Waits:
    """Pauses over a threshold split by kind of wait, in ns; opens: the part in openat.

    inode_ns: time in which the load, or a task in the chain that blocks it, waited for an inode being written.
    """

    paused_ns: int
    parts: Mapping[str, int]
    opens: Mapping[str, int]
    inode_ns: int

    @property
    def inode_share(self) -> float:
        """The share of paused time spent waiting for an inode being written, in %."""
        return 100 * self.inode_ns / self.paused_ns

    @property
    def open_share(self) -> float:
        """The share of paused time spent in openat, in %."""
        return 100 * sum(self.opens.values()) / self.paused_ns


def waits_of(run: Run, names: Sequence[str], bound_ns: int) -> Waits | None:
    """Return the waits in these loads' pauses; None without pauses, or if nothing recorded explains them."""
    try:
        explained = explanations_of(run, names, bound_ns)
    except InputError:
        return None
    parts: Counter[str] = Counter()
    opens: Counter[str] = Counter()
    for item in explained:
        parts.update(item.explanation.parts)
        opens.update(_in_openat(run, item))
    chains = [chain for item in explained for chain in item.explanation.chains]
    inode_ns = sum(chain.time_ns for chain in chains if any(what == INODE for _, what in chain.links))
    paused_ns = parts.total()
    if not paused_ns or parts[UNEXPLAINED] > _MOST_UNKNOWN * paused_ns:
        return None
    return Waits(paused_ns, parts, opens, inode_ns)


def share_text(parts: Sequence[Mapping[str, int]], whole_ns: int) -> str:
    """Return the parts, added up, as text: each as a share of the whole, largest first."""
    total: Counter[str] = Counter()
    for each in parts:
        total.update(each)
    shares = [
        f"{what} {percent(time_ns / whole_ns)}"
        for what, time_ns in total.most_common()
        if time_ns > _LEAST_SHOWN * whole_ns
    ]
    return ", ".join(shares) or "nothing"


def _in_openat(run: Run, explained: Explained) -> Mapping[str, int]:
    """Return a pause's waits in openat, in ns by kind."""
    item, recorded = explained.explanation, explained.recorded
    span_ns = (item.start_ns + run.zero_ns, item.end_ns + run.zero_ns)
    found: Counter[str] = Counter()
    for wait in account(recorded, run.load(item.load).pid, *span_ns).waits:
        if call_of(recorded.sleep_stack(wait.row)) == "openat":
            found[wait.kind] += wait.time_ns
    return found


_SECTOR = 512

Figure = Callable[[Sample], float]


def left(sample: Sample, name: str) -> dict[str, float]:
    """Return the numbers that a program wrote in a run. Raises InputError."""
    found = read_object(sample.run.path / LEFT / name, RUN.where)
    return {key: float(value) for key, value in found.items()}


@dataclass(frozen=True)
class RequestsMoved:
    """The requests of a run: how many, and their bytes in all."""

    count: int
    bytes: int

    @property
    def mean(self) -> float:
        """Their mean size in bytes."""
        return self.bytes / max(self.count, 1)


def moved(sample: Sample, way: str, since_ns: int = 0) -> RequestsMoved:
    """Return the requests issued to the disk from a time on that read (R) or write (W) data."""
    events = page_cache(sample.run).trace.events("block_rq_issue", ["rwbs", "nr_sector"])
    sectors = events["nr_sector"].astype(np.int64)
    ways = np.array([way in flags for flags in events["rwbs"].tolist()], bool)
    wanted = ways & (sectors > 0) & (events.ts_ns >= since_ns)
    return RequestsMoved(int(wanted.sum()), int(sectors[wanted].sum()) * _SECTOR)


def requests_a_cycle(name: str, way: str) -> Figure:
    """Return the figure: requests to the disk for each whole cycle of a load."""

    def mean(sample: Sample) -> float:
        item = sample.run.load(name)
        return moved(sample, way, int(item.boundaries_ns[0])).count / (len(item.durations_ns) - 1)

    return mean


def longest_s(name: str) -> Figure:
    """Return the figure: a load's longest pause in s."""
    return lambda sample: sample.longest_s(name)


def median_ms(name: str) -> Figure:
    """Return the figure: a load's median pause in ms; for a load that waits by design, the time of its work."""
    return lambda sample: float(np.median(sample.run.load(name).pauses_ns)) / NS_PER_MS


def on_case(name: str, says: str, source: str, case: str, measure: Measure) -> Claim:
    """Return a claim about a figure of one case."""
    return Claim(name, says, source, (case,), measure.on(case))


def against(  # noqa: PLR0913, PLR0917 - a row of a table
    name: str, says: str, source: str, case: str, other: str, of: Figure, what: str, unit: str,
    compare: Callable[[float, float], float], holds: Range, wanted: str, note: str = "", *, is_log: bool | None = None,
) -> Claim:  # fmt: skip
    """Return a claim that compares a figure of two cases, seed by seed; see over_seeds for is_log."""

    def check(samples: Samples) -> Verdict:
        pairs = zip(samples[case], samples[other], strict=True)
        effect = over_seeds(what, unit, [compare(of(one), of(two)) for one, two in pairs], is_log=is_log)
        return judge(effect, holds, wanted, note)

    return Claim(name, says, source, (case, other), check)


def copy_s(sample: Sample) -> float:
    """Return how long a copy took until its writeback finished, in s."""
    run = sample.run
    return float(run.load("l1").boundaries_ns[-1] - run.offender_starts_ns()["l1"]) / NS_PER_S + unplug_s(run)["l1"]


def compared(measure: Measure, changed: str, before: str) -> Callable[[Samples], Verdict]:
    """Return the check that compares a figure of two cases, seed by seed."""

    def check(samples: Samples) -> Verdict:
        ones, others = ([measure.of(sample) for sample in samples[case]] for case in (changed, before))
        effect = ratio(measure.what, ones, others)
        return judge(effect, measure.holds, measure.wanted, measure.note)

    return check


def quotient(one: float, other: float) -> float:
    """Return one / other; infinity if the other is 0."""
    return one / other if other else float("inf")
