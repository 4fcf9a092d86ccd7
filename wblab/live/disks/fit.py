"""Fit the model of a device to a measurement, and tell how well it explains it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log, sqrt
from statistics import fmean, median

import numpy as np
from scipy.optimize import nnls
from scipy.stats import theilslopes

from wblab.live.disks.device import Device, Model
from wblab.live.disks.flash import Stalls, erase_words, find_erase_blocks, find_stalls
from wblab.live.disks.limits import KNEE, TOLD_APART, Medians, knee, rate, with_credits, with_limits
from wblab.live.disks.plan import BURST, FILE, FLUSHED, LARGEST, SMALLEST, DiskMeasurement, Step, quantile

AS_PREDICTED = 0.25  # a time counts as explained if it differs from the model's by at most this share
_NOTHING_S = 20e-6  # or by at most this: the program's own overhead
_FASTEST = 100e9  # bytes/s: above this, the slope is zero within error
_SOME_SEEK = 0.02  # of a request without a seek: a smaller seek time counts as none
_SOME_CACHE = float(1 << 20)
_LONGER = 2.0  # ratio to a flush after one write
_MUCH_BETTER = 0.8  # ratio to the other model's error
_MANY_STALLS = 4  # so many at random are hardly ever missed
_ABOVE = 1.15  # ratio to the least time of all requests from which a request's own time shows
_SINGLE = ("write sequential", "write random", "read sequential", "read random")


@dataclass(frozen=True)
class FittedRow:
    """Requests of one kind: measured times, and the model's, in s."""

    what: str
    size: int
    count: int
    median_s: float
    slow_s: float  # 99th percentile
    model_s: float


@dataclass(frozen=True)
class Fit:
    """A model, the share of requests that it explains (see AS_PREDICTED), and what is unknown, in words by key."""

    model: Model
    explained: float
    rows: tuple[FittedRow, ...]
    unknown: dict[str, str]


def fit(measured: DiskMeasurement) -> Fit:
    """Return the model that fits a measured disk best."""
    erased = find_erase_blocks(measured)
    stalls = find_stalls(measured)
    medians = _medians(measured, stalls, without=("write random",) if erased else ())
    plain = _requests(medians)
    if erased:
        plain = replace(plain, erase_block=erased.size(plain.write_bps), open_blocks=erased.open_blocks)
        stalls = find_stalls(measured, plain.erase_block * (plain.open_blocks + 1))
    model, unknown = plain, dict[str, str]()
    cached = _cached(measured, stalls, _requests(medians, is_cached=True))
    if cached and _error(measured, stalls, cached[0]) < _MUCH_BETTER * _error(measured, stalls, plain):
        model = cached[0]
        unknown |= cached[1]
    if not model.cache_bytes:
        unknown["cache_bytes"] = "none seen: a flush takes no longer after more writes"
    unknown |= erase_words(measured, erased, model)

    def with_iops(least_s: float) -> Model:
        fitted = _requests(medians, is_cached=bool(model.cache_bytes), least_s=least_s)
        return replace(
            model,
            latency_s=fitted.latency_s,
            seek_s=fitted.seek_s,
            write_bps=fitted.write_bps,
            read_bps=fitted.read_bps,
            iops=1 / least_s,
        )

    model, said = with_limits(measured, model, medians, with_iops)
    unknown |= said
    if not model.cache_bytes:
        model, said = with_credits(measured, model, stalls)
        unknown |= said
    for key, bps in (("write_bps", model.write_bps), ("read_bps", model.read_bps)):
        if bps > _FASTEST / 2:
            unknown[key] = "unknown, but high: a request's size makes no difference"
    if stalls.is_known and _only_elsewhere(measured, stalls):
        unknown["stall_every"] = f"{len(stalls.excess_s)} long writes, few of them in sequences: erase blocks, perhaps"
    elif stalls.is_known:
        model = replace(model, stall_every=stalls.every, stall_s=stalls.time_s, is_even=stalls.is_even)
    elif stalls.excess_s:
        unknown["stall_every"] = f"{len(stalls.excess_s)} long writes: too few to tell how often they come"
    predicted = _predicted(measured, stalls, model)
    return Fit(model, _explained(measured, predicted), tuple(_rows(measured, predicted)), unknown)


def _only_elsewhere(measured: DiskMeasurement, stalls: Stalls) -> bool:
    """Whether a long burst had hardly any of the stalls that short series had."""
    burst = {number for number, step in enumerate(measured.steps) if step.series == BURST}
    return len(burst) * LARGEST > _MANY_STALLS * max(len(burst & stalls.excess_s.keys()), 1) * stalls.every


