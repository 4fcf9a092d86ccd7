"""Two groups of runs from one distribution: every difference between them that is claimed is false."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from wblab.analysis.groups.comparison import Comparison, compare
from wblab.analysis.groups.observations import Observations
from wblab.analysis.statistics.intervals import Resampling

_DATA = Path(__file__).resolve().parents[1] / "data" / "null"
_METRICS = ("longest_pause_s", "wait_time_s", "paused_s", "cycle_p99_s", "cycle_p999_s", "mean_cycle_s")
_LOADS = (("w1", "write"), ("mw1", "multiwrite"), ("l1", "load"), ("l2", "load"))
Values = np.ndarray
Random = np.random.Generator
FEW = Resampling(count=1000)  # resamples: enough for a rate, and four times as fast

# What figures of runs look like, and worse.
SHAPES: Mapping[str, Callable[[Random, int], Values]] = {
    "normal": lambda random, count: random.normal(10, 0.3, count),
    "skewed": lambda random, count: random.lognormal(0, 0.5, count),
    "heavy tail": lambda random, count: np.abs(random.standard_cauchy(count)),
    "ties": lambda random, count: random.integers(0, 3, count).astype(float),
    "short or long": lambda random, count: _two(random, count, 0.5) * random.normal(1, 0.001, count),
    "one of two values": lambda random, count: _two(random, count, 0.5),
    "rarely long": lambda random, count: _two(random, count, 0.1) * random.normal(1, 0.001, count),
    "no spread": lambda random, count: np.full(count, 3.0),
}


def _two(random: Random, count: int, share: float) -> Values:
    return np.where(random.random(count) < share, 15.0, 0.01)


def drawn(random: Random, shape: str, runs: int) -> dict[tuple[str, str, str], Values]:
    """Return the values of 24 independent metrics, of 2 x `runs` runs."""
    return {(*load, metric): SHAPES[shape](random, 2 * runs) for load in _LOADS for metric in _METRICS}


def recorded(random: Random, preset: str, runs: int) -> dict[tuple[str, str, str], Values]:
    """Return the metrics of 2 x `runs` runs, drawn from 40 that a preset gave with other seeds, on one kernel."""
    table = pd.read_csv(_DATA / f"{preset}.csv", index_col=["load", "kind", "metric"])
    chosen = table.iloc[:, random.permutation(table.shape[1])[: 2 * runs]].dropna()
    return {(str(a), str(b), str(c)): row for (a, b, c), row in zip(chosen.index, chosen.to_numpy(), strict=True)}


def halves(
    values: Mapping[tuple[str, str, str], Values],
    *,
    paired: bool = True,
    change: Callable[[Values], Values] = lambda values: values,
    resampling: Resampling = FEW,
) -> Comparison:
    """Return the comparison of the second half of the runs, changed, with the first. paired: they have equal seeds."""
    rows = []
    for (load, kind, metric), found in values.items():
        runs = len(found) // 2
        for group, part in (("a", found[:runs]), ("b", change(found[runs:]))):
            first = 1000 if group == "b" and not paired else 1
            rows += [(group, first + at, f"{group}{at}", load, kind, metric, float(v)) for at, v in enumerate(part)]
    columns = ["group", "seed", "run", "load", "kind", "metric", "value"]
    data = Observations(pd.DataFrame(rows, columns=columns), {"group": ("a", "b")}, ("group",), ())
    return compare(data, resampling)


def claims(found: Comparison) -> int:
    """Return how many differences are claimed."""
    return sum(item.claim != 0 for item in found.differences)
