"""Fit the model of a device to a measurement, and tell how well it explains it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log, sqrt
from statistics import fmean, median

import numpy as np
from scipy.optimize import nnls
from scipy.stats import theilslopes

from wblab.live.disks.device import Device, Model, Stalls, find_stalls
from wblab.live.disks.plan import BURST, FLUSHED, SMALLEST, TOGETHER, DiskMeasurement, Step, quantile

AS_PREDICTED = 0.25  # a time counts as explained if it differs from the model's by at most this share
_NOTHING_S = 20e-6  # or by at most this: the program's own overhead
_FASTEST = 100e9  # bytes/s: above this, the slope is zero within error
_DEEPEST = 64
_TOLD_APART = 1.2  # ratio of two models' predictions from which they differ
_SOME_SEEK = 0.02  # of a request without a seek: a smaller seek time counts as none
_KNEE = 16  # consecutive slow writes that show a full cache
_SOME_CACHE = float(1 << 20)
_LONGER = 2.0  # ratio to a flush after one write
_MUCH_BETTER = 0.8  # ratio to the other model's error


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
    stalls = find_stalls(measured)
    unknown: dict[str, str] = {}
    plain = _requests(measured, stalls, is_cached=False)
    model = plain
    cached = _cached(measured, stalls)
    if cached and _error(measured, stalls, cached[0]) < _MUCH_BETTER * _error(measured, stalls, plain):
        model = cached[0]
        unknown |= cached[1]
    if not model.cache_bytes:
        unknown["cache_bytes"] = "none seen: a flush takes no longer after more writes"
    for key, rate in (("write_bps", model.write_bps), ("read_bps", model.read_bps)):
        if rate > _FASTEST / 2:
            unknown[key] = "unknown, but high: a request's size makes no difference"
    model, said = _with_depth(measured, model)
    unknown |= said
    if stalls.is_known:
        model = replace(model, stall_every=stalls.every, stall_s=stalls.time_s, is_even=stalls.is_even)
    elif stalls.excess_s:
        unknown["stall_every"] = f"{len(stalls.excess_s)} long writes: too few to tell how often they come"
    predicted = _predicted(measured, stalls, model)
    return Fit(model, _explained(measured, predicted), tuple(_rows(measured, predicted)), unknown)


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
        kinds.setdefault((step.series, step.action, step.size), []).append(number)
    return kinds


def _requests(measured: DiskMeasurement, stalls: Stalls, *, is_cached: bool) -> Model:
    """Return latency, seek time and rates: a line through the median times of the sizes, with one common latency."""
    lines, times = [], []
    for (series, action, size), numbers in _kinds(measured).items():
        if series not in ("write sequential", "write random", "read sequential", "read random"):
            continue
        took = [measured.device_ns(measured.steps[at]) / 1e9 for at in numbers if at not in stalls.excess_s]
        if not took:
            continue
        seeks = series.endswith("random") and not (is_cached and action == "write")
        lines.append([1.0, float(seeks), size * (action == "write"), size * (action == "read")])
        times.append(median(took))
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


def _cached(measured: DiskMeasurement, stalls: Stalls) -> tuple[Model, dict[str, str]] | None:
    """Return a model with a write cache, and what is unknown of it; None if no cache shows."""
    base = _requests(measured, stalls, is_cached=True)
    groups = _groups(measured)
    if len(groups) < 3:
        return None
    if not _flushes_grow(measured):  # hidden seeks may still reveal a cache
        said = "unknown: the medium is as fast as this could write"
        hidden = replace(base, cache_bytes=_SOME_CACHE, drain_bps=base.write_bps)
        has_seeks = base.seek_s >= (_TOLD_APART - 1) * base.latency_s
        return (hidden, dict.fromkeys(("cache_bytes", "drain_bps"), said)) if has_seeks else None
    slope_s = float(theilslopes([taken for _, taken in groups], [size for size, _ in groups]).slope)
    if slope_s <= 0:
        return None
    drain_bps = 1 / slope_s
    burst = [step for step in measured.steps if step.series == BURST and step.action == "write"]
    if not burst or drain_bps >= base.write_bps / _TOLD_APART:
        return None
    times = [measured.device_ns(step) / 1e9 for step in burst]
    on_bus_s, drained_s = base.latency_s + burst[0].size / base.write_bps, burst[0].size / drain_bps
    if drained_s > _TOLD_APART * on_bus_s:
        limit_s = sqrt(on_bus_s * drained_s)
        for place in range(len(times) - _KNEE):
            if times[place] > limit_s and median(times[place : place + _KNEE]) > limit_s:
                drain_bps = _rate(burst[place:], stalls, measured) or drain_bps
                held = _held(burst[: place + 1], drain_bps)
                return replace(base, cache_bytes=held, drain_bps=drain_bps), {}
    held = max(_held(burst[: place + 1], drain_bps) for place in range(0, len(burst), _KNEE))
    said = "at least this: it was never full; --max-bytes writes more"
    return replace(base, cache_bytes=held, drain_bps=drain_bps), {"cache_bytes": said}


def _flushes_grow(measured: DiskMeasurement) -> bool:
    """Whether a flush takes longer after more writes. If not, the medium is as fast as we could write."""
    times: dict[str, list[int]] = {}
    for step in measured.steps:
        if step.action == "flush":
            times.setdefault(step.series, []).append(measured.device_ns(step))
    few = times.get(f"{FLUSHED} 1", [])
    return bool(few) and max(median(taken) for taken in times.values()) > _LONGER * median(few)


def _has_flushes(measured: DiskMeasurement) -> bool:
    """Whether the kernel sends the disk flushes: it sends none to one that says it has no volatile cache."""
    flushes = [measured.device_ns(step) / 1e9 for step in measured.steps if step.action == "flush"]
    return not flushes or median(flushes) >= _NOTHING_S


def _held(steps: Sequence[Step], drain_bps: float) -> float:
    """Return how much an initially empty cache holds after these writes, in bytes."""
    passed_s = (steps[-1].at_ns + steps[-1].took_ns - steps[0].at_ns - steps[0].took_ns) / 1e9
    return max(sum(step.size for step in steps) - drain_bps * passed_s, float(steps[0].size))


def _rate(steps: Sequence[Step], stalls: Stalls, measured: DiskMeasurement) -> float:
    """Return the rate of writes without their stalls."""
    passed_s = (steps[-1].at_ns + steps[-1].took_ns - steps[0].at_ns - steps[0].took_ns) / 1e9
    chosen = {id(step) for step in steps[1:]}
    stopped_s = sum(time_s for number, time_s in stalls.excess_s.items() if id(measured.steps[number]) in chosen)
    return sum(step.size for step in steps[1:]) / max(passed_s - stopped_s, 1e-9)


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


def _with_depth(measured: DiskMeasurement, model: Model) -> tuple[Model, dict[str, str]]:
    """Return a model with the depth that explains concurrent reads, and a remark on it."""
    middle_s = {at_once: _middle_s(measured, f"{at_once} at once") for at_once in TOGETHER}
    known = {at_once: taken for at_once, taken in middle_s.items() if taken}
    if not known:
        return model, {"depth": "concurrent requests could not be measured here"}
    said = {depth: _together_s(replace(model, depth=depth), list(known)) for depth in range(1, _DEEPEST + 1)}
    if max(a / b for a, b in zip(said[1], said[_DEEPEST], strict=True)) < _TOLD_APART:
        return model, {"depth": "unknown: transferring the data takes all of the time"}
    errors = {
        depth: sum(log(a / b) ** 2 for a, b in zip(times, known.values(), strict=True)) for depth, times in said.items()
    }
    least = min(errors.values())
    fitting = [depth for depth, error in errors.items() if error <= least * 1.02 + 1e-6]
    depth = fitting[0]
    return replace(model, depth=depth), (
        {"depth": f"or more, up to {fitting[-1]}: no difference in what was measured"} if len(fitting) > 1 else {}
    )


def _together_s(model: Model, counts: Sequence[int]) -> list[float]:
    return [Device(model).read([2 * SMALLEST * place for place in range(1, count + 1)], SMALLEST) for count in counts]


def _middle_s(measured: DiskMeasurement, series: str) -> float:
    times = measured.took_ns(series)
    return median(times) / 1e9 if times else 0.0


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
