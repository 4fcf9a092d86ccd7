"""The figures of a run that comparisons are made of: one row for each load and metric."""

from collections.abc import Iterable, Mapping

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
# For these more is better; of all others less.
MORE_IS_BETTER = frozenset({"cycle_rate_hz", "throughput_bps"})


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


def metrics_frame(run: Run) -> pd.DataFrame:
    """Return a run's metrics as a tidy table: run, load, kind, metric, value."""
    unplugged_s = unplug_s(run)
    rows = []
    for item in run.loads:
        found = load_metrics(item) | ({UNPLUG: unplugged_s[item.name]} if item.name in unplugged_s else {})
        rows += [(run.name, item.name, item.load.kind, metric, found[metric]) for metric in METRICS if metric in found]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def control_stall_s(run: Run) -> float:
    """Return the longest pause of the run's control loads, in s."""
    return control_stall_ns(run) / NS_PER_S


def is_noisy(run: Run, bound_ns: int = CONTROL_BOUND_NS) -> bool:
    """Return whether a run is noisy: a control load stalled for so long that the figures are those of the host."""
    return control_stall_ns(run) > bound_ns


def medians(table: pd.DataFrame, by: Iterable[str]) -> pd.DataFrame:
    """Return medians over runs: a row for each combination of `by` and load, a column for each metric."""
    wide = table.pivot_table(index=[*by, "load"], columns="metric", values="value", aggfunc="median")
    return wide.reindex(columns=[metric for metric in METRICS if metric in wide.columns])


def with_cell(table: pd.DataFrame, cell: Mapping[str, str | int | float]) -> pd.DataFrame:
    """Return a table with columns in front that say which cell of a matrix it is of."""
    result = table.copy()
    for place, (name, value) in enumerate(cell.items()):
        result.insert(place, name, value)
    return result
