"""What a measurement shows of limits: of requests served at once, of requests per second, and of bytes over time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf, log, sqrt
from statistics import median

from wblab.live.disks.device import Device, Model
from wblab.live.disks.flash import Stalls
from wblab.live.disks.plan import AFTER, BURST, FILE, LARGEST, SMALLEST, TOGETHER, DiskMeasurement, Step

Medians = dict[tuple[str, str, int], float]  # the median time of each kind of single request, in s

TOLD_APART = 1.2  # ratio of two models' predictions from which they differ
KNEE = 16  # consecutive slow writes that show a full cache, or that credits are used up
_DEEPEST = 64
_CEILING = 4  # the most requests at once: what they reach is the ceiling
_UNEXPLAINED = 0.04  # typical relative error of a model from which another one is looked for
_MUCH_BETTER = 0.25  # ratio to the other model's squared error
_FULL = 0.95  # share of the credits from which they count as used up
_FITTED = ("sequential", "random", "at once")  # series that rates, latency and depth come from
_AS_SLOW = 1.25  # ratio of two rates up to which they are the same

Words = dict[str, str]


def with_limits(
    measured: DiskMeasurement, model: Model, medians: Medians, with_iops: Callable[[float], Model]
) -> tuple[Model, Words]:
    """Return a model with the depth and the limit of requests per second that explain concurrent reads, and remarks.

    medians: of requests one at a time. with_iops: returns the model of requests that take at least a time in s.
    """
    middle_s = {at_once: _middle_s(measured, f"{at_once} at once") for at_once in TOGETHER}
    known = {at_once: taken for at_once, taken in middle_s.items() if taken}
    if not known:
        return model, dict.fromkeys(("depth", "iops"), "concurrent requests could not be measured here")
    plain, said, error = _with_depth(model, known)
    error += _error_of_single(model, medians)
    if sqrt(error / (len(known) + len(medians))) > _UNEXPLAINED:
        iops = median(at_once / known[at_once] for at_once in sorted(known)[-_CEILING:])
        limited = with_iops(1 / iops)
        found, said_then, error_then = _with_depth(limited, known)
        if error_then + _error_of_single(limited, medians) < _MUCH_BETTER * error:
            hidden = {} if found.latency_s else {"latency": "hidden by the limit of requests, or a part of the rates"}
            return found, said_then | hidden
    if plain.depth == 1 and min(plain.write_bps, plain.read_bps) * plain.latency_s > _CEILING * LARGEST:
        said |= {"iops": f"unknown: a limit of {1 / plain.latency_s:.0f} would look like this latency"}
    return plain, said


def _with_depth(model: Model, known: Mapping[int, float]) -> tuple[Model, Words, float]:
    """Return a model with the depth that explains concurrent reads, a remark, and the squared error of logarithms."""
    said = {depth: _together_s(replace(model, depth=depth), list(known)) for depth in range(1, _DEEPEST + 1)}
    errors = {
        depth: sum(log(a / b) ** 2 for a, b in zip(times, known.values(), strict=True)) for depth, times in said.items()
    }
    if max(a / b for a, b in zip(said[1], said[_DEEPEST], strict=True)) < TOLD_APART:
        takes_all = "the limit of requests" if model.iops < inf else "transferring the data"
        return model, {"depth": f"unknown: {takes_all} takes all of the time"}, errors[1]
    least = min(errors.values())
    fitting = [depth for depth, error in errors.items() if error <= least * 1.02 + 1e-6]
    depth = fitting[0]
    words = {"depth": f"or more, up to {fitting[-1]}: no difference in what was measured"} if len(fitting) > 1 else {}
    return replace(model, depth=depth), words, errors[depth]


def _error_of_single(model: Model, medians: Medians) -> float:
    """Return the squared error of a model's times of single requests, of logarithms."""
    total = 0.0
    for (series, action, size), took_s in medians.items():
        bps = model.write_bps if action == "write" else model.read_bps
        seeks = series.endswith("random") and not (action == "write" and model.cache_bytes)
        said_s = max(model.latency_s + seeks * model.seek_s + size / bps, 1 / model.iops)
        total += log(took_s / said_s) ** 2
    return total


def _together_s(model: Model, counts: Sequence[int]) -> list[float]:
    return [Device(model).read([2 * SMALLEST * place for place in range(1, count + 1)], SMALLEST) for count in counts]


