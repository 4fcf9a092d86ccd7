"""Numbers as people write them, with a unit or without: 1.3, "1.3 s", "14MiB", "300 ms", "40 %"."""

import math
import re
from dataclasses import dataclass

from wblab.core.errors import InputError

UNITS = {
    "": 1.0,
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "%": 0.01,
    "B": 1.0,
    "KiB": 1024.0,
    "MiB": 1024.0**2,
    "GiB": 1024.0**3,
    "KiB/s": 1024.0,
    "MiB/s": 1024.0**2,
}
_KINDS = ({"s", "ms", "us"}, {"%"}, {"B", "KiB", "MiB", "GiB"}, {"KiB/s", "MiB/s"}, {""})
_NUMBER = re.compile(r"(?<![\w.])([0-9]+(?:\.[0-9]+)?)(?: ?([KMG]iB/s|[KMG]iB|ms|us|s|B|%)(?![\w/]))?")
_LONGEST = 40
_MOST = 1e18
_DIGITS = 3
_ROUNDED_PERCENT = 15


@dataclass(frozen=True)
class Number:
    """A number in s, bytes, bytes/s or as a share. rounded: half of its last digit."""

    value: float
    rounded: float = 0.0

    def is_near(self, figure: float, percent: int) -> bool:
        """Whether it lies within so many per cent of a figure, or is the figure rounded, if not by too much."""
        off = abs(self.value - figure)
        return off <= abs(figure) * percent / 100 or off <= self.rounded <= abs(figure) * _ROUNDED_PERCENT / 100


def read(answer: object, unit: str) -> Number:
    """Return the number that an answer is; `unit` is that of one without a unit. Raises InputError."""
    if isinstance(answer, float) and 0 <= answer < _MOST:
        answer = f"{answer:f}".rstrip("0").removesuffix(".")
    text = str(answer).strip() if not isinstance(answer, int) or 0 <= answer < _MOST else "it"
    found = _NUMBER.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        raise InputError(f"{text[:_LONGEST]!r} is no number: write for example {_example(unit)}")
    given = found[2] or unit
    if not any({given, unit} <= kind for kind in _KINDS):
        raise InputError(f"{text!r} is not in {unit or 'plain numbers'}: write for example {_example(unit)}")
    return _number(found[1], given)


def cited(text: str, unit: str = "") -> list[Number]:
    """Return the numbers in a sentence; `unit` is that of one without a unit."""
    return [_number(digits, given or unit) for digits, given in _NUMBER.findall(text)]


def unit_of(text: str) -> str:
    """Return the unit at the end of a text; empty if there is none."""
    return next((unit for unit in sorted(UNITS, key=len, reverse=True) if unit and text.endswith(unit)), "")


def written(value: float, unit: str) -> str:
    """Return a figure with three digits that count, in a unit: 1.32 s."""
    number = value / UNITS[unit]
    digits = _DIGITS - 1 - math.floor(math.log10(abs(number))) if number else 0
    return f"{number:.{min(max(digits, 0), 6)}f} {unit}".strip()


def _number(digits: str, unit: str) -> Number:
    decimals = len(digits.partition(".")[2])
    return Number(float(digits) * UNITS[unit], 0.5 * 10**-decimals * UNITS[unit])


def _example(unit: str) -> str:
    return f'"1.5 {unit}"' if unit else "1.5"
