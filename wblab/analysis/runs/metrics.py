"""The metrics of a run, as comparisons use them: one row for each load and metric."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from wblab.analysis.runs.blocks import REQUESTS, Submitted, submitted
from wblab.analysis.runs.fileextents import LAYOUT_METRICS, layout_metrics
from wblab.analysis.runs.names import unplug_s
from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.pauses import CONTROL_BOUND_NS, control_stall_ns, has_hosts_clock, load_pauses
from wblab.analysis.runs.run import LoadCycles, Run
from wblab.core.units import NS_PER_S
from wblab.lab.formats import COLUMNS

if TYPE_CHECKING:
    import pandas as pd


Row = tuple[str, str, str, float]  # load, its kind, metric, value

QUANTILES = {"cycle_p50_s": 0.5, "cycle_p90_s": 0.9, "cycle_p99_s": 0.99, "cycle_p999_s": 0.999}
UNPLUG = "unplug_s"  # of a run, not of a single load: see disks.unplug_s
# Tails first, means last: the order in which to read them.
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
    *LAYOUT_METRICS,
)
# The paused time by cause, for runs that recorded it: cause_metric("throttled"). The unknown part is always present.
_CAUSE, UNKNOWN_S = "paused_", "paused_unknown_s"
# For these, more is better; for all others, less.
MORE_IS_BETTER = frozenset({"cycle_rate_hz", "throughput_bps"})

# What two builds of one kernel differ by: less is no difference between kernels.
#
# Seeds do not reach all that decides a run. Where a timer fires depends on the build to fractions of a microsecond,
# and a tick of the kernel's clock rounds that up. It is the same with all seeds, so no number of seeds takes it out.
#
# Linux 7.2.11 with and without five filesystems, 15 presets, 3 to 20 seeds: 5 of 314 figures differed, by 1.7 to 4.6 %
# or by one tick.
OF_BUILDS_SHARE = 0.05
TICK_S = 0.01  # CONFIG_HZ=100
OF_BUILDS = (
    f"two builds of one kernel with other options differ too, in a few figures by up to {OF_BUILDS_SHARE:.0%} or by "
    f"one tick of its clock ({TICK_S * 1000:.0f} ms), with all seeds alike: smaller differences say nothing of a kernel"
).replace("%", " %")

# Further metrics by load, from packages above this one. See wblab/analysis/why/explanations.py.
Further = Callable[[Run], Mapping[str, Mapping[str, float]]]


def cause_metric(what: str) -> str:
    """Return the name of the metric of the time paused by a cause, in s."""
    return f"{_CAUSE}{re.sub('[^a-z0-9]+', '_', what.lower())}_s"


def is_cause(metric: str) -> bool:
    """Whether a metric is a part of the paused time."""
    return metric.startswith(_CAUSE) and metric not in METRICS


def load_metrics(item: LoadCycles) -> dict[str, float]:
    """Return the metrics of one load.

    Throughput: only for an offender, in bytes/s from its first write to its end. Rate of cycles: only for a load that
    waits for the disk by design, in whole cycles (commits, reads) per second of its time. Quantiles of such cycles
    mislead, because few cycles occur while each takes long.
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
        whole = len(cycles_s) - (item.end in ("stopped", "halted"))  # the last one was cut off
        found["cycle_rate_hz"] = float(whole / cycles_s.sum())
    if item.load.role == "offender" and item.load.cycle_bytes:
        found["throughput_bps"] = float(len(cycles_s) * item.load.cycle_bytes / cycles_s.sum())
    return found


def metric_rows(run: Run, further: Further | None = None) -> list[Row]:
    """Return a run's metrics, load by load, the further metrics of each load last."""
    unplugged_s, more = unplug_s(run), further(run) if further else {}
    rows = []
    for item in run.loads:
        found = load_metrics(item) | layout_metrics(run.files.get(item.name, {}))
        found |= {UNPLUG: unplugged_s[item.name]} if item.name in unplugged_s else {}
        ordered = {metric: found[metric] for metric in METRICS if metric in found} | dict(more.get(item.name, {}))
        rows += [(item.name, item.load.kind, metric, value) for metric, value in ordered.items()]
    return rows


