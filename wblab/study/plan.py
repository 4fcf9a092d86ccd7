"""The plan of a study: its cells, each with a spec, and the seeds. Every design produces a plan."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any, Literal, TypeVar

from wblab.core.check import check_name, check_spec
from wblab.core.errors import InputError
from wblab.core.tables import from_table
from wblab.lab.designs import designs
from wblab.study.cells import Cell, Label, run_name

# A shard: one of several equal parts of a study's runs, made where nothing is known of the others.

_MOST = 100_000
_TEXT = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})", re.ASCII)
T = TypeVar("T")


@dataclass(frozen=True)
class Shard:
    """Part `number` of `of`, counted from 1."""

    number: int
    of: int

    def __post_init__(self) -> None:
        """Raise InputError unless there is such a part."""
        if not 1 <= self.number <= self.of <= _MOST:
            raise InputError(f"{self} is no part: give I/N, with I from 1 to N, and N at most {_MOST}")

    def part(self, items: Sequence[T], name: Callable[[T], str]) -> list[T]:
        """Return the items of this part, in their order. Digests of names deal them: each part gets all kinds."""
        shuffled = sorted(range(len(items)), key=lambda place: sha256(name(items[place]).encode()).digest())
        return [items[place] for place in sorted(shuffled[self.number - 1 :: self.of])]

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def shard_of(text: str) -> Shard:
    """Read I/N. Raises InputError."""
    if not (found := _TEXT.fullmatch(text)):
        raise InputError(f"{text!r} is no part: give its number and how many there are, such as 3/64")
    return Shard(int(found[1]), int(found[2]))


MAX_RUNS = 100_000
CONTROL_BOUND_NS = 50_000_000
REPEATS = 2

Further = Literal["causes", "requests"]  # optional metrics of a study
# What is kept of a run: its directory; a row of figures with a digest; or the directories of those that fail, too.
Keep = Literal["traces", "digests", "failing"]


@dataclass(frozen=True)
class Plan:
    """All cells, and the seeds of each.

    control_bound_ns: a run whose control load stalls for longer is noisy. repeats: how often a noisy run is repeated.
    metrics: optional ones for the table. about: what the design needs to resume, as JSON. keep: what is kept of a run.
    shard: the part of the runs that this study makes; None: all.
    """

    name: str
    seeds: tuple[int, ...]
    cells: tuple[Cell, ...]
    control_bound_ns: int = CONTROL_BOUND_NS
    repeats: int = REPEATS
    metrics: tuple[Further, ...] = ()
    design: str = field(kw_only=True)
    about: Mapping[str, Any] = field(default_factory=dict)
    keep: Keep = "traces"
    shard: Shard | None = None

    def runs(self) -> list[tuple[Cell, int]]:
        """Return the runs, seed by seed, so that those of an interrupted study cover all cells."""
        runs = [(cell, seed) for seed in self.seeds for cell in self.cells]
        return self.shard.part(runs, lambda run: run_name(*run)) if self.shard else runs

    def to_json(self) -> dict[str, Any]:
        """Return the content of study.json. It does not depend on the files that the plan came from."""
        own = {"control_bound_ns": self.control_bound_ns, "repeats": self.repeats, "metrics": list(self.metrics)}
        shard = {"shard": asdict(self.shard)} if self.shard else {}
        cells = [cell.to_json() for cell in self.cells]
        return {
            "design": self.design,
            "name": self.name,
            "seeds": list(self.seeds),
            **own,
            "keep": self.keep,
            **shard,
            "about": dict(self.about),
            "cells": cells,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Plan":
        """Read the output of `to_json`. Raises InputError for anything else."""
        try:
            cells = tuple(map(Cell.from_json, value["cells"]))
            given = {key: value[key] for key in ("name", "seeds", "control_bound_ns", "repeats")}
            given |= {key: value[key] for key in ("metrics", "keep") if key in value}
            head = from_table(_Head, given, exact=True)
            about = value.get("about", {})
            if not isinstance(about, dict):
                raise TypeError("about is no table")
            check_head(head.name, head.seeds, head.control_bound_ns, head.repeats)
            _check_cells(cells, len(head.seeds))
            numbers = (head.control_bound_ns, head.repeats)
            shard = from_table(Shard, value["shard"], "shard") if "shard" in value else None
            if (design := value["design"]) not in designs():
                raise ValueError(f"the design {design!r} is not known")
            return cls(head.name, head.seeds, cells, *numbers, head.metrics, about, head.keep, shard, design=design)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"no study of the lab ({type(error).__name__}: {error})") from None


@dataclass(frozen=True, kw_only=True)
class _Head:
    name: str
    seeds: tuple[int, ...]
    control_bound_ns: int
    repeats: int
    metrics: tuple[Further, ...] = ()
    keep: Keep = "traces"


def check_head(name: str, seeds: Sequence[int], control_bound_ns: int, repeats: int) -> None:
    """Raise InputError for an invalid name, seeds or limits."""
    check_name(name, "name")
    if not seeds:
        raise InputError("seeds: none given")
    if len(set(seeds)) < len(seeds):
        raise InputError("seeds: a seed is given twice: its runs would be identical")
    for seed in seeds:
        if not 0 <= seed < 2**63:
            raise InputError(f"seeds: {seed} is not between 0 and 2^63 - 1")
    if not 0 <= repeats <= 100:
        raise InputError(f"repeats: {repeats} is not between 0 and 100")
    if control_bound_ns <= 0:
        raise InputError("control_bound: must be longer than 0")


def seeds_of(value: object) -> object:
    """Return the list of seeds for a number of seeds; any other value is checked later."""
    if isinstance(value, int) and not isinstance(value, bool):
        if not 0 < value <= MAX_RUNS:
            raise InputError(f"seeds: {value} is not between 1 and {MAX_RUNS}")
        return list(range(1, value + 1))
    return value


def _check_cells(cells: Sequence[Cell], seeds: int) -> None:
    """Raise InputError unless the cells are valid; their names become file names."""
    if len(cells) * seeds > MAX_RUNS:
        raise InputError(f"it has {len(cells)} cells and {seeds} seeds: give between 1 and {MAX_RUNS} runs")
    if len({cell.name for cell in cells}) < len(cells):
        raise InputError("several cells have the same name")
    for cell in cells:
        if cell.levels.keys() != cells[0].levels.keys() or not all(map(_is_label, cell.levels.values())):
            raise InputError(f"the cell {cell.name!r} has no level on each axis")
        check_name(cell.name, "cell")
        check_spec(cell.with_seed(0))


def _is_label(value: object) -> bool:
    return isinstance(value, Label) and not isinstance(value, bool)
