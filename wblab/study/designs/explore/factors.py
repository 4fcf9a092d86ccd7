"""Factors of a design. A factor, a range or levels, maps a number between 0 and 1 to a value."""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from wblab.core.errors import InputError, nearest
from wblab.core.units import parse_bytes, parse_rate, parse_time
from wblab.report.quantities import duration, quantity
from wblab.study.cells import Label

# Arithmetic in a design's file: compute a key of a spec from factors.
#
# A file may come from somebody else. Python's own parser reads an expression, but only numbers, names, arithmetic and a
# few functions are evaluated.

Number = int | float

UNITS = {
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
    "us": 10**3,
    "ms": 10**6,
    "s": 10**9,
}  # in bytes and in ns, like the factors
_FUNCTIONS: dict[str, Callable[..., Number]] = {
    "min": min,
    "max": max,
    "round": round,
    "floor": math.floor,
    "ceil": math.ceil,
}
_BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_LONGEST = 200  # characters; also limits the depth of the tree


def names(expression: str) -> set[str]:
    """Return the names of the factors in an expression. Raises InputError if it is not valid arithmetic."""
    tree = _parsed(expression)
    calls = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and id(node) not in calls and node.id not in UNITS
    }


def evaluate(expression: str, values: Mapping[str, Number]) -> int:
    """Return the value of an expression, rounded down: keys of a spec are whole numbers. Raises InputError."""
    try:
        return math.floor(_value(_parsed(expression), {**values, **UNITS}))
    except (ArithmeticError, ValueError, TypeError) as error:
        raise InputError(f"{expression!r} cannot be computed: {error}") from None


def _parsed(expression: str) -> ast.expr:
    if len(expression) > _LONGEST:
        raise InputError(f"{expression[:40]!r}… is too long: write at most {_LONGEST} characters")
    try:
        return ast.parse(expression, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        raise InputError(f"{expression!r} is not arithmetic: write for example 'limit * share'") from None


def _value(node: ast.expr, values: Mapping[str, Number]) -> Number:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return number
        case ast.Name(id=name):
            if name not in values:
                raise InputError(f"no numeric factor {name!r}{nearest(name, list(values))}")
            return values[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, values)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _BINARY:
            return _BINARY[type(sign)](_value(left, values), _value(right, values))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(argument, values) for argument in arguments))
    known = ", ".join(_FUNCTIONS)
    raise InputError(f"{ast.unparse(node)!r} is not arithmetic: use + - * / // %, {known}, factors and numbers")


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
class FactorRange:
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


Factor = FactorRange | Levels


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