def metrics_frame(run: Run, rows: Sequence[Row] | None = None) -> "pd.DataFrame":
    """Return a run's metrics, or the given rows of them, as a tidy table: run, load, kind, metric, value."""
    import pandas as pd

    found = metric_rows(run) if rows is None else rows
    return pd.DataFrame([(run.name, *row) for row in found], columns=list(COLUMNS))


def with_zeros(runs: Iterable[Sequence[Row]]) -> list[list[Row]]:
    """Return the rows of several runs, completed for one table.

    If a load's paused time is known by cause, it gets 0 s for each cause that occurs only in its other runs. A run that
    did not record causes gets none.
    """
    given = [list(rows) for rows in runs]
    causes: dict[str, dict[str, None]] = {}
    for rows in given:
        for load, _, metric, _ in rows:
            if is_cause(metric):
                causes.setdefault(load, {})[metric] = None
    return [[*rows, *_zeros(rows, causes)] for rows in given]


def _zeros(rows: Sequence[Row], causes: Mapping[str, Iterable[str]]) -> Iterable[Row]:
    """Yield rows of 0 for the causes that a run's loads lack, if they have any cause."""
    kinds, own = {row[0]: row[1] for row in rows}, {(row[0], row[2]) for row in rows}
    for load, metrics in causes.items():
        if (load, UNKNOWN_S) in own:
            yield from ((load, kinds[load], metric, 0.0) for metric in metrics if (load, metric) not in own)


def control_stall_s(run: Run) -> float:
    """Return the longest pause of the run's control loads, in s."""
    return control_stall_ns(run) / NS_PER_S


def is_noisy(run: Run, bound_ns: int = CONTROL_BOUND_NS) -> bool:
    """Whether a run is noisy: its control load stalled for so long that the host must have disturbed the figures.

    In virtual time the host cannot: there a stall is the guest's own, as on a stock kernel with several processors.
    """
    return has_hosts_clock(run) and control_stall_ns(run) > bound_ns


def medians(table: "pd.DataFrame", by: Iterable[str]) -> "pd.DataFrame":
    """Return medians over runs: a row for each combination of `by` and load, a column for each metric."""
    wide = table.pivot_table(index=[*by, "load"], columns="metric", values="value", aggfunc="median")
    known = [metric for metric in METRICS if metric in wide.columns]
    return wide.reindex(columns=[*known, *(metric for metric in wide.columns if metric not in METRICS)])


def with_cell(table: "pd.DataFrame", cell: Mapping[str, str | int | float]) -> "pd.DataFrame":
    """Return a table with leading columns that name its cell of a matrix."""
    result = table.copy()
    for place, (name, value) in enumerate(cell.items()):
        result.insert(place, name, value)
    return result


# The write requests that each disk got, as metrics of a run.

DISK = "disk"  # the kind of a row, and the name of the only disk


def request_rows(run: Run) -> list[Row]:
    """Return the write requests of each disk while the loads ran: see `rows_of`.

    Raises InputError for a run that did not trace block:block_rq_issue.
    """
    end_ns = max(int(item.boundaries_ns[-1]) for item in run.loads)
    return rows_of(submitted(page_cache(run), REQUESTS), run.zero_ns, end_ns)


def rows_of(requests: Submitted, start_ns: int, end_ns: int) -> list[Row]:
    """Return each disk's write requests per second of a span, and their mean size in bytes.

    A row's load is the disk's name. A disk without a write has no row.
    """
    writes = requests.where(requests.write & (requests.ts_ns >= start_ns) & (requests.ts_ns < end_ns))
    seconds = (end_ns - start_ns) / NS_PER_S
    rows = []
    for disk in dict.fromkeys(writes.disk.tolist()):
        own = writes.of(disk)
        rows += [
            (disk or DISK, DISK, "write_requests_hz", len(own.ts_ns) / seconds),
            (disk or DISK, DISK, "mean_write_request_bytes", float(own.size.mean())),
        ]
    return rows
