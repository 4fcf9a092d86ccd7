"""The plan of a comparison of kernels: a cell for each spec and kernel, and the pairs of cells that are compared.

exp/<date>_ab/
  study.json, runs/, rows/   as in any study: see wblab.study.store
  ab.html, ab.txt, ab.json           the report: a page, a text of 80 columns, and everything as JSON
"""

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

from wblab.analysis.statistics.decision import looks
from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.core.tables import from_table, to_table
from wblab.kernels import Kernel
from wblab.kernels.kernel import sha256 as file_sha256
from wblab.lab.formats import LOOKS
from wblab.study.begin import Kernels
from wblab.study.cells import Cell
from wblab.study.designs.ab import NAME
from wblab.study.designs.ab.differs import Differs, differs
from wblab.study.designs.ab.sides import BuiltSide, Side, subject
from wblab.study.plan import Plan

STANDARD = ("base", "base-device", "base-ext2", "two-disks", "commit", "stick")
_SPEC, _KERNEL = "spec", "kernel"  # the axes


@dataclass(frozen=True)
class KernelState:
    """One of the compared kernels. kernel: its name in specs. subject: of the last change; program: its SHA-256."""

    label: str
    subject: str
    kernel: str
    program: str


@dataclass(frozen=True)
class KernelStep:
    """A comparison of two states, by their numbers."""

    before: int
    after: int
    differs: Differs


@dataclass(frozen=True)
class AskedKernels:
    """Everything that a report says besides figures. command: repeats it. steps: the comparisons to make."""

    command: str
    states: tuple[KernelState, ...]
    steps: tuple[KernelStep, ...]

    def same_program(self, step: KernelStep) -> bool:
        """Whether a step leaves the executable as it is, byte for byte."""
        return self.states[step.before].program == self.states[step.after].program


@dataclass(frozen=True)
class Pair:
    """The cells of one spec before and after one step. number: of the step."""

    number: int
    spec: str
    before: Cell
    after: Cell


def plan(asked: AskedKernels, specs: Sequence[Spec], most: int) -> Plan:
    """Return the plan. most: seeds of a cell, until it is decided. Raises InputError."""
    if len({spec.name for spec in specs}) < len(specs):
        raise InputError("--spec: two specs have the same name: give each once")
    cells = tuple(_cells(asked, specs))
    about = {LOOKS: len(looks(most)), NAME: to_table(asked)}
    return Plan(NAME, tuple(range(1, most + 1)), cells, design=NAME, about=about)


def asked_of(plan_: Plan) -> AskedKernels:
    """Read what `plan` wrote. Raises InputError."""
    found = from_table(AskedKernels, plan_.about.get(NAME), "about.ab")
    numbers = range(len(found.states))
    for step in found.steps:
        if step.before not in numbers or step.after not in numbers:
            raise InputError("about.ab: a step is of a kernel that is not there: study.json is damaged")
    return found


def pairs(plan_: Plan, asked: AskedKernels) -> list[Pair]:
    """Return what is compared: each spec before and after each step. The same program needs no comparison."""
    by = {(str(cell.levels[_SPEC]), str(cell.levels[_KERNEL])): cell for cell in plan_.cells}
    names = dict.fromkeys(str(cell.levels[_SPEC]) for cell in plan_.cells)
    try:
        return [
            Pair(number, name, by[name, asked.states[step.before].label], by[name, asked.states[step.after].label])
            for number, step in enumerate(asked.steps)
            if _is_run(asked, step)
            for name in names
        ]
    except KeyError as error:
        raise InputError(f"there is no cell of {error}: study.json is damaged") from None


def digests(plan_: Plan) -> dict[str, str]:
    """Return the digest of each spec, without its kernel, its name and its seed, which differ between its runs."""
    return {str(cell.levels[_SPEC]): digest(cell.spec) for cell in plan_.cells}


def digest(spec: Spec) -> str:
    """Return the first 12 digits of a spec's SHA-256."""
    table: dict[str, Any] = to_table(replace(spec.on(""), name="", seed=0))
    return sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()[:12]


def asked(sides: Sequence[Side], kernels: Sequence[Kernel], command: Sequence[str]) -> AskedKernels:
    """Describe what is compared: each side with the one before it. Raises WblabError."""
    programs = [file_sha256(kernel.path) for kernel in kernels]
    states = [
        KernelState(label, subject(side), _name(side, kernel), program)
        for side, kernel, label, program in zip(sides, kernels, _labels(sides, kernels), programs, strict=True)
    ]
    found = []
    for before, after in pairwise(range(len(states))):
        both = (sides[before], sides[after]), (kernels[before], kernels[after])
        found.append(KernelStep(before, after, differs(*both)))
    return AskedKernels(shlex.join(command), tuple(states), tuple(found))


def described(asked_: AskedKernels, kernels: Sequence[Kernel]) -> Kernels:
    """Return the descriptions of the kernels by their names in specs."""
    return {state.kernel: kernel.describe() for state, kernel in zip(asked_.states, kernels, strict=True)}


def _cells(asked_: AskedKernels, specs: Sequence[Spec]) -> Iterator[Cell]:
    used = {number for step in asked_.steps if _is_run(asked_, step) for number in (step.before, step.after)}
    for spec in specs:
        for number in sorted(used):
            state = asked_.states[number]
            name = f"{spec.name[:48]}-{_letters(number) if len(asked_.states) == 2 else number}"
            levels: dict[str, str | int | float] = {_SPEC: spec.name, _KERNEL: state.label}
            yield Cell(name, levels, replace(spec.on(state.kernel), name=name, seed=1))


def _letters(number: int) -> str:
    return "ab"[number]


def _is_run(asked_: AskedKernels, step: KernelStep) -> bool:
    """Whether a step needs runs: of many, not those that leave the program as it is. A single one is shown to."""
    return not asked_.same_program(step) or len(asked_.steps) == 1


def _name(side: Side, kernel: Kernel) -> str:
    """Return a kernel's name in a spec: a series by its name, and the path of anything else."""
    return side.name if isinstance(side, BuiltSide) and not Path(side.name).is_absolute() else str(kernel.path)


def _labels(sides: Sequence[Side], kernels: Sequence[Kernel]) -> list[str]:
    """Return a distinct short name for each side: where two are alike, with the build."""
    plain = [re.sub(r"\s+", " ", side.label) for side in sides]
    return [
        f"{label} ({kernel.build_id[:8]})" if plain.count(label) > 1 else label
        for label, kernel in zip(plain, kernels, strict=True)
    ]
