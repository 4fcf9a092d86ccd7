"""Arithmetic in a design's file: compute a key of a spec from factors.

A file may come from somebody else. Python's own parser reads an expression, but only numbers, names, arithmetic and a
few functions are evaluated.
"""

import ast
import math
import operator
from collections.abc import Callable, Mapping

from wblab.core.errors import InputError, nearest

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
