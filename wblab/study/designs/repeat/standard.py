"""The runs of the standard set of presets on one series, and what they say about its expected figures."""

from wblab.analysis.runs.run import Run, read_run
from wblab.core.tables import to_table
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.study.cells import Cell, make_cell, run_name
from wblab.study.designs.repeat.expected import (
    SEEDS,
    STANDARD,
    Compared,
    Expected,
    compare,
    figures,
    path_of,
    read_expected,
    spans,
    write_expected,
)
from wblab.study.designs.repeat.golden import seen
from wblab.study.plan import Plan
from wblab.study.store import Store

_AXIS = "preset"


def plan_of(series: str, *, update: bool) -> Plan:
    """Return the plan of a series: one run of each preset, or with `update` several."""
    seeds = SEEDS if update else SEEDS[:1]
    return Plan(f"expected-{series}", seeds, tuple(_cell(preset, series) for preset in STANDARD))


def record(series: str, store: Store) -> None:
    """Write what the finished runs of a store say as what is expected of a series. Raises OSError."""
    runs = {cell.name: [_run(store, cell, seed) for seed in store.plan.seeds] for cell in store.plan.cells}
    found = spans({preset: list(map(figures, some)) for preset, some in runs.items()})
    presets = {preset: Expected(seen(some[0]), found[preset]) for preset, some in runs.items()}
    write_expected(series, presets, path_of(series))


def compared(series: str, store: Store) -> list[Compared]:
    """Compare the finished runs of a store with what is expected of a series. Raises InputError."""
    expected = read_expected(series, path_of(series))
    runs = {cell.name: _run(store, cell, SEEDS[0]) for cell in store.plan.cells}
    return [compare(preset, expected[preset], seen(run), figures(run)) for preset, run in runs.items()]


def _cell(preset: str, series: str) -> Cell:
    spec = to_table(read_spec(SPECS.find(preset)))
    return make_cell(spec, preset, {_AXIS: (preset, {"kernel": series})}, exact=True)


def _run(store: Store, cell: Cell, seed: int) -> Run:
    return read_run(store.runs / run_name(cell, seed))
