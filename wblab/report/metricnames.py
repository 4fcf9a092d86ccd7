"""Names and units of metrics, by the ends of their names: longest_pause_s is a longest pause, in s."""

import re
from collections.abc import Iterable

_UNITS = {
    "s": "s",
    "bps": "bytes/s",
    "hz": "/s",
    "bytes": "bytes",
    "fraction": "share",
    "extents": "extents",
    "index": "times the least",
}


def unit_of(metric: str) -> str:
    """Return the unit of a metric, as in `quantities`; empty if its name has none."""
    return _UNITS.get(metric.rpartition("_")[2], "")


def metric_name(metric: str) -> str:
    """Return a metric's name in words: longest_pause_s -> longest pause."""
    return re.sub("_(s|bps|hz|bytes)$", "", metric).replace("_", " ").replace("p999", "p99.9")


def metric_of(name: str, known: Iterable[str]) -> str:
    """Return the known metric with this name, or with this name in words, as tables print it; else the name itself."""
    metrics = list(known)
    return name if name in metrics else next((metric for metric in metrics if metric_name(metric) == name), name)
