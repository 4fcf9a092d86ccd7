"""The duration of an fsync as a function of the disk's latency: fsync = a + n · latency."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

import numpy as np
import pandas as pd

from wblab.analysis.layers.requests import layers
from wblab.analysis.runs.run import Run, guest_spec

_DISK = ["filesystem", "model", "load", "call"]


@dataclass(frozen=True)
class Line:
    """A least-squares fit of the calls' medians by latency: software_ns + served · latency.

    most_off_ns: the largest deviation from the fit.
    """

    software_ns: float
    served: float
    most_off_ns: float


def latency_frame(runs: Iterable[Run]) -> pd.DataFrame:
    """Return a row for each run, load and call: the disk, its latency, the medians of duration and `served`.

    Times are ns. Raises InputError for a run without layers.
    """
    rows = []
    for run in runs:
        spec, found = guest_spec(run), layers(run)
        for load, call in dict.fromkeys((each.load, each.call) for each in found):
            disk = spec.disk[spec.disk_of(load)]
            mine = [each for each in found if (each.load, each.call) == (load, call)]
            key = disk.filesystem, disk.model, load, call, int(disk.latency)
            rows.append((*key, median(each.duration_ns for each in mine), median(each.served for each in mine)))
    return pd.DataFrame(rows, columns=[*_DISK, "latency_ns", "median_ns", "served"])


def lines(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each disk, load and call of a `latency_frame` with several latencies: the Line and `served`."""
    rows = []
    for key, part in frame.groupby(_DISK, sort=False):
        if part["latency_ns"].nunique() > 1:
            line = fit_line(part["latency_ns"].to_numpy(np.float64), part["median_ns"].to_numpy(np.float64))
            seen = f"{part['served'].min():g} to {part['served'].max():g}"
            rows.append((*key, line.software_ns, line.served, line.most_off_ns, seen))
    return pd.DataFrame(rows, columns=[*_DISK, "software_ns", "slope", "most_off_ns", "served"]).set_index(_DISK)


def fit_line(latency_ns: np.ndarray, time_ns: np.ndarray) -> Line:
    """Fit a line through times by latency."""
    slope, software_ns = np.polyfit(latency_ns, time_ns, 1).tolist()
    return Line(software_ns, slope, float(np.abs(time_ns - software_ns - slope * latency_ns).max()))
