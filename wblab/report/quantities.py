"""Quantities and intervals as text: the one place that decides units and digits.

A measured quantity has three significant digits, or two if it is below 1 in its unit: 15.5 s, 600 ms, 26.2 MiB, 99.7 %,
×0.43. Quantities that are shown together share one unit, in which the largest is at least 1. A whole number has no
decimals, because it is exact: 4 KiB. A small value that rounds to 0 is 0.00. A signed number has enough digits to show
its sign, and no share below 1 is shown as 100 %.

Sizes have binary prefixes, as in specs and pictures. This module needs only the standard library.
"""

import math
import re
from collections.abc import Iterable, Sequence
from statistics import median

# Names and units of metrics, by the ends of their names: longest_pause_s is a longest pause, in s.

_METRIC_UNITS = {
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
    return _METRIC_UNITS.get(metric.rpartition("_")[2], "")


def metric_name(metric: str) -> str:
    """Return a metric's name in words: longest_pause_s -> longest pause."""
    return re.sub("_(s|bps|hz|bytes)$", "", metric).replace("_", " ").replace("p999", "p99.9")


def metric_of(name: str, known: Iterable[str]) -> str:
    """Return the known metric with this name, or with this name in words, as tables print it; else the name itself."""
    metrics = list(known)
    return name if name in metrics else next((metric for metric in metrics if metric_name(metric) == name), name)


# A list within a sentence.


def enumerated(words: Sequence[str]) -> str:
    """Return words as a sentence lists them: "a, b and c"; empty without words."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def in_series(names: Sequence[str]) -> list[str]:
    """Return names with those of three or more in a row, such as r1, r2 and r3, as one: "r1 to r3".

    In the order of their first ones; names without such neighbours stay.
    """
    numbered = {name: (match[1], int(match[2])) for name in names if (match := _NUMBERED.fullmatch(name))}
    known, found = {place: name for name, place in numbered.items()}, list[str]()
    for name in names:
        prefix, number = numbered.get(name, ("", 0))
        low = high = number
        while (prefix, low - 1) in known:
            low -= 1
        while (prefix, high + 1) in known:
            high += 1
        is_row = name in numbered and high - low >= _ROW - 1
        said = f"{known[prefix, low]} to {known[prefix, high]}" if is_row else name
        found += [said] if said not in found else []
    return found


def grouped(names: Sequence[str], what: str) -> str:
    """Return names as a sentence lists them; more than three as a group: "six readers (r1 to r6)"."""
    if len(names) <= _MOST_LISTED:
        return enumerated(names)
    number = _NUMBERS[len(names)] if len(names) < len(_NUMBERS) else str(len(names))
    return f"{number} {what} ({enumerated(in_series(names))})"


_NUMBERED = re.compile(r"(.*?)(0|[1-9][0-9]{0,8})")
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ROW, _MOST_LISTED = 3, 3
_SIZES = ((1024.0**3, "GiB"), (1024.0**2, "MiB"), (1024.0, "KiB"), (1.0, "bytes"))
_UNITS: dict[str, tuple[tuple[float, str], ...]] = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "bytes": _SIZES,
    "bytes/s": tuple((factor, f"{name}/s") for factor, name in _SIZES),
    "share": ((0.01, "%"),),
}
_MOST_DECIMALS = 6
_DIGITS = 3
_WHOLE = 1e-9  # relative: a float this close to a whole number counts as whole
_NS_PER_S = 1e9
_MINUTE_S, _HOUR_S = 60, 3600
_MOST_S, _MOST_MINUTES = 100, 100  # an estimate below these is given in seconds, or in minutes


def fitting_unit(value: float, unit: str) -> tuple[float, str]:
    """Return the unit to show a value in, after its size in terms of `unit`: (0.001, "ms") for 0.02 s.

    unit: "s", "bytes", "bytes/s" or "share", which have prefixes; any other is kept.
    """
    units = _UNITS.get(unit, ((1.0, unit),))
    value = abs(value)
    fitting = (each for each in units if value >= each[0] * (1 - _WHOLE))
    return next(fitting, units[-1]) if value else next((each for each in units if each[0] == 1), units[0])


def numbers(values: Sequence[float], unit: str, *, signed: bool = False) -> tuple[tuple[str, ...], str]:
    """Return values as numbers in one unit, and that unit. signed: positive numbers have a plus sign."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    factor, name = fitting_unit(largest, unit)
    scaled = [value / factor for value in values]
    are_whole = all(map(_is_whole, scaled))
    texts = tuple(_number(value, largest / factor, is_whole=are_whole, signed=signed) for value in scaled)
    if unit == "share" and not signed:
        texts = tuple(_share(text, value) for text, value in zip(texts, scaled, strict=True))
    return texts, name


def quantity(value: float, unit: str, *, signed: bool = False) -> str:
    """Return a value with its unit: 0.0123 s is 12.3 ms. The unit × of a ratio comes before the number: ×0.43."""
    (text,), name = numbers([value], unit, signed=signed)
    return _with_unit(text, name)


def column(values: Sequence[float], unit: str) -> list[str]:
    """Return the values of a column, each with the unit that fits the largest."""
    texts, name = numbers(values, unit)
    return [_with_unit(text, name) for text in texts]


def listed(values: Sequence[float], unit: str) -> str:
    """Return several values in one unit: 1.20, 1.31, 12.4 s."""
    (*texts, last), name = numbers(values, unit)
    return ", ".join([*(_with_unit(text, name) if name == "×" else text for text in texts), _with_unit(last, name)])


def interval(  # noqa: PLR0913 - these are the parts of an interval
    estimate: float, low: float | None, high: float | None, unit: str, *, signed: bool = False, level: float = 0
) -> str:
    """Return an estimate with its interval, in one unit: 1.52 s (1.41 to 1.63).

    The interval is left out if it is unknown or has no width. level: the confidence to show: 1.52 s (95 %: 1.41 to
    1.63).
    """
    if low is None or high is None or low == high:
        return quantity(estimate, unit, signed=signed)
    (middle, *ends), name = numbers([estimate, low, high], unit, signed=signed)
    before = f"{confidence(level)}: " if level else ""
    return f"{_with_unit(middle, name)} ({before}{ends[0]} to {ends[1]})"


def spread(values: Sequence[float], unit: str) -> str:
    """Return the median of values, and the least to the most: 1.52 s (1.41 to 1.63)."""
    return interval(median(values), min(values), max(values), unit)


def span(low: float, high: float, unit: str, *, signed: bool = False) -> str:
    """Return two ends, or one value if they are equal: 1.41 to 1.63 s, ×0.41 to ×0.64."""
    if low == high:
        return quantity(low, unit, signed=signed)
    (first, last), name = numbers([low, high], unit, signed=signed)
    return f"{_with_unit(first, name) if name == '×' else first} to {_with_unit(last, name)}"


def duration(time_ns: float) -> str:
    """Return a duration given in ns: 1.28 s, 600 ms."""
    return quantity(time_ns / _NS_PER_S, "s")


def moment(time_ns: float) -> str:
    """Return a point on a run's time axis, given in ns, to the millisecond: 10.370 s."""
    return f"{time_ns / _NS_PER_S:.3f} s"


def size(size_bytes: float) -> str:
    """Return a number of bytes: 26.2 MiB, 4 KiB."""
    return quantity(size_bytes, "bytes")


def percent(share: float) -> str:
    """Return a share in per cent: 12.3 %; a dash if it is unknown."""
    return "–" if math.isnan(share) else quantity(share, "share")


def confidence(level: float) -> str:
    """Return a confidence in per cent, with two decimals or as many as show that it is below 100 %: 95 %, 99.997 %."""
    decimals = 2
    while level < 1 and round(100 * level, decimals) == 100 and decimals < _MOST_DECIMALS:
        decimals += 1
    return f"{100 * level:.{decimals}f}".rstrip("0").rstrip(".") + " %"


def about(time_s: float) -> str:
    """Return an estimated time with few digits: about 40 s, about 3 min, about 2.0 h."""
    if time_s < _MOST_S:
        return f"about {max(1, round(time_s))} s"
    if time_s < _MOST_MINUTES * _MINUTE_S:
        return f"about {round(time_s / _MINUTE_S)} min"
    return f"about {time_s / _HOUR_S:.1f} h"


def _with_unit(number: str, name: str) -> str:
    if not number[-1].isdigit():  # never, none: without a unit
        return number
    if number == "1" and name.isalpha() and len(name) > 2:
        name = name.removesuffix("s")  # of what is counted: 1 request
    return f"×{number}" if name == "×" else f"{number} {name}".rstrip()


def _is_whole(value: float) -> bool:
    return math.isfinite(value) and abs(value - round(value)) <= _WHOLE * max(1.0, abs(value))


def _number(value: float, largest: float, *, is_whole: bool, signed: bool) -> str:
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "never" if value > 0 else "none"
    sign = "+" if signed and value else ""
    decimals = 0 if is_whole or not value else _decimals(value, largest)
    while signed and decimals < _MOST_DECIMALS and value and not round(value, decimals):
        decimals += 1
    return f"{round(value, decimals) + 0.0:{sign}.{decimals}f}"


def _decimals(value: float, largest: float) -> int:
    """Return the number of decimals of a value that is shown with others up to `largest`."""
    if abs(value) >= 1 or not largest:
        return max(0, _DIGITS - 1 - _exponent(value))
    return min(max(_DIGITS - 1, _DIGITS - 2 - _exponent(largest)), _MOST_DECIMALS)


def _exponent(value: float) -> int:
    """Return the power of ten of a value's first digit, after rounding to _DIGITS digits."""
    return int(f"{value:.{_DIGITS - 1}e}".partition("e")[2])


def _share(text: str, percents: float) -> str:
    """Return the number of a share: below 100 it is never shown as 100, and it has at most two decimals."""
    hundredths = f"{round(percents, 2) + 0.0:.2f}"
    return hundredths if (text == "100" and percents < 100 * (1 - _WHOLE)) or len(text) > len(hundredths) else text
