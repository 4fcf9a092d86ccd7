"""A cell: one combination of levels, with a spec that lacks only its seed."""

import copy
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from wblab.core.check import check_name, check_spec
from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.core.tables import from_table, to_table
from wblab.lab.formats import COLUMNS, OF_LOAD, ROW_COLUMNS
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_table, set_key, spec_of
from wblab.lab.sysctls import check_pairs

Label = str | int | float
_OWN_KEYS = {"name": "the matrix names its runs", "seed": "give seeds"}


@dataclass(frozen=True)
class Cell:
    """One combination of levels, by axis; `spec` lacks only the seed.

    may_lose: the trace may lose events, which otherwise fails a run.
    """

    name: str
    levels: dict[str, Label]
    spec: Spec
    may_lose: bool = False

    def with_seed(self, seed: int) -> Spec:
        """Return the spec of one run, named after the cell and the seed."""
        return replace(self.spec, seed=seed, name=run_name(self, seed))

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        content: dict[str, Any] = {"name": self.name, "levels": self.levels, "spec": to_table(self.spec)}
        return content | ({"may_lose": True} if self.may_lose else {})

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Cell":
        """Read the output of `to_json`. Raises InputError, KeyError, TypeError, ValueError."""
        spec = from_table(Spec, value["spec"], exact=True)
        return cls(str(value["name"]), dict(value["levels"]), spec, value.get("may_lose", False) is True)

    def __str__(self) -> str:
        return ", ".join(f"{axis} {level}" for axis, level in self.levels.items()) or self.name


def run_name(cell: Cell, seed: int) -> str:
    """Return the name of a run."""
    return name_of(cell.name, seed)


def name_of(cell: str, seed: int) -> str:
    """Return the name of a run of a cell with this name."""
    return f"{cell}-s{seed}"


def find_base(text: str, folder: Path) -> Path:
    """Return the file of the base spec; the text may be a path relative to `folder`. Raises InputError."""
    return SPECS.find(str(folder / text) if os.path.isfile(folder / text) else text)


def start_table(base: Path, common: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of a spec's file with the settings of all cells. Raises InputError."""
    start = read_table(base) | {"seed": 1}
    for key, value in common.items():
        set_key(start, key, copy.deepcopy(value))
    return start


def make_cell(
    start: Mapping[str, Any],
    name: str,
    chosen: Mapping[str, tuple[Label, Mapping[str, Any]]],
    further: Mapping[str, Any] = MappingProxyType({}),
    *,
    exact: bool,
) -> Cell:
    """Return a cell: a spec's table with the settings of one level of each axis. Raises InputError with the cell.

    further: more settings. exact: numbers are in the fields' own units, as in a run's record.
    """
    table = copy.deepcopy(dict(start)) | {"name": name}
    check_name(name, "cell")
    levels = {axis: label for axis, (label, _) in chosen.items()}
    where = ", ".join(f"{axis} = {label}" for axis, label in levels.items())
    try:
        together = [*(settings for _, settings in chosen.values()), further]
        check_pairs({key: value for settings in together for key, value in settings.items()})
        for settings in together:
            for key, value in settings.items():
                set_key(table, key, copy.deepcopy(value))
        spec = spec_of(table, exact=exact)
        if os.sep in spec.kernel.name:  # workers and a later --resume run elsewhere
            spec = spec.on(os.path.abspath(os.path.expanduser(spec.kernel.name)))
        check_spec(spec)
    except InputError as error:
        raise InputError(f"{error} (in the cell {where})" if where else str(error)) from None
    return Cell(name, levels, spec)


def check_keys(axes: Mapping[str, Mapping[Label, Mapping[str, Any]]], common: object) -> None:
    """Raise InputError unless each key is allowed and set only once. axes: settings of each level of each axis."""
    if not isinstance(common, Mapping):
        raise InputError(f"set must be a table, not {common!r}")
    owner = dict.fromkeys(common, "[set]")
    for axis, levels in axes.items():
        for key in {key for level in levels.values() for key in level}:
            if key in owner and owner[key] != "[set]":
                raise InputError(f"axes: both {owner[key]} and {axis} set {key!r}: keep one")
            owner[key] = axis
    for key, reason in _OWN_KEYS.items():
        if key in owner:
            raise InputError(f"{owner[key]}: {key!r} cannot be set: {reason}")
    for axis in axes:
        if axis in ("cell", "seed", *COLUMNS, *ROW_COLUMNS):
            raise InputError(f"axes: {axis!r} is already a column of the results: rename this axis")
        if OF_LOAD in axis:
            raise InputError(
                f"axes: {axis!r} would be the column of a load in the results: rename it without {OF_LOAD!r}"
            )


def label(value: object) -> Label:
    """Return the name of a level in the table of results."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return value
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    return json.dumps(value)
