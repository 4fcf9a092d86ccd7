"""The paused time of loads by cause, as metrics of a run for tables and comparisons."""

import os
from collections import Counter

import numpy as np

from wblab.analysis.runs.metrics import UNKNOWN_S, cause_metric
from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.run import LoadCycles, Run
from wblab.analysis.why.account import account
from wblab.analysis.why.explain import without
from wblab.analysis.why.recorded import Recorded, explains, read_recorded
from wblab.core import rundir
from wblab.core.units import NS_PER_S


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
