"""Calls by layer, as tables for a notebook; times in µs."""

from collections.abc import Iterable, Sequence

import pandas as pd

from wblab.analysis.layers.functions import PREFIXES
from wblab.analysis.layers.requests import LayeredCall
from wblab.analysis.layers.summary import Summary, per_write, stephens_shares, time_shares

_NS_PER_US = 1000


def path_frame(calls: Iterable[LayeredCall]) -> pd.DataFrame:
    """Return what each call waited for and for how long; the longest first."""
    rows = [
        (call.call, " > ".join(path), time_ns / _NS_PER_US) for call in calls for path, time_ns in call.parts.items()
    ]
    return pd.DataFrame(rows, columns=["call", "waited for", "µs"]).set_index(["call", "waited for"])


def state_frame(found: Iterable[Summary]) -> pd.DataFrame:
    """Return medians and tails of each state, and its share of all time in %."""
    rows = [
        (
            *(item.load, item.call, state),
            *(time / _NS_PER_US for time in (spread.median_ns, spread.mean_ns, spread.tail_ns, spread.longest_ns)),
            100 * item.shares[state],
        )
        for item in found
        for state, spread in item.states.items()
    ]
    columns = ["load", "call", "state", "median", "mean", "99 %", "longest", "share (%)"]
    return pd.DataFrame(rows, columns=columns).set_index(columns[:3])


def prefix_frame(found: Sequence[Summary]) -> pd.DataFrame:
    """Return the sums by prefix for a write and its fsync, the time that they count repeatedly, and shares in %.

    The loads of all summaries count together.
    """
    summed, once = per_write(found, "prefixes"), per_write(found, "once")
    stephens, of_time = stephens_shares(found), time_shares(found)
    rows = []
    for layer in PREFIXES:
        times = (time_ns / _NS_PER_US for time_ns in (summed[layer], once[layer], summed[layer] - once[layer]))
        rows.append((layer, *times, 100 * stephens[layer], 100 * of_time[layer]))
    columns = ["prefix", "summed", "once", "repeated", "of the sums (%)", "of the time (%)"]
    return pd.DataFrame(rows, columns=columns).set_index("prefix").round(1)
