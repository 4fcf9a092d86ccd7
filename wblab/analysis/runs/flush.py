"""The flush-time law: is the longest pause bounded by background threshold / throughput of the disk?

The module tabulates runs in which both vary, finds the cells that exceed the bound, and fits the growth of the longest
pause. The fit is of logarithms, pause = slope × background^a × throughput^b, because relative errors are similar from
half a second to half a minute. The law says a = 1, b = -1, slope at most 1.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from wblab.analysis.runs.run import Run, guest_spec
from wblab.analysis.runs.throttling import flush_time_s
from wblab.analysis.statistics.intervals import DEFAULT, Interval, Resampling, interval
from wblab.core.errors import InputError
from wblab.core.stacks import write_bps
from wblab.core.units import NS_PER_S

BACKGROUND, LIMIT = "vm.dirty_background_bytes", "vm.dirty_bytes"
# The most that writeback takes from one file at a time, with a dirty limit below 32 MiB: writeback_chunk_size() in
# fs/fs-writeback.c.
CHUNK_BYTES = 4 << 20
# A full queue: 128 requests, the default with a scheduler, of 255 sectors each, the most that ubd takes.
QUEUE_BYTES = 128 * 255 * 512
_LEAST_S = 1 / NS_PER_S  # a pause of 0 has no logarithm
CELL = ["disk", "write_bps", "background_bytes"]


@dataclass(frozen=True)
class Fit:
    """The longest pause of any innocent load as a function of the flush time, on one disk.

    slope: of pause = slope × flush time. background, throughput: the exponents if both are fitted, 1 and -1 by the law;
    None if one of the two does not vary. cells: their number.
    """

    disk: str
    slope: Interval
    background: Interval | None
    throughput: Interval | None
    cells: int

    @property
    def is_linear(self) -> bool | None:
        """Whether both exponents' intervals include the law's values; None if they are unknown."""
        sides = [_holds(self.background, 1.0), _holds(self.throughput, -1.0)]
        return None if None in sides else all(sides)


def flush_table(runs: Iterable[Run]) -> pd.DataFrame:
    """Return a row for each run and innocent load: disk, write_bps, both thresholds in bytes, flush_s, pause_s.

    pause_s is the longest. A disk is named by model and filesystem. Raises InputError for a run whose thresholds are
    ratios, because its spec does not determine their bytes.
    """
    rows = []
    for run in runs:
        spec = guest_spec(run)
        background, limit = (int(run.spec.sysctl.get(key, 0)) for key in (BACKGROUND, LIMIT))
        if not background:
            raise InputError(f"{run.name} has no sysctl.{BACKGROUND}, so its flush time is unknown: set it in bytes")
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
    """Return a row for each cell and load: its runs' pauses (s), the number over the bound, and the worst ratio."""
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
    # A least-squares coefficient is a weighted sum of the cells' means, for which there are intervals.
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
    """Return the interval of a value from that of its logarithm."""
    ends = [None if value is None else float(np.exp(value)) for value in (found.low, found.high)]
    return Interval(float(np.exp(found.estimate)), ends[0], ends[1], found.runs)


def ahead_bytes(table: pd.DataFrame) -> NDArray[np.float64]:
    """Return how much the disk writes during each pause, in bytes: the I/O ahead of the waiting task."""
    ahead: NDArray[np.float64] = table["pause_s"].to_numpy(np.float64) * table["write_bps"].to_numpy(np.float64)
    return ahead
