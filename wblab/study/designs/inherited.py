"""What one matrix's file takes from another, and variables in its text, so that neither is written twice.

extends = "daemon-commit"             # all of that matrix, except for the keys that this file has
[vars]
bandwidth = 8388608
words = "rate ${bandwidth}"           # may use those above it; the file's own come before inherited ones
[axes.daemon]
"known" = { "agent.d.argv" = ["sh", "-c", "echo ${words}"] }
"""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wblab.core.errors import InputError, nearest
from wblab.lab.results import MATRICES
from wblab.lab.spectoml import read_toml

_TABLES = ("vars", "set", "axes")
_VARIABLE = re.compile(r"\$\{([^}]*)\}")


def read_table(path: Path) -> dict[str, Any]:
    """Return the table of a matrix's file with what it inherits, its variables filled in. Raises InputError."""
    table = _extended(path, ())
    if "vars" not in table:
        return table
    try:
        values = _resolved(table.pop("vars"))
        return {key: _filled(value, values) for key, value in table.items()}
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _extended(path: Path, below: tuple[Path, ...]) -> dict[str, Any]:
    """Return the table of a file over that of the file that it extends; `below` are the files that lead to it."""
    table = read_toml(path, "matrix")
    if (name := table.pop("extends", None)) is None:
        return table
    if not isinstance(name, str):
        raise InputError(f"{path}: extends must name a matrix, not {name!r}")
    beside = path.parent / name
    other = MATRICES.find(str(beside) if os.path.isfile(beside) else name)
    if other.resolve() in (*below, path.resolve()):
        raise InputError(f"{path}: extends: {name!r} extends this matrix too: remove one of the lines")
    inherited = _extended(other, (*below, path.resolve()))
    inherited.pop("name", None)
    return {**inherited, **table, **{key: _joined(table, inherited, key) for key in _TABLES if key in inherited}}


def _joined(table: Mapping[str, Any], inherited: Mapping[str, Any], key: str) -> Any:
    """Return a table's own keys, then those that it inherits."""
    own, other = table.get(key, {}), inherited[key]
    if not isinstance(own, Mapping) or not isinstance(other, Mapping):
        return own  # refused later, as in any matrix
    return {**own, **{name: value for name, value in other.items() if name not in own}}


def _resolved(values: object) -> dict[str, str]:
    """Return the text of each variable, which may use those above it."""
    if not isinstance(values, Mapping) or not all(isinstance(value, str | int) for value in values.values()):
        raise InputError("vars must be a table of texts, whole numbers and truth values")
    found: dict[str, str] = {}
    for name, value in values.items():
        found[name] = _text(value, found) if isinstance(value, str) else json.dumps(value)
    return found


def _filled(value: Any, values: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _filled(item, values) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, values) for item in value]
    return _text(value, values) if isinstance(value, str) else value


def _text(text: str, values: Mapping[str, str]) -> str:
    for name in _VARIABLE.findall(text):
        if name not in values:
            raise InputError(f"no variable {name!r} in vars{nearest(name, list(values))}: define it above its use")
    return _VARIABLE.sub(lambda match: values[match[1]], text)
