"""Fill the templates of a finding with its figures."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from wblab.claims.finding import NAME, claimtable, kept
from wblab.claims.finding.finding import Point, read
from wblab.claims.finding.kept import MeasuredPoint
from wblab.claims.finding.words import FindingWords, Layout
from wblab.core.errors import InputError
from wblab.lab.formats import EXPERIMENT, RUN
from wblab.lab.results import MATRICES
from wblab.study.cells import Cell, run_name
from wblab.study.designs.matrix.factorial import read_matrix
from wblab.study.plan import Further, Plan
from wblab.study.rowfile import run_rows
from wblab.study.store import Store

# Make the runs that a finding needs: cells of several matrices, in one study.

_AXIS = "cell of"


def plan(name: str, points: Iterable[Point], seeds: int) -> Plan:
    """Return the plan of a finding's runs: its cells are those of the points. Raises InputError."""
    wanted = dict.fromkeys(points)
    matrices = {point.matrix: read_matrix(MATRICES.find(point.matrix)) for point in wanted}
    chosen = [_cell(number, point, matrices[point.matrix]) for number, point in enumerate(wanted)]
    return Plan(name, tuple(range(1, seeds + 1)), tuple(chosen), design=NAME)


def _cell(number: int, point: Point, matrix: Plan) -> Cell:
    named = {tuple(sorted(cell.levels.items())): cell for cell in matrix.cells}
    if point.at not in named:
        raise InputError(f"the matrix {point.matrix} has no cell {dict(point.at)}")
    cell = named[point.at]
    label = f"{number:02}-{point.matrix}-{re.sub('^[0-9]+-', '', cell.name)}"[:40].rstrip("-.")
    return replace(cell, name=label, levels={_AXIS: str(point)})


def cells_of(store: Store, points: Iterable[Point]) -> dict[Point, Cell]:
    """Return the cell of each point in a study. Raises InputError if it lacks one."""
    by_point = {cell.levels.get(_AXIS): cell for cell in store.plan.cells}
    if missing := [point for point in points if str(point) not in by_point]:
        raise InputError(f"{store.path} has no runs of {missing[0]}: begin a new study")
    return {point: by_point[str(point)] for point in points}


def measured(store: Store, points: Iterable[Point]) -> Iterator[tuple[Point, MeasuredPoint]]:
    """Yield what the finished runs say of each point that has one. Raises InputError."""
    missing = {run_name(cell, seed) for cell, seed in store.missing()}
    points = list(points)
    metrics = {name: read_matrix(MATRICES.find(name)).metrics for name in {point.matrix for point in points}}
    for point, cell in cells_of(store, points).items():
        done = {seed: name for seed in store.plan.seeds if (name := run_name(cell, seed)) not in missing}
        if done:
            yield point, _measured(store, done, metrics[point.matrix])


def _measured(store: Store, done: Mapping[int, str], further: Sequence[Further]) -> MeasuredPoint:
    runs: Sequence[dict[tuple[str, str], float]] = [
        {(load, metric): value for load, _, metric, value in run_rows(store.runs / name, further)}
        for name in done.values()
    ]
    common = set.intersection(*map(set, runs))
    release = RUN.read(store.runs / next(iter(done.values())) / EXPERIMENT)["kernel"]["release"]
    metrics = {key: tuple(run[key] for run in runs) for key in common}
    return MeasuredPoint(tuple(done), str(release), metrics)


def filled(directory: Path, text: str, layout: Layout, **further: object) -> str:
    """Return a template's text with the values and tables of the finding in a directory in it. Raises InputError.

    A hole for a value that the finding does not name raises jinja2.UndefinedError: it is a mistake in the template.
    """
    finding = read(directory)
    words = FindingWords(finding, kept.read(directory), layout)
    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
    verdicts = claimtable.read(directory)
    claims = {name: layout(*claimtable.cells(table, verdicts)) for name, table in finding.claims.items()}
    own = {
        "claims": claims,
        "value": words.value,
        "table": words.table,
        "seeds": words.seeds,
        "releases": words.releases,
    }
    return environment.from_string(text).render(own | {"finding": words.finding} | further)