def _middle_s(measured: DiskMeasurement, series: str) -> float:
    times = measured.took_ns(series)
    return median(times) / 1e9 if times else 0.0


# Credits: the disk becomes slow for good, for reads too, while a flush takes no longer.


def with_credits(measured: DiskMeasurement, model: Model, stalls: Stalls) -> tuple[Model, Words]:
    """Return a model of a disk without a cache, with its credits if they were used up, and remarks."""
    burst = [step for step in measured.steps if step.series == BURST and step.action == "write"]
    times = [measured.device_ns(step) / 1e9 for step in burst]
    usual_s = max(model.latency_s + LARGEST / model.write_bps, 1 / model.iops)
    place = knee(times, TOLD_APART * usual_s)
    if place is None or median(times[place:]) <= TOLD_APART * usual_s:
        return model, _faster_before(measured, usual_s)
    bps = rate(burst[place:], stalls, measured)
    reads = [took_ns / 1e9 for took_ns in measured.took_ns(AFTER)]
    read_s = max(model.latency_s + LARGEST / model.read_bps, 1 / model.iops)
    if not reads or median(reads) < TOLD_APART * read_s or not _as_slow(LARGEST / median(reads), bps):
        if early := _faster_before(measured, median(times)) if place < KNEE else {}:
            return model, early
        passed = sum(step.size for step in burst[:place]) >> 20
        said = f"none that a flush empties; but after {passed} MiB writes became slower for good, and reads did not"
        return model, {"cache_bytes": said}
    used = list(zip(measured.steps, _used(measured, bps), strict=True))
    held = median([taken for step, taken in used if step.series == BURST and step.offsets][place:])
    if any(taken > _FULL * held for step, taken in used if step.series.endswith(_FITTED)):
        said = "used up too early: rates, latency or depth are doubtful; wait for credits, and give less --max-bytes"
        return replace(model, burst_bytes=held, sustained_bps=bps), {"burst_bytes": said}
    return replace(model, burst_bytes=held, sustained_bps=bps), {}


def _used(measured: DiskMeasurement, bps: float) -> list[float]:
    """Return how many credits were used after each step, if they come back at this rate, in bytes."""
    used, all_used, ended_ns = 0.0, [], 0
    for step in measured.steps:
        used = max(used - bps * (step.at_ns - ended_ns) / 1e9, 0.0) + step.size * len(step.offsets)
        used = max(used - bps * step.took_ns / 1e9, 0.0)
        ended_ns = step.at_ns + step.took_ns
        all_used.append(used)
    return all_used


def _faster_before(measured: DiskMeasurement, usual_s: float) -> Words:
    """Return a remark if the disk had been faster than usual at first, when the file was written."""
    times = [measured.device_ns(step) / 1e9 for step in measured.steps if step.series == FILE and step.offsets]
    first_s = median(times[: len(times) // 4] or [usual_s])
    if usual_s <= TOLD_APART * first_s:
        return {}
    then, later = (f"{LARGEST / time_s / 1e6:.3g}" for time_s in (first_s, usual_s))
    said = f"unknown: at first {then} MB/s were written, then {later}: credits, perhaps, used up too early"
    return {"burst_bytes": f"{said}; wait until they are back, and give less --max-bytes"}


def knee(times: Sequence[float], limit_s: float) -> int | None:
    """Return the first place from which on times are above a limit; None if there is none."""
    for place in range(len(times) - KNEE):
        if times[place] > limit_s and median(times[place : place + KNEE]) > limit_s:
            return place
    return None


def rate(steps: Sequence[Step], stalls: Stalls, measured: DiskMeasurement) -> float:
    """Return the rate of writes without their stalls, in bytes/s."""
    passed_s = (steps[-1].at_ns + steps[-1].took_ns - steps[0].at_ns - steps[0].took_ns) / 1e9
    chosen = {id(step) for step in steps[1:]}
    stopped_s = sum(time_s for number, time_s in stalls.excess_s.items() if id(measured.steps[number]) in chosen)
    return sum(step.size for step in steps[1:]) / max(passed_s - stopped_s, 1e-9)


def _as_slow(a: float, b: float) -> bool:
    return max(a, b) <= _AS_SLOW * min(a, b)
