"""Sample a design: Latin hypercubes, a point in each row, a factor in each column, and a dummy in the last one."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from wblab.analysis.runs.metrics import METRICS
from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.core.tables import from_table
from wblab.lab.specfile import is_record, set_key
from wblab.study.cells import Cell, check_keys, find_base, make_cell, start_table
from wblab.study.designs.explore import NAME, factors
from wblab.study.designs.explore.design import Head, SampleDesign
from wblab.study.designs.explore.factors import Factor, FactorRange, Level, spec_value
from wblab.study.designs.explore.responses import check_responses
from wblab.study.plan import Plan

Points = NDArray[np.float64]


def sample(head: Head, factors: int) -> Points:
    """Return points of shape (runs, factors + 1), each 0 <= u < 1. Raises InputError if there is no such sample.

    Each column has one value in each of `runs` strata (McKay and others 1979). With strength 2, each pair of columns
    also has one point in each of sqrt(runs) × sqrt(runs) strata (Tang 1993).
    """
    columns = factors + 1
    if head.strength == 2:
        root = round(head.runs**0.5)
        if root * root != head.runs or any(root % divisor == 0 for divisor in range(2, root)):
            raise InputError(f"runs: strength = 2 needs the square of a prime, not {head.runs}: {_near(head.runs)}")
        if columns > root + 1:
            raise InputError(
                f"runs: with strength = 2, {head.runs} runs balance at most {root} factors, not {factors}: raise runs"
            )
    points: Points = qmc.LatinHypercube(columns, strength=head.strength, rng=head.seed).random(head.runs)
    return np.asarray(np.minimum(points, np.nextafter(1.0, 0.0)), np.float64)


def _near(runs: int) -> str:
    """Suggest the nearest squares of primes below and above a number."""
    primes = [n for n in range(2, 400) if all(n % divisor for divisor in range(2, n))]
    below = [prime**2 for prime in primes if prime**2 < runs]
    above = [prime**2 for prime in primes if prime**2 > runs]
    return f"write {' or '.join(map(str, [*below[-1:], *above[:1]]))}"


# Plan the runs of a design: one complete and checked cell for each row of its sample.


def planned(design: SampleDesign, points: Points, folder: Path) -> Plan:
    """Return the plan whose cells are the rows of a sample, in the same order. Raises InputError for an invalid row.

    points: float64 of shape (rows, factors + 1). folder: the base may be a path relative to it.
    """
    _check_keys(design)
    base = find_base(design.head.base, folder)
    start, exact = start_table(base, design.common), is_record(base)
    times = {key for key in design.derived if _is_time(start, key, exact=exact)}
    digits = len(str(len(points) - 1))
    cells = []
    for number, point in enumerate(points[:, :-1].tolist()):
        levels = {factor.name: factor.level(u) for factor, u in zip(design.factors, point, strict=True)}
        try:
            cells.append(_cell(start, f"{number:0{digits}}", levels, _derived(design, levels, times), exact=exact))
        except InputError as error:
            raise InputError(f"row {number}: {error}") from None
    check_responses(design.responses, cells[0].spec, METRICS)
    return Plan(design.head.name, design.head.seeds, tuple(cells), design=NAME)


def _cell(
    start: Mapping[str, Any], name: str, levels: Mapping[str, Level], derived: Mapping[str, Any], *, exact: bool
) -> Cell:
    chosen = {factor: (level.label, level.settings) for factor, level in levels.items()}
    return make_cell(start, name, chosen, derived, exact=exact)


def _derived(design: SampleDesign, levels: Mapping[str, Level], times: set[str]) -> dict[str, Any]:
    """Compute the values of derived keys. Raises InputError."""
    numbers = {name: level.number for name, level in levels.items() if level.number is not None}
    found = {}
    for key, expression in design.derived.items():
        try:
            found[key] = spec_value(factors.evaluate(expression, numbers), "ns" if key in times else "")
        except InputError as error:
            raise InputError(f"derived.{key}: {error}") from None
    return found


def _check_keys(design: SampleDesign) -> None:
    """Raise InputError if a key is set twice."""
    axes: dict[str, dict[Any, dict[str, Any]]] = {factor.name: _settings(factor) for factor in design.factors}
    check_keys(axes | {"[derived]": {"": design.derived}}, design.common)


def _settings(factor: Factor) -> dict[Any, dict[str, Any]]:
    if isinstance(factor, FactorRange):
        return {"": {factor.key: None} if factor.key else {}}
    return {level.label: level.settings for level in factor.levels}


def _is_time(start: Mapping[str, Any], key: str, *, exact: bool) -> bool:
    """Whether a key of a spec takes a time: it accepts a time with a unit, and rejects a bare number."""
    return _accepts(start, key, "1ns", exact=exact) and not _accepts(start, key, 1, exact=exact)


def _accepts(start: Mapping[str, Any], key: str, value: object, *, exact: bool) -> bool:
    table = copy.deepcopy(dict(start))
    try:
        set_key(table, key, value)
        from_table(Spec, table, exact=exact)
    except InputError:
        return False
    return True