def _error(measured: DiskMeasurement, stalls: Stalls, model: Model) -> float:
    """Return how far a measurement is from a model: the typical ratio of times, averaged over kinds of requests."""
    predicted, has_flushes = _predicted(measured, stalls, model), _has_flushes(measured)
    errors = [
        median(abs(log(measured.device_ns(measured.steps[at]) / 1e9 / predicted[at])) for at in numbers)
        for (series, action, _), numbers in _kinds(measured).items()
        if not series.endswith("at once") and (has_flushes or action != "flush")
    ]
    return fmean(errors)


def _kinds(measured: DiskMeasurement) -> dict[tuple[str, str, int], list[int]]:
    """Return the indices of the steps of each kind: its series, action and size."""
    kinds: dict[tuple[str, str, int], list[int]] = {}
    for number, step in enumerate(measured.steps):
        if step.series != FILE:  # which also has the filesystem's own writes
            kinds.setdefault((step.series, step.action, step.size), []).append(number)
    return kinds


def _medians(measured: DiskMeasurement, stalls: Stalls, without: Sequence[str]) -> Medians:
    """Return the median time of each kind of single request but those of some series, in s."""
    times: Medians = {}
    for (series, action, size), numbers in _kinds(measured).items():
        took = [measured.device_ns(measured.steps[at]) / 1e9 for at in numbers if at not in stalls.excess_s]
        if series in _SINGLE and series not in without and took:
            times[series, action, size] = median(took)
    return times


def _requests(medians: Medians, *, is_cached: bool = False, least_s: float = 0.0) -> Model:
    """Return latency, seek time and rates: a line through the median times of the sizes, with one common latency.

    is_cached: whether writes take no seek's time. least_s: what each request takes at least, which hides its own time;
    if only one size takes longer, its latency is a part of the rates.
    """
    lines, times = [], []
    is_one = len({size for (_, _, size), took_s in medians.items() if took_s > _ABOVE * least_s}) == 1
    for (series, action, size), took_s in medians.items():
        if took_s > _ABOVE * least_s:
            seeks = series.endswith("random") and not (is_cached and action == "write")
            lines.append([float(not is_one), float(seeks), size * (action == "write"), size * (action == "read")])
            times.append(took_s)
    if not lines:
        return Model(write_bps=_FASTEST, read_bps=_FASTEST)
    weights = 1 / np.array(times)  # weights relative errors: short times count as much as long ones
    scale = np.array([1.0, 1.0, 1e-6, 1e-6])  # brings the unknowns to similar magnitudes for the solver
    found, _ = nnls(np.array(lines) * weights[:, None] * scale, np.ones(len(times)))
    latency_s, seek_s, write_s, read_s = map(float, found * scale)
    return Model(
        latency_s=latency_s,
        seek_s=seek_s if seek_s > _SOME_SEEK * (latency_s + SMALLEST * read_s) else 0.0,
        write_bps=1 / max(write_s, 1 / _FASTEST),
        read_bps=1 / max(read_s, 1 / _FASTEST),
    )


def _cached(measured: DiskMeasurement, stalls: Stalls, base: Model) -> tuple[Model, dict[str, str]] | None:
    """Return a model with a write cache, and what is unknown of it; None if no cache shows."""
    groups = _groups(measured)
    if len(groups) < 3:
        return None
    if not _flushes_grow(measured):  # hidden seeks may still reveal a cache
        said = "unknown: the medium is as fast as this could write"
        hidden = replace(base, cache_bytes=_SOME_CACHE, drain_bps=base.write_bps)
        has_seeks = base.seek_s >= (TOLD_APART - 1) * base.latency_s
        return (hidden, dict.fromkeys(("cache_bytes", "drain_bps"), said)) if has_seeks else None
    slope_s = float(theilslopes([taken for _, taken in groups], [size for size, _ in groups]).slope)
    if slope_s <= 0:
        return None
    drain_bps = 1 / slope_s
    burst = [step for step in measured.steps if step.series == BURST and step.action == "write"]
    if not burst or drain_bps >= base.write_bps / TOLD_APART:
        return None
    times = [measured.device_ns(step) / 1e9 for step in burst]
    on_bus_s, drained_s = base.latency_s + burst[0].size / base.write_bps, burst[0].size / drain_bps
    if drained_s > TOLD_APART * on_bus_s:
        limit_s = sqrt(on_bus_s * drained_s)
        place = knee(times, limit_s)
        if place is not None:
            drain_bps = rate(burst[place:], stalls, measured) or drain_bps
            held = _held(burst[: place + 1], drain_bps)
            return replace(base, cache_bytes=held, drain_bps=drain_bps), {}
    held = max(_held(burst[: place + 1], drain_bps) for place in range(0, len(burst), KNEE))
    said = "at least this: it was never full; --max-bytes writes more"
    return replace(base, cache_bytes=held, drain_bps=drain_bps), {"cache_bytes": said}


