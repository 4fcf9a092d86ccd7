"""Summaries of many calls: medians and tails of their durations, states and waits."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal, TypeVar

import numpy as np

from wblab.analysis.layers.bylayer import LayeredCall
from wblab.analysis.layers.calls import Name, Path
from wblab.analysis.layers.stages import PREFIXES

_TAIL = 0.99
Key = TypeVar("Key")


@dataclass(frozen=True)
class Spread:
    """Times of some calls, in ns; a call without any counts as 0. tail: the 99 % quantile."""

    median_ns: float
    mean_ns: float
    tail_ns: float
    longest_ns: int


@dataclass(frozen=True)
class Summary:
    """All calls of a load with one name. served: the median; shares: of all time, by state.

    prefixes, once: means per call, in ns, as in LayeredCall; functions, entered: the same by function.
    """

    load: str
    call: Name
    count: int
    served: float
    duration: Spread
    states: Mapping[str, Spread]
    shares: Mapping[str, float]
    paths: Mapping[Path, Spread]
    functions: Mapping[str, float]
    entered: Mapping[str, float]
    prefixes: Mapping[str, float]
    once: Mapping[str, float]


def summaries(found: Iterable[LayeredCall]) -> list[Summary]:
    """Return a summary for each load and name of call, in the order of their first occurrence."""
    groups: dict[tuple[str, Name], list[LayeredCall]] = {}
    for call in found:
        groups.setdefault((call.load, call.call), []).append(call)
    return [_summary(*key, calls) for key, calls in groups.items()]


def per_write(found: Sequence[Summary], field: Literal["prefixes", "once"]) -> dict[str, float]:
    """Return a field of LayeredCall by prefix: the mean of a write together with its fsync, in ns."""
    writes = max(item.count for item in found)
    return {layer: sum(getattr(item, field)[layer] * item.count for item in found) / writes for layer in PREFIXES}


def stephens_shares(found: Sequence[Summary]) -> dict[str, float]:
    """Return each prefix's share of the three sums, as Stephens computes it, over all calls of the summaries."""
    sums = per_write(found, "prefixes")
    total = sum(sums.values())
    return {layer: value / total if total else 0.0 for layer, value in sums.items()}


def time_shares(found: Sequence[Summary]) -> dict[str, float]:
    """Return the share of the calls' time in which the caller slept in a function with each prefix."""
    total = sum(item.duration.mean_ns * item.count for item in found) / max(item.count for item in found)
    return {layer: value / total for layer, value in per_write(found, "once").items()}


def _summary(load: str, call: Name, found: list[LayeredCall]) -> Summary:
    total = sum(each.duration_ns for each in found)
    states = _spreads(found, lambda each: each.states)
    return Summary(
        load=load,
        call=call,
        count=len(found),
        served=median(each.served for each in found),
        duration=_spread([each.duration_ns for each in found]),
        states=states,
        shares={name: spread.mean_ns * len(found) / total for name, spread in states.items()},
        paths=_spreads(found, lambda each: each.parts),
        functions=_means(found, lambda each: each.functions),
        entered=_means(found, lambda each: each.entered),
        prefixes=_means(found, lambda each: each.prefixes),
        once=_means(found, lambda each: each.once),
    )


def _spreads(found: list[LayeredCall], of: Callable[[LayeredCall], Mapping[Key, int]]) -> dict[Key, Spread]:
    tables = [of(each) for each in found]
    keys = dict.fromkeys(key for table in tables for key in table)
    spreads = {key: _spread([table.get(key, 0) for table in tables]) for key in keys}
    return dict(sorted(spreads.items(), key=lambda item: -item[1].mean_ns))


def _means(found: list[LayeredCall], of: Callable[[LayeredCall], Mapping[str, int]]) -> dict[str, float]:
    return {key: spread.mean_ns for key, spread in _spreads(found, of).items()}


def _spread(times_ns: list[int]) -> Spread:
    values = np.array(times_ns, np.int64)
    return Spread(float(np.median(values)), float(values.mean()), float(np.quantile(values, _TAIL)), int(values.max()))
