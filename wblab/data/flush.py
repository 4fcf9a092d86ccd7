"""The flush-time law: is the longest pause bounded by background threshold / throughput of the disk?

One table of runs in which both vary, and what it says: which cells break the bound, and how the longest pause grows
with either. The fit is of logarithms, pause = slope × background^a × throughput^b: relative errors are what is alike
from half a second to half a minute, and the law is a = 1, b = -1, slope at most 1.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from wblab.core.errors import InputError
from wblab.core.stacks import write_bps
from wblab.core.units import NS_PER_S
from wblab.data.run import Run, guest_spec
from wblab.data.statistics import DEFAULT, Interval, Resampling, interval
from wblab.data.throttling import flush_time_s

BACKGROUND, LIMIT = "vm.dirty_background_bytes", "vm.dirty_bytes"
# A file's share of a round of writeback, with a dirty limit below 32 MiB: writeback_chunk_size(), fs/fs-writeback.c.
CHUNK_BYTES = 4 << 20
# What a queue of 128 requests holds, the default with a scheduler, of 255 sectors each, the most that ubd takes.
QUEUE_BYTES = 128 * 255 * 512
_LEAST_S = 1 / NS_PER_S  # no pause at all has no logarithm
CELL = ["disk", "write_bps", "background_bytes"]


@dataclass(frozen=True)
class Fit:
    """How the longest pause of a run, of any innocent load, follows the flush time on one disk.

    slope: of pause = slope × flush time. background, throughput: the exponents when both are free, which the law says
    are 1 and -1; None where one of them does not vary. cells: how many.
    """

    disk: str
    slope: Interval
    background: Interval | None
    throughput: Interval | None
    cells: int

    @property
    def is_linear(self) -> bool | None:
        """Whether both exponents' intervals hold what the law says; None where they are not known."""
        sides = [_holds(self.background, 1.0), _holds(self.throughput, -1.0)]
        return None if None in sides else all(sides)


def flush_table(runs: Iterable[Run]) -> pd.DataFrame:
    """Return a row for each run and innocent load: disk, write_bps, both thresholds in bytes, flush_s, pause_s.

    pause_s is the longest. A disk is its model and its filesystem. Raises InputError for a run whose thresholds are
    ratios: what they amount to is not in its spec.
    """
    rows = []
    for run in runs:
        spec = guest_spec(run)
        background, limit = (int(run.spec.sysctl.get(key, 0)) for key in (BACKGROUND, LIMIT))
        if not background:
            raise InputError(f"{run.name} has no sysctl.{BACKGROUND}, so no flush time is known: set it in bytes")
        for item in run.loads:
            if item.load.role == "innocent":
                name = spec.disk_of(item.name)
                disk, rate_bps = spec.disk[name], write_bps(spec, name)
                if not rate_bps:
                    raise InputError(f"{run.name}: {item.name} writes to a disk in memory, which has no flush time")
                flush_s = float(flush_time_s(background, rate_bps))
                cell = (f"{disk.model} {disk.filesystem}", rate_bps, background, limit, flush_s, spec.seed)
                rows.append((*cell, item.name, int(item.pauses_ns.max()) / NS_PER_S))
    columns = [*CELL, "limit_bytes", "flush_s", "seed", "load", "pause_s"]
    return pd.DataFrame(rows, columns=columns)


def longest_of_any(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each run: the longest pause of any load."""
    return table.loc[table.groupby([*CELL, "seed"], sort=False)["pause_s"].idxmax()].reset_index(drop=True)


def cells_frame(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each cell and load: the pauses of its runs (s), how many are over the bound, the worst ratio."""
    groups = table.assign(over=table["pause_s"] > table["flush_s"]).groupby([*CELL, "flush_s", "load"], sort=False)
    of = {"runs": "size", "least_s": "min", "mean_s": "mean", "longest_s": "max"}
    frame = groups.agg(**{name: ("pause_s", how) for name, how in of.items()}, over=("over", "sum")).reset_index()
    return frame.assign(ratio=frame["longest_s"] / frame["flush_s"])


def fit_flush(table: pd.DataFrame, resampling: Resampling = DEFAULT) -> list[Fit]:
    """Return the fit of each disk, with intervals from resampling the seeds of each cell."""
    longest = longest_of_any(table)
    return [_fit(str(disk), part, resampling) for disk, part in longest.groupby("disk", sort=False)]


def _fit(disk: str, part: pd.DataFrame, resampling: Resampling) -> Fit:
    cells = list(part.groupby(CELL[1:], sort=False))
    logs = [np.log(np.maximum(runs["pause_s"].to_numpy(np.float64), _LEAST_S)) for _, runs in cells]
    keys = np.log(np.array([key for key, _ in cells], np.float64))  # throughput, background
    ratios = [log - (key[1] - key[0]) for log, key in zip(logs, keys, strict=True)]
    # A coefficient of least squares is a weighted sum of the cells' means, which is what there are intervals for.
    slope = interval(ratios, np.full(len(cells), 1 / len(cells)).tolist(), resampling)
    weights = np.linalg.pinv(np.column_stack([np.ones(len(cells)), keys]))
    varies = [len(set(column)) > 1 for column in keys.T.tolist()]
    throughput, background = (
        interval(logs, weights[place + 1].tolist(), resampling) if all(varies) else None for place in (0, 1)
    )
    return Fit(disk, _exp(slope), background, throughput, len(cells))


def _holds(found: Interval | None, value: float) -> bool | None:
    if found is None or found.low is None or found.high is None:
        return None
    return found.low <= value <= found.high


def _exp(found: Interval) -> Interval:
    """Return the interval of a number from that of its logarithm."""
    ends = [None if value is None else float(np.exp(value)) for value in (found.low, found.high)]
    return Interval(float(np.exp(found.estimate)), ends[0], ends[1], found.runs)


def ahead_bytes(table: pd.DataFrame) -> NDArray[np.float64]:
    """Return how much the disk writes during each pause, in bytes: what was ahead of somebody who waited."""
    ahead: NDArray[np.float64] = table["pause_s"].to_numpy(np.float64) * table["write_bps"].to_numpy(np.float64)
    return ahead
