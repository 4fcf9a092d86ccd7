"""From a matrix's file to its cells: every combination of its axes, each a spec of its own. Runs nothing.

base = "base-device"                  # a preset, a TOML file or a run directory
seeds = 10                            # 1 to 10, or a list of them
metrics = ["causes"]                  # what the table of results has besides: the paused time by cause
[set]                                 # for all cells
"trace.events" = []
[axes]
"disk.scheduler" = ["none", "bfq"]    # any key of a spec
[axes.offender]                       # or levels with a name, each of which sets several keys
plain = {}
idle = { "load.l1.ioclass" = "idle", "load.l2.ioclass" = "idle" }
"""

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from wblab.core.check import check_name, check_spec
from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.core.tables import from_table, to_table
from wblab.core.units import Nanoseconds
from wblab.host.blame import is_wanted
from wblab.lab.specfile import is_record
from wblab.lab.tomlfile import read_toml
from wblab.study.cells import Cell, Label, check_keys, find_base, label, make_cell, start_table

BUILT = "built"  # `kernel = "built"`: every series that is built on this machine
MAX_RUNS = 100_000

Further = Literal["causes"]  # metrics that a matrix is asked for


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a matrix's file says beside its axes.

    base: the spec that all cells start from. seeds: how many, from 1, or which.
    control_bound: a run whose control load stalls for longer is noisy. repeats: how often a noisy run is made again;
    in virtual time the host cannot reach the guest, and nothing is repeated. metrics: what the table has besides; for
    the paused time by cause, the trace of each run is read.
    """

    name: str
    base: str
    seeds: tuple[int, ...]
    metrics: tuple[Further, ...] = ()
    control_bound: Nanoseconds = Nanoseconds(50_000_000)
    repeats: int = 2


@dataclass(frozen=True)
class Matrix:
    """All cells, and the seeds that each is run with."""

    name: str
    seeds: tuple[int, ...]
    cells: tuple[Cell, ...]
    control_bound_ns: int
    repeats: int
    metrics: tuple[Further, ...] = ()

    def runs(self) -> list[tuple[Cell, int]]:
        """Return all that is to run, seed by seed: what was done when it is interrupted is spread over the cells."""
        return [(cell, seed) for seed in self.seeds for cell in self.cells]


def read_matrix(path: Path, *, built: Sequence[str] = (), seeds: Sequence[int] = ()) -> Matrix:
    """Return the matrix in a file; `seeds` replace the file's. Raises InputError for all that is wrong with any cell.

    built: the kernels that stand for `kernel = "built"`.
    """
    table = read_toml(path, "matrix")
    table.setdefault("name", path.stem)
    try:
        return expand(table, path.parent, built=built, seeds=seeds)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def expand(table: dict[str, Any], folder: Path, *, built: Sequence[str] = (), seeds: Sequence[int] = ()) -> Matrix:
    """Return the matrix in a table; its base may be a path from `folder`. Raises InputError."""
    given = dict(table)
    axes = _axes(given.pop("axes", {}), built)
    given["seeds"] = list(seeds) or seeds_of(given.get("seeds", 1))
    common = given.pop("set", {})
    settings = from_table(Settings, given)
    _check_settings(settings)
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
    return _matrix(settings, cells)


def to_json(matrix: Matrix) -> dict[str, Any]:
    """Return a matrix as matrix.json keeps it: complete, whatever becomes of its file and its base."""
    cells = [{"name": cell.name, "levels": cell.levels, "spec": to_table(cell.spec)} for cell in matrix.cells]
    own = {"control_bound_ns": matrix.control_bound_ns, "repeats": matrix.repeats, "metrics": list(matrix.metrics)}
    return {"name": matrix.name, "seeds": list(matrix.seeds), **own, "cells": cells}


def from_json(value: Mapping[str, Any]) -> Matrix:
    """Return the matrix in a matrix.json. Raises InputError for one that the lab did not write."""
    try:
        cells = tuple(
            Cell(str(cell["name"]), dict(cell["levels"]), from_table(Spec, cell["spec"], exact=True))
            for cell in value["cells"]
        )
        given = {key: value[key] for key in ("name", "seeds", "repeats")}
        given |= {"base": "", "control_bound": value["control_bound_ns"], "metrics": value.get("metrics", [])}
        settings = from_table(Settings, given, exact=True)
        _check_settings(settings)
        _check_cells(cells, len(settings.seeds))
        return _matrix(settings, cells)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"it holds no matrix of the lab ({type(error).__name__}: {error})") from None


def _matrix(settings: Settings, cells: tuple[Cell, ...]) -> Matrix:
    return Matrix(settings.name, settings.seeds, cells, settings.control_bound, settings.repeats, settings.metrics)


def _check_cells(cells: Sequence[Cell], seeds: int) -> None:
    """Raise InputError unless the cells of a matrix.json could be those of a matrix: their names are those of files."""
    if not cells or len(cells) * seeds > MAX_RUNS:
        raise InputError(f"it has {len(cells)} cells and {seeds} seeds: give between 1 and {MAX_RUNS} runs")
    if len({cell.name for cell in cells}) < len(cells):
        raise InputError("it has several cells of one name")
    for cell in cells:
        if cell.levels.keys() != cells[0].levels.keys() or not all(map(_is_label, cell.levels.values())):
            raise InputError(f"the cell {cell.name!r} has no level on each axis")
        check_name(cell.name, "cell")
        check_spec(cell.with_seed(0))


def _is_label(value: object) -> bool:
    return isinstance(value, Label) and not isinstance(value, bool)


def seeds_of(value: object) -> object:
    """Return the seeds as a list where a number says how many; anything else is for the table's check."""
    if isinstance(value, int) and not isinstance(value, bool):
        if not 0 < value <= MAX_RUNS:
            raise InputError(f"seeds: {value} of them cannot be run: give between 1 and {MAX_RUNS}")
        return list(range(1, value + 1))
    return value


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


def _check_settings(settings: Settings) -> None:
    check_name(settings.name, "name")
    if not settings.seeds:
        raise InputError("seeds: none given")
    if len(set(settings.seeds)) < len(settings.seeds):
        raise InputError("seeds: the same seed is given twice, and would give the same run twice")
    for seed in settings.seeds:
        if not 0 <= seed < 2**63:
            raise InputError(f"seeds: {seed} is not between 0 and 2^63 - 1")
    if not 0 <= settings.repeats <= 100:
        raise InputError(f"repeats: {settings.repeats} is not between 0 and 100")
    if settings.control_bound <= 0:
        raise InputError("control_bound: must be longer than 0")


def _name(number: str, chosen: Sequence[tuple[Label, dict[str, Any]]]) -> str:
    """Return what a cell is called: its number, and its levels as far as they go into a file's name."""
    words = [re.sub(r"[^A-Za-z0-9.]+", "-", str(label)).strip("-.") for label, _ in chosen]
    return "-".join([number, *filter(None, words)])[:40].rstrip("-.")
