"""The explained pauses of a run, from the trace of a guest's run or the captures of a live one."""

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from wblab.analysis.runs.captures import captures
from wblab.analysis.runs.metrics import UNKNOWN_S, cause_metric
from wblab.analysis.runs.pagecache import PageCache, page_cache
from wblab.analysis.runs.pauses import DEFAULT_BOUND_NS
from wblab.analysis.runs.run import LoadCycles, Run
from wblab.analysis.why.account import account
from wblab.analysis.why.explain import Explanation, explain, without
from wblab.analysis.why.recorded import Recorded, explains, read_recorded
from wblab.core import rundir
from wblab.core.errors import InputError
from wblab.core.units import NS_PER_S
from wblab.lab.specfile import LiveSpec

# The paused time of loads by cause, as metrics of a run for tables and comparisons.


def cause_metrics(run: Run) -> dict[str, dict[str, float]]:
    """Return the paused time by cause, in s, of each load that is not an offender; it adds up to paused_s.

    The unknown part is always present. Empty for a run that did not record the causes of its pauses. Raises InputError
    for a damaged trace.
    """
    if not os.path.lexists(run.path / rundir.TRACE):
        return {}
    cache = page_cache(run)
    if not explains(cache):
        return {}
    recorded = read_recorded(run, cache=cache)
    return {item.name: _in_s(parts_of(recorded, item)) for item in run.loads if item.load.role != "offender"}


def parts_of(recorded: Recorded, item: LoadCycles) -> dict[str, int]:
    """Return the paused time of a load by cause, in ns; the most first."""
    total: Counter[str] = Counter()
    for row in np.flatnonzero(item.pauses_ns).tolist():
        start_ns, end_ns = (int(item.boundaries_ns[at]) for at in (row, row + 1))
        spent = account(recorded, item.pid, start_ns, end_ns)
        total.update(without(spent.parts, end_ns - start_ns - int(item.pauses_ns[row])))
    return dict(total.most_common())


def _in_s(parts: dict[str, int]) -> dict[str, float]:
    return {cause_metric(what): time_ns / NS_PER_S for what, time_ns in parts.items()} | (
        {} if UNKNOWN_S in map(cause_metric, parts) else {UNKNOWN_S: 0.0}
    )


@dataclass(frozen=True)
class Explained:
    """An explanation and the recording that it rests on."""

    explanation: Explanation
    recorded: Recorded


def explanations(run: Run, load: str = "", bound_ns: int = DEFAULT_BOUND_NS) -> list[Explained]:
    """Explain each pause over a bound, of one load or of all that are not offenders, in the order of time.

    A pause of a live run is explained by the capture that covers most of it; uncovered time is unknown. Raises
    InputError if nothing was recorded that explains a pause.
    """
    return explanations_of(run, [load], bound_ns)


def explanations_of(
    run: Run, loads: Iterable[str], bound_ns: int = DEFAULT_BOUND_NS, cache: PageCache | None = None
) -> list[Explained]:
    """Explain the pauses of several loads from one reading of the trace. cache: a guest's trace, if already read."""
    recordings = _recordings(run, cache)
    return [item for load in loads for item in _explained(run, recordings, load, bound_ns)]


def explain_all(run: Run, cache: PageCache) -> list[Explanation]:
    """Explain each pause over the default bound, of all loads; empty if nothing was recorded that explains it.

    cache: the run's trace. Raises InputError for a damaged trace.
    """
    if not (captures(run) if isinstance(run.spec, LiveSpec) else explains(cache)):
        return []
    return [item.explanation for item in explanations_of(run, [item.name for item in run.loads], cache=cache)]


def _recordings(run: Run, cache: PageCache | None) -> list[Recorded]:
    if not isinstance(run.spec, LiveSpec):
        return [read_recorded(run, cache=cache)]
    saved = captures(run)
    if not saved:
        raise InputError(f"{run.path} has no capture of a pause: repeat it as root with --capture-pauses 200ms")
    return [read_recorded(run, capture) for capture in saved]


def _explained(run: Run, recordings: Iterable[Recorded], load: str, bound_ns: int) -> list[Explained]:
    found = [[Explained(item, recorded) for item in explain(run, recorded, load, bound_ns)] for recorded in recordings]
    return [max(each, key=lambda item: _covered_ns(run, item)) for each in zip(*found, strict=True)]


def _covered_ns(run: Run, item: Explained) -> int:
    span_ns = (item.explanation.start_ns + run.zero_ns, item.explanation.end_ns + run.zero_ns)
    start_ns, end_ns = item.recorded.covered(*span_ns)
    return end_ns - start_ns - item.recorded.lost_ns(start_ns, end_ns)
