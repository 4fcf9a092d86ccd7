"""The measurements of a trial's runs, by cell and seed."""

import errno
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from tracecmd import TraceError

from wblab.analysis.groups.observations import read_table
from wblab.analysis.runs.metrics import MORE_IS_BETTER, UNPLUG
from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.run import read_run
from wblab.analysis.why.recorded import read_recorded
from wblab.claims.trial.plan import SCENARIO
from wblab.claims.trial.recommendations import Metric, Role, Wisdom
from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.core.units import NS_PER_S
from wblab.lab.formats import EXPERIMENT, RUN
from wblab.lab.results import STAGED
from wblab.study.cells import Cell, run_name
from wblab.study.store import Store

RISING = MORE_IS_BETTER | {"copied_bps"}  # metrics where more is better
TRACED: frozenset[Metric] = frozenset({"asked_sleep_s", "longest_sleep_s", "periodic_writebacks"})
_CANNOT_SET = "cannot set "  # wblab/guest/settings.py
_THROTTLED = "balance_dirty_pages"
_STARTED = "writeback_start"  # the flusher begins a work item (fs/fs-writeback.c: wb_writeback)

Figures = Mapping[tuple[str, str], float]  # of one run, by load and metric


@dataclass(frozen=True)
class TrialFigures:
    """The figures of all runs, by cell and seed. runs: the directory of the runs.

    refused: by cell, the setting that the kernel rejected. failed: by cell, any other reason why there is no run.
    """

    wisdom: Wisdom
    runs: Path
    figures: Mapping[str, Mapping[int, Figures]]
    refused: Mapping[str, str] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)

    def values(self, cell: Cell, role: Role, metric: Metric) -> dict[int, float]:
        """Return a metric of the loads with a role in the cell's scenario, by seed: the worst of several loads."""
        scenario = self.wisdom.scenario[str(cell.levels[SCENARIO])]
        found = {}
        for seed, figures in self.figures.get(cell.name, {}).items():
            if metric in TRACED:
                found[seed] = traced(self.runs / run_name(cell, seed), metric)
            elif (value := _figure(figures, cell.spec, scenario.loads.get(role, ()), metric)) is not None:
                found[seed] = value
        return found


def measured(store: Store, wisdom: Wisdom, read: Callable[[Path], Any] = read_table) -> TrialFigures:
    """Read the table of a trial. Raises InputError if it is damaged. read: reads the table of a study."""
    figures: dict[str, dict[int, dict[tuple[str, str], float]]] = {}
    table = read(store.path)
    columns = (table[name].tolist() for name in ("cell", "seed", "load", "metric", "value"))
    for cell, seed, load, metric, value in zip(*columns, strict=True):
        figures.setdefault(str(cell), {}).setdefault(int(seed), {})[load, metric] = float(value)
    reasons = _reasons(store, figures)
    refused = {cell: _refused(reason) for cell, reason in reasons.items() if is_refusal(reason)}
    failed = {cell: reason for cell, reason in reasons.items() if not is_refusal(reason)}
    return TrialFigures(wisdom, store.runs, figures, refused, failed)


def is_refusal(reason: str) -> bool:
    """Whether a run failed because the kernel rejected its setting: that is a result, not a failure."""
    return reason.startswith(_CANNOT_SET) and reason.endswith(os.strerror(errno.EINVAL))


def _refused(reason: str) -> str:
    return reason.removeprefix(_CANNOT_SET).split(" in the guest")[0]


def _reasons(store: Store, measured: Collection[str]) -> dict[str, str]:
    """Return the known reasons why cells have no run."""
    found = {}
    for cell in store.plan.cells:
        path = store.runs / f"{STAGED}{run_name(cell, 1)}" / EXPERIMENT
        if cell.name not in measured and path.is_file():
            found[cell.name] = str(RUN.read(path).get("reason", ""))
    return found


def _figure(figures: Figures, spec: Spec, loads: Sequence[str], metric: Metric) -> float | None:
    """Return the worst value of a metric among some loads; None if none has it.

    The time until the disk is done is one figure of a run; in the table it belongs to the offender that ended last.
    """
    if metric == UNPLUG:
        values = [value for (_, name), value in figures.items() if name == UNPLUG]
    elif metric == "copied_bps":
        values = [rate for load in loads if (rate := _copied_bps(figures, spec, load)) is not None]
    else:
        values = [figures[load, metric] for load in loads if (load, metric) in figures]
    if not values:
        return None
    return min(values) if metric in RISING else max(values)


def _copied_bps(figures: Figures, spec: Spec, load: str) -> float | None:
    """Return the rate of an offender's writes until all its data is on the disk, in bytes/s."""
    rate, rest_s = figures.get((load, "throughput_bps")), figures.get((load, UNPLUG))
    if not rate or rest_s is None:
        return None
    size = sum(spec.load[load].files.values())
    return size / (size / rate + rest_s)


@lru_cache(maxsize=4096)
def traced(path: Path, metric: Metric) -> float:
    """Return a metric from the trace of a run. Raises InputError if the trace cannot be read."""
    run = read_run(path)
    try:
        cache = page_cache(run)
        if metric == "asked_sleep_s":
            return int(cache.throttling.pause_ns.max(initial=0)) / NS_PER_S
        if metric == "periodic_writebacks":
            if _STARTED not in cache.trace.names:
                return 0.0
            return float(np.count_nonzero(cache.trace.events(_STARTED, ["for_kupdate"])["for_kupdate"]))
        recorded = read_recorded(run, cache=cache)
        stacks = [_THROTTLED in stack for stack in recorded.stacks.known]
        throttled = np.array(stacks)[recorded.offcpu.stack]
        slept_ns = (recorded.offcpu.woken_ns - recorded.offcpu.ts_ns)[throttled]
        return int(slept_ns.max(initial=0)) / NS_PER_S
    except TraceError as error:
        raise InputError(f"{path}: {error}") from None