def _flushes_grow(measured: DiskMeasurement) -> bool:
    """Whether a flush takes longer after more writes. If not, the medium is as fast as we could write."""
    times: dict[str, list[int]] = {}
    for step in measured.steps:
        if step.action == "flush" and step.series != FILE:
            times.setdefault(step.series, []).append(measured.device_ns(step))
    few = times.get(f"{FLUSHED} 1", [])
    return bool(few) and max(median(taken) for taken in times.values()) > _LONGER * median(few)


def _has_flushes(measured: DiskMeasurement) -> bool:
    """Whether the kernel sends the disk flushes: it sends none to one that says it has no volatile cache."""
    flushes = [
        measured.device_ns(step) / 1e9 for step in measured.steps if step.action == "flush" and step.series != FILE
    ]
    return not flushes or median(flushes) >= _NOTHING_S


def _held(steps: Sequence[Step], drain_bps: float) -> float:
    """Return how much an initially empty cache holds after these writes, in bytes."""
    passed_s = (steps[-1].at_ns + steps[-1].took_ns - steps[0].at_ns - steps[0].took_ns) / 1e9
    return max(sum(step.size for step in steps) - drain_bps * passed_s, float(steps[0].size))


def _groups(measured: DiskMeasurement) -> list[tuple[int, float]]:
    """Return, for groups of writes that end in a flush, the bytes and the seconds up to the end of the flush."""
    groups: list[tuple[int, float]] = []
    size, begin_ns = 0, None
    for step in measured.steps:
        if not step.series.startswith(FLUSHED) and step.series != BURST:
            continue
        if step.action == "write":
            size, begin_ns = size + step.size, step.at_ns if begin_ns is None else begin_ns
        elif begin_ns is not None:
            groups.append((size, (step.at_ns + step.took_ns - begin_ns) / 1e9))
            size, begin_ns = 0, None
    return groups


def _predicted(measured: DiskMeasurement, stalls: Stalls, model: Model) -> list[float]:
    """Return the model's time for each step, issued at the same intervals."""
    device, times, ended_ns = Device(model), [], measured.steps[0].at_ns if measured.steps else 0
    has_flushes = _has_flushes(measured)
    for number, step in enumerate(measured.steps):
        device.wait((step.at_ns - ended_ns + min(measured.call_ns, step.took_ns)) / 1e9)
        if step.action == "flush":
            times.append(device.flush() if has_flushes else 0.0)
        elif step.action == "read":
            times.append(device.read(step.offsets, step.size))
        else:
            stall_s = (stalls.time_s or stalls.excess_s[number]) if number in stalls.excess_s else 0.0
            times.append(device.write(step.offsets[0], step.size, stall_s))
        ended_ns = step.at_ns + step.took_ns
    return [max(time_s, 1e-9) for time_s in times]


def _explained(measured: DiskMeasurement, predicted: Sequence[float]) -> float:
    """Return the share of requests that took the predicted time; each kind counts equally."""
    shares = []
    for numbers in _kinds(measured).values():
        pairs = ((measured.device_ns(measured.steps[at]) / 1e9, predicted[at]) for at in numbers)
        shares.append(fmean(abs(took_s - said_s) <= max(AS_PREDICTED * said_s, _NOTHING_S) for took_s, said_s in pairs))
    return fmean(shares) if shares else 0.0


def _rows(measured: DiskMeasurement, predicted: Sequence[float]) -> list[FittedRow]:
    rows = []
    for (series, action, size), numbers in _kinds(measured).items():
        times = [measured.device_ns(measured.steps[at]) for at in numbers]
        what = f"flush, {series}" if action == "flush" else series
        model_s = median(predicted[at] for at in numbers)
        rows.append(FittedRow(what, size, len(times), median(times) / 1e9, quantile(times, 0.99) / 1e9, model_s))
    return rows
