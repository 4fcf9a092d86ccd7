"""Factors of a design. A factor, a range or levels, maps a number between 0 and 1 to a value."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from wblab.core.errors import InputError
from wblab.core.units import parse_bytes, parse_rate, parse_time
from wblab.report.quantities import duration, quantity
from wblab.study.cells import Label

Scale = Literal["linear", "log"]
Unit = Literal["", "bytes", "bytes/s", "ns"]

BINS = 8  # a table shows a range in this many bins with equally many runs: bin floor(u * BINS)

_PARSERS: dict[Unit, Callable[[str], int]] = {"bytes": parse_bytes, "bytes/s": parse_rate, "ns": parse_time}


@dataclass(frozen=True)
class Level:
    """One value of a factor: its label in tables, the keys that it sets, and its number if it is numeric."""

    label: Label
    settings: dict[str, Any]
    number: float | int | None = None


@dataclass(frozen=True, kw_only=True)
class Range:
    """A numeric factor from `low` to `high`, both included, in `unit`: low, low + step, low + 2 step, and so on.

    key: the key of the spec that it sets; empty if only derived keys use it. step: at least 1 for whole numbers; 0 for
    other numbers, which allows every value.
    """

    name: str
    key: str
    low: float
    high: float
    scale: Scale = "linear"
    unit: Unit = ""
    step: float = 0

    ordered = True

    def level(self, u: float) -> Level:
        """Return the value at `u`, 0 <= u < 1."""
        number = self.number(u)
        return Level(number, {self.key: spec_value(number, self.unit)} if self.key else {}, number)

    def number(self, u: float) -> float:
        """Return the number at `u`, an integer for whole numbers."""
        if self.scale == "log":
            number = self.low * (self.high / self.low) ** u
            if self.step:
                number = self.low + round((number - self.low) / self.step) * self.step
        elif self.step:
            number = self.low + math.floor(u * (math.floor((self.high - self.low) / self.step) + 1)) * self.step
        else:
            number = self.low + u * (self.high - self.low)
        return int(number) if self.step and float(self.step).is_integer() else number

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of its bins, lowest first. A range of few values has a bin for each."""
        count = math.floor((self.high - self.low) / self.step) + 1 if self.step else math.inf
        if self.scale == "linear" and count <= 2 * BINS:
            return tuple(shown(self.number(place / count), self.unit) for place in range(int(count)))
        edges = [self.number(place / BINS) for place in range(BINS)] + [self.high]
        return tuple(f"{shown(low, self.unit)} – {shown(high, self.unit)}" for low, high in pairwise(edges))


@dataclass(frozen=True, kw_only=True)
class Levels:
    """A factor of separate levels, all equally likely. ordered: whether the levels have an order."""

    name: str
    levels: tuple[Level, ...]
    ordered: bool = False

    def level(self, u: float) -> Level:
        """Return the level at `u`, 0 <= u < 1."""
        return self.levels[int(u * len(self.levels))]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of its levels."""
        return tuple(str(level.label) for level in self.levels)


Factor = Range | Levels


def parse_number(value: object, where: str) -> tuple[float | int, Unit]:
    """Parse a number, or a text such as '4KiB', '2MiB/s' or '5s', and return it with its unit. Raises InputError."""
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return value, ""
    if isinstance(value, str):
        for unit, parse in _PARSERS.items():
            try:
                return parse(value), unit
            except InputError:
                continue
    raise InputError(
        f"{where}: {value!r} is not a number, size, rate or time: write for example 64, 4KiB, 2MiB/s or 5s"
    )


def spec_value(number: float | int, unit: Unit) -> Any:
    """Return a number as a spec's value: a time needs its unit."""
    return f"{number}ns" if unit == "ns" else number


def shown(number: float, unit: Unit) -> str:
    """Format a number for readers, with three digits."""
    return duration(number) if unit == "ns" else quantity(number, unit)
