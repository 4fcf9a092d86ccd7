"""The figures of a run that comparisons are made of: one row for each load and metric."""

import re
from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pandas as pd

from wblab.core.units import NS_PER_S
from wblab.data.disks import unplug_s
from wblab.data.pauses import CONTROL_BOUND_NS, control_stall_ns, load_pauses
from wblab.data.run import LoadCycles, Run
from wblab.lab.formats import COLUMNS

QUANTILES = {"cycle_p50_s": 0.5, "cycle_p90_s": 0.9, "cycle_p99_s": 0.99, "cycle_p999_s": 0.999}
UNPLUG = "unplug_s"  # of a run, not of a load alone: see disks.unplug_s
# Tails first, means last: the order in which people should look.
METRICS = (
    "longest_pause_s",
    "wait_time_s",
    "paused_fraction",
    "paused_s",
    UNPLUG,
    *reversed(QUANTILES),
    "mean_cycle_s",
    "cycle_rate_hz",
    "throughput_bps",
)
# The paused time by cause, of runs that recorded it: cause_metric("throttled"). What is unknown is always among them.
_CAUSE, UNTOLD_S = "paused_", "paused_unknown_s"
# For these more is better; of all others less.
MORE_IS_BETTER = frozenset({"cycle_rate_hz", "throughput_bps"})

# What rooms above this one know of a run besides: metrics by load. See wblab/why/metrics.py.
Further = Callable[[Run], Mapping[str, Mapping[str, float]]]


def cause_metric(what: str) -> str:
    """Return the metric that says how long a load was paused by a kind of wait, or by what else it did, in s."""
    return f"{_CAUSE}{re.sub('[^a-z0-9]+', '_', what.lower())}_s"


def is_cause(metric: str) -> bool:
    """Return whether a metric is a part of the paused time."""
    return metric.startswith(_CAUSE) and metric not in METRICS


def load_metrics(item: LoadCycles) -> dict[str, float]:
    """Return the metrics of one load.

    Throughput only of an offender, in bytes/s from its first write to its end. The rate of cycles only where each waits
    for the disk by design: whole cycles (commits, reads) a second, in all its time. Its quantiles deceive there, as few
    cycles happen while each takes long.
    """
    figures = load_pauses(item, 0)
    first = 1 if item.load.role == "offender" else 0
    cycles_s = item.durations_ns[first:] / NS_PER_S
    if not len(cycles_s):
        return {}
    found = {
        "longest_pause_s": figures.longest_pause_s,
        "wait_time_s": figures.wait_time_s,
        "paused_fraction": figures.paused_fraction,
        "paused_s": figures.paused_s,
        "mean_cycle_s": float(cycles_s.mean()),
    }
    values = np.quantile(cycles_s, list(QUANTILES.values()), method="higher").tolist()
    found |= dict(zip(QUANTILES, values, strict=True))
    if item.load.waits_for_disk:
        whole = len(cycles_s) - (item.end in ("stopped", "halted"))  # the last was cut
        found["cycle_rate_hz"] = float(whole / cycles_s.sum())
    if item.load.role == "offender" and item.load.cycle_bytes:
        found["throughput_bps"] = float(len(cycles_s) * item.load.cycle_bytes / cycles_s.sum())
    return found


def metrics_frame(run: Run, further: Further | None = None) -> pd.DataFrame:
    """Return a run's metrics as a tidy table: run, load, kind, metric, value; with further ones behind each load's."""
    unplugged_s, more = unplug_s(run), further(run) if further else {}
    rows = []
    for item in run.loads:
        found = load_metrics(item) | ({UNPLUG: unplugged_s[item.name]} if item.name in unplugged_s else {})
        ordered = {metric: found[metric] for metric in METRICS if metric in found} | dict(more.get(item.name, {}))
        rows += [(run.name, item.name, item.load.kind, metric, value) for metric, value in ordered.items()]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def together(runs: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return the tables of some runs as one.

    A load whose paused time is told by cause gets 0 s for each cause that only other runs of it have; a run that did
    not record its causes gets none.
    """
    tables = list(runs)
    causes: dict[str, dict[str, None]] = {}
    for table in tables:
        rows = table[table["metric"].map(is_cause)]
        for load, metric in zip(rows["load"], rows["metric"], strict=True):
            causes.setdefault(load, {})[metric] = None
    return pd.concat([part for table in tables for part in (table, *_zeros(table, causes))], ignore_index=True)


def _zeros(table: pd.DataFrame, causes: Mapping[str, Iterable[str]]) -> Iterable[pd.DataFrame]:
    """Yield rows of 0 for the causes that loads of one run do not have, where they have any."""
    for load, metrics in causes.items():
        rows = table[table["load"] == load]
        own = set(rows["metric"])
        missing = [metric for metric in metrics if metric not in own]
        if UNTOLD_S in own and missing:
            zeros = rows.iloc[[0] * len(missing)]
            yield zeros.assign(metric=missing, value=0.0)


def control_stall_s(run: Run) -> float:
    """Return the longest pause of the run's control loads, in s."""
    return control_stall_ns(run) / NS_PER_S


def is_noisy(run: Run, bound_ns: int = CONTROL_BOUND_NS) -> bool:
    """Return whether a run is noisy: a control load stalled for so long that the figures are those of the host."""
    return control_stall_ns(run) > bound_ns


def medians(table: pd.DataFrame, by: Iterable[str]) -> pd.DataFrame:
    """Return medians over runs: a row for each combination of `by` and load, a column for each metric."""
    wide = table.pivot_table(index=[*by, "load"], columns="metric", values="value", aggfunc="median")
    known = [metric for metric in METRICS if metric in wide.columns]
    return wide.reindex(columns=[*known, *(metric for metric in wide.columns if metric not in METRICS)])


def with_cell(table: pd.DataFrame, cell: Mapping[str, str | int | float]) -> pd.DataFrame:
    """Return a table with columns in front that say which cell of a matrix it is of."""
    result = table.copy()
    for place, (name, value) in enumerate(cell.items()):
        result.insert(place, name, value)
    return result
