"""The figures of a run that lessons ask for, by name.

`LOAD.METRIC`: a metric of a load (wblab/analysis/runs/metrics.py), its paused time by cause among them.
`dirty.NAME`: of the page cache, in bytes: `background`, `threshold`, `limit` and `freerun` when the loads start;
`checked`, what was dirty or under writeback at the kernel's first decision on a writer, and `setpoint` then;
`throttled`, the same when it first made a task sleep; `most`, the most there was.
`rate.first`, `rate.last`: the base rate of the device at the first and the last such decision, in bytes/s.
`LOAD.dropped`: how many lines or requests a main loop dropped.
`PROGRAM.NAME`: what a program of a lesson measured.
Of several runs with as many seeds: those of the first, and `FIGURE.least`, `.most` and `.mean` over all of them.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wblab.analysis.runs.metrics import is_cause, metric_rows
from wblab.analysis.runs.pagecache import DirtyState, PageCache, Throttling, page_cache
from wblab.analysis.runs.run import Run
from wblab.analysis.why.explanations import cause_metrics
from wblab.core.errors import InputError, nearest
from wblab.core.layout import LEFT
from wblab.lab.formats import RUN, read_object

OVER = re.compile(r"\.(least|most|mean)$")


class LessonFigures(dict[str, float]):
    """The figures of a run. A cause of which a load has no pause is 0 s."""

    def __missing__(self, name: str) -> float:
        load, _, metric = OVER.sub("", name).rpartition(".")
        if is_cause(metric) and f"{load}.paused_s" in self:
            return 0.0
        raise InputError(f"the run has no figure {name!r}{nearest(name, list(self))}")


def figures(run: Run) -> LessonFigures:
    """Return all figures of a run. Raises InputError for a damaged one."""
    found = LessonFigures({f"{load}.{metric}": value for load, _, metric, value in metric_rows(run, cause_metrics)})
    found |= {f"{item.name}.dropped": float(item.dropped) for item in run.loads}
    if run.spec.trace.events:
        found |= _cache(page_cache(run), run.zero_ns)
    for path in sorted((run.path / LEFT).glob("*.json")):
        numbers = read_object(path, RUN.where)
        found |= {f"{path.stem}.{key}": float(value) for key, value in numbers.items()}
    return found


def over(runs: Sequence[LessonFigures]) -> LessonFigures:
    """Return the figures of several runs; of one, its own. Raises InputError for a figure that not all of them have."""
    if len(runs) == 1:
        return runs[0]
    found = LessonFigures(runs[0])
    for name in sorted({name for run in runs for name in run}):
        values = [run[name] for run in runs]
        found |= {f"{name}.least": min(values), f"{name}.most": max(values), f"{name}.mean": sum(values) / len(values)}
    return found


def _cache(cache: PageCache, zero_ns: int) -> dict[str, float]:
    """Return the figures of the page cache from the loads' start on."""
    state = cache.dirty_state.where(cache.dirty_state.ts_ns >= zero_ns)
    if not len(state):
        return {}
    background, threshold = float(state.background[0]), float(state.threshold[0])
    waiting = state.dirty + state.writeback
    # balance_dirty_pages() lets tasks go on below the middle of both thresholds: dirty_freerun_ceiling().
    found = {"dirty.background": background, "dirty.threshold": threshold, "dirty.limit": float(state.limit[0])}
    found |= {"dirty.freerun": (background + threshold) / 2, "dirty.most": float(waiting.max())}
    found |= _decided(cache.throttling.where(cache.throttling.ts_ns >= zero_ns), state, waiting)
    return found


def _decided(decisions: Throttling, state: DirtyState, waiting: NDArray[np.int64]) -> dict[str, float]:
    """Return the figures of the kernel's decisions on writers, which belong to the states before them."""

    def waiting_at(row: int) -> float:
        return float(waiting[max(0, int(np.searchsorted(state.ts_ns, decisions.ts_ns[row], side="right")) - 1)])

    if not len(decisions):
        return {}
    found = {"dirty.checked": waiting_at(0), "dirty.setpoint": float(decisions.setpoint[0])}
    if len(slept := np.flatnonzero(decisions.pause_ns > 0)):
        found["dirty.throttled"] = waiting_at(int(slept[0]))
    return found | {"rate.first": float(decisions.base_rate[0]), "rate.last": float(decisions.base_rate[-1])}
