"""Names and units of metrics, by the ends of their names: longest_pause_s is a longest pause, in s."""

import re

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
