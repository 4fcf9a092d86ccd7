"""From a matrix's file to its cells: every combination of its axes, each a spec of its own. Runs nothing.

base = "base-device"                  # a preset, a TOML file or a run directory
seeds = 10                            # 1 to 10, or a list of them
metrics = ["causes", "requests"]      # what the table has besides: the paused time by cause, each disk's requests
[set]                                 # for all cells
"trace.events" = []
[axes]
"disk.scheduler" = ["none", "bfq"]    # any key of a spec
[axes.offender]                       # or levels with a name, each of which sets several keys
plain = {}
idle = { "load.l1.ioclass" = "idle", "load.l2.ioclass" = "idle" }

A file may also extend another and use variables: see inherited.py.
"""

import itertools
import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wblab.core.errors import InputError, nearest
from wblab.core.tables import from_table
from wblab.core.units import Nanoseconds
from wblab.host.request import is_wanted
from wblab.lab.results import MATRICES
from wblab.lab.specfile import is_record, read_toml
from wblab.study.cells import Label, check_keys, find_base, label, make_cell, start_table
from wblab.study.designs.matrix import NAME
from wblab.study.plan import CONTROL_BOUND_NS, MAX_RUNS, REPEATS, Further, Plan, check_head, seeds_of

# What one matrix's file takes from another, and variables in its text, so that neither is written twice.
#
# extends = "daemon-commit"             # all of that matrix, except for the keys that this file has
# [vars]
# bandwidth = 8388608
# words = "rate ${bandwidth}"           # may use those above it; the file's own come before inherited ones
# [axes.daemon]
# "known" = { "agent.d.argv" = ["sh", "-c", "echo ${words}"] }

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


_ISSUED = "block:block_rq_issue"
BUILT = "built"  # `kernel = "built"`: every series that is built on this machine


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a matrix's file says beside its axes.

    base: the spec that all cells start from. seeds: how many, from 1, or which.
    control_bound: a run whose control load stalls for longer is noisy. repeats: how often a noisy run is made again;
    in virtual time the host cannot reach the guest, and nothing is repeated. metrics: what the table has besides; for
    these, the trace of each run is read.
    """

    name: str
    base: str
    seeds: tuple[int, ...]
    metrics: tuple[Further, ...] = ()
    control_bound: Nanoseconds = Nanoseconds(CONTROL_BOUND_NS)
    repeats: int = REPEATS


def read_matrix(path: Path, *, built: Sequence[str] = (), seeds: Sequence[int] = ()) -> Plan:
    """Return the matrix in a file; `seeds` replace the file's. Raises InputError for all that is wrong with any cell.

    built: the kernels that stand for `kernel = "built"`.
    """
    table = read_table(path)
    table.setdefault("name", path.stem)
    try:
        return expand(table, path.parent, built=built, seeds=seeds)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def expand(table: dict[str, Any], folder: Path, *, built: Sequence[str] = (), seeds: Sequence[int] = ()) -> Plan:
    """Return the matrix in a table; its base may be a path from `folder`. Raises InputError."""
    given = dict(table)
    axes = _axes(given.pop("axes", {}), built)
    given["seeds"] = list(seeds) or seeds_of(given.get("seeds", 1))
    common = given.pop("set", {})
    settings = from_table(Settings, given)
    check_head(settings.name, settings.seeds, settings.control_bound, settings.repeats)
    check_keys(axes, common)
    base = find_base(settings.base, folder)
    start, exact = start_table(base, common), is_record(base)
    combinations = list(itertools.product(*(levels.items() for levels in axes.values())))
    digits = len(str(len(combinations) - 1))
    names = (_name(f"{number:0{digits}}", combination) for number, combination in enumerate(combinations))
    chosen = (dict(zip(axes, combination, strict=True)) for combination in combinations)
    cells = tuple(make_cell(start, *cell, exact=exact) for cell in zip(names, chosen, strict=True))
    if "causes" in settings.metrics and not any(is_wanted(cell.spec) for cell in cells):
        raise InputError("metrics: no run would record why it is paused: give its cells trace.events, and trace.blame")
    if "requests" in settings.metrics and not all(_ISSUED in cell.spec.trace.events for cell in cells):
        raise InputError(f"metrics: requests are counted from the trace: give all cells {_ISSUED} in trace.events")
    numbers = (settings.control_bound, settings.repeats, settings.metrics)
    return Plan(settings.name, settings.seeds, cells, *numbers, design=NAME)


def _axes(value: object, built: Sequence[str]) -> dict[str, dict[Label, dict[str, Any]]]:
    """Return what each level of each axis sets, by axis and level."""
    if not isinstance(value, Mapping):
        raise InputError(f"axes must be a table, not {value!r}")
    axes: dict[str, dict[Label, dict[str, Any]]] = {}
    for axis, given in value.items():
        levels = list(built) if axis == "kernel" and given == BUILT else given
        if isinstance(levels, Mapping):
            axes[axis] = dict(_named_levels(axis, levels))
        elif isinstance(levels, list):
            axes[axis] = {label(level): {axis: level} for level in levels}
        else:
            raise InputError(f"axes.{axis} must be a list of values or a table of named levels, not {levels!r}")
        if not levels:
            raise InputError(f"axes.{axis} has no level" + (": no kernel is built" if given == BUILT else ""))
        if len(axes[axis]) < len(levels):
            raise InputError(f"axes.{axis} has the same level twice")
    runs = math.prod(len(levels) for levels in axes.values())
    if runs > MAX_RUNS:
        raise InputError(f"axes: {runs} cells are too many: at most {MAX_RUNS}")
    return axes


def _named_levels(axis: str, levels: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    for name, settings in levels.items():
        if not isinstance(settings, Mapping):
            raise InputError(
                f"axes.{axis}.{name} must be a table of keys, not {settings!r} (a key with dots is quoted)"
            )
    return [(name, dict(settings)) for name, settings in levels.items()]


def _name(number: str, chosen: Sequence[tuple[Label, dict[str, Any]]]) -> str:
    """Return what a cell is called: its number, and its levels as far as they go into a file's name."""
    words = [re.sub(r"[^A-Za-z0-9.]+", "-", str(label)).strip("-.") for label, _ in chosen]
    return "-".join([number, *filter(None, words)])[:40].rstrip("-.")
