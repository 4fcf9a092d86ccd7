"""What a study runs: its cells, each a spec, and the seeds. Every design comes down to a plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from wblab.core.check import check_name, check_spec
from wblab.core.errors import InputError
from wblab.core.tables import from_table
from wblab.study.cells import Cell, Label

# How cells came about: the verb that makes such a study, and goes on with it.
Design = Literal["matrix", "explore", "trial", "advise", "verify", "twin", "bisect", "prove"]
MAX_RUNS = 100_000
CONTROL_BOUND_NS = 50_000_000
REPEATS = 2

Further = Literal["causes"]  # metrics that a study may ask for besides


@dataclass(frozen=True)
class Plan:
    """All cells, and the seeds that each is run with.

    control_bound_ns: a run whose control load stalls for longer is noisy. repeats: how often a noisy run is made
    again. metrics: what the table has besides. about: what its design needs to go on, as JSON.
    """

    name: str
    seeds: tuple[int, ...]
    cells: tuple[Cell, ...]
    control_bound_ns: int = CONTROL_BOUND_NS
    repeats: int = REPEATS
    metrics: tuple[Further, ...] = ()
    design: Design = "matrix"
    about: Mapping[str, Any] = field(default_factory=dict)

    def runs(self) -> list[tuple[Cell, int]]:
        """Return all runs, seed by seed: those of an interrupted study are spread over the cells."""
        return [(cell, seed) for seed in self.seeds for cell in self.cells]

    def to_json(self) -> dict[str, Any]:
        """Return it as study.json has it: complete, whatever becomes of the files that it was made from."""
        own = {"control_bound_ns": self.control_bound_ns, "repeats": self.repeats, "metrics": list(self.metrics)}
        cells = [cell.to_json() for cell in self.cells]
        return {
            "design": self.design,
            "name": self.name,
            "seeds": list(self.seeds),
            **own,
            "about": dict(self.about),
            "cells": cells,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Plan":
        """Return what `to_json` has written. Raises InputError for what the lab did not write."""
        try:
            cells = tuple(map(Cell.from_json, value["cells"]))
            given = {key: value[key] for key in ("name", "seeds", "control_bound_ns", "repeats")}
            head = from_table(_Head, given | {"metrics": value.get("metrics", [])}, exact=True)
            about = value.get("about", {})
            if not isinstance(about, dict):
                raise TypeError("about is no table")
            check_head(head.name, head.seeds, head.control_bound_ns, head.repeats)
            _check_cells(cells, len(head.seeds))
            numbers = (head.control_bound_ns, head.repeats)
            return cls(head.name, head.seeds, cells, *numbers, head.metrics, value["design"], about)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"it holds no study of the lab ({type(error).__name__}: {error})") from None


@dataclass(frozen=True, kw_only=True)
class _Head:
    name: str
    seeds: tuple[int, ...]
    control_bound_ns: int
    repeats: int
    metrics: tuple[Further, ...] = ()


def check_head(name: str, seeds: Sequence[int], control_bound_ns: int, repeats: int) -> None:
    """Raise InputError for a name, seeds or bounds that no study can have."""
    check_name(name, "name")
    if not seeds:
        raise InputError("seeds: none given")
    if len(set(seeds)) < len(seeds):
        raise InputError("seeds: the same seed is given twice, and would give the same run twice")
    for seed in seeds:
        if not 0 <= seed < 2**63:
            raise InputError(f"seeds: {seed} is not between 0 and 2^63 - 1")
    if not 0 <= repeats <= 100:
        raise InputError(f"repeats: {repeats} is not between 0 and 100")
    if control_bound_ns <= 0:
        raise InputError("control_bound: must be longer than 0")


def seeds_of(value: object) -> object:
    """Return the seeds as a list where a number says how many; anything else is for the table's check."""
    if isinstance(value, int) and not isinstance(value, bool):
        if not 0 < value <= MAX_RUNS:
            raise InputError(f"seeds: {value} of them cannot be run: give between 1 and {MAX_RUNS}")
        return list(range(1, value + 1))
    return value


def _check_cells(cells: Sequence[Cell], seeds: int) -> None:
    """Raise InputError unless these could be the cells of a study: their names are those of files."""
    if len(cells) * seeds > MAX_RUNS:
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
