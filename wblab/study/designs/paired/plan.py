"""The plan of a trial: a cell for each value, scaling and scenario, for each scenario's default, and to ask the kernel.

The axes are SCENARIO, RECOMMENDATION and SCALING. Every cell has every seed, but `rounds` may not run all of them.
"""

import copy
from collections.abc import Sequence
from typing import Any

from wblab.core.check import check_spec
from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.core.tables import from_table
from wblab.lab.designs import TRIAL
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_setting, read_table, set_key
from wblab.study.cells import Cell
from wblab.study.designs.paired.asked import ASKED, ASKED_BASE, asked_settings
from wblab.study.designs.paired.recommendations import DEFAULT, Scenario, Wisdom
from wblab.study.designs.paired.scale import AS_IT_IS, Scaling, scalings, settings
from wblab.study.plan import Plan

NAME = "trial"
SCENARIO, RECOMMENDATION, SCALING = "scenario", "recommendation", "scaling"
MOST_SEEDS = 20  # an effect that needs more is smaller than the difference between seeds


def trial_matrix(wisdom: Wisdom, seeds: int = MOST_SEEDS, kernel: str = "") -> Plan:
    """Return the plan of a trial. Raises InputError."""
    plans = [*_tried(wisdom, kernel), *_asked(wisdom, kernel)]
    cells = []
    for number, (scenario, entry, way, table) in enumerate(plans):
        levels = {SCENARIO: scenario, RECOMMENDATION: entry, SCALING: way}
        words = [f"{number:0{len(str(len(plans) - 1))}}", scenario, entry, way.replace(" ", "-")]
        name = "-".join(words)[:60]
        try:
            spec = from_table(Spec, table | {"name": name})
            check_spec(spec)
        except InputError as error:
            raise InputError(f"{error} (recommendation {entry}, scenario {scenario})") from None
        cells.append(Cell(name, dict(levels), spec))
    return Plan(NAME, tuple(range(1, seeds + 1)), tuple(cells), design=TRIAL)


def scenario_spec(scenario: Scenario) -> Spec:
    """Return the spec of a scenario with the kernel's defaults. Raises InputError."""
    return from_table(Spec, _table(scenario.base, "scenario", "", scenario.set))


_Tried = tuple[str, str, Scaling, dict[str, Any]]  # scenario, key of the value, scaling, the spec's table


def _tried(wisdom: Wisdom, kernel: str) -> list[_Tried]:
    """Return the default and all values for each scenario."""
    plans: list[_Tried] = []
    for name, scenario in wisdom.scenario.items():
        start = _table(scenario.base, name, kernel, scenario.set)
        values = [key for key, (entry, value) in wisdom.values().items() if name in wisdom.scenarios_of(entry, value)]
        if values:
            plans.append((name, DEFAULT, AS_IT_IS, start))
        for key in values:
            tables = _scaled(wisdom, key, start, scenario)
            plans += [(name, key, way, table) for way, table in tables.items()]
    return plans


def _scaled(wisdom: Wisdom, key: str, start: dict[str, Any], scenario: Scenario) -> dict[Scaling, dict[str, Any]]:
    """Return a value's tables by scaling; only one if all are equal."""
    (entry, value), spec = wisdom.values()[key], from_table(Spec, start)
    tables = {}
    for way in scalings(value):
        tables[way] = _changed(start, value.set)
        for path, given in settings(value, wisdom.machine_of(entry), spec, scenario, way).items():
            set_key(tables[way], path, given)
    first = next(iter(tables.values()))
    return tables if any(table != first for table in tables.values()) else {AS_IT_IS: first}


def _asked(wisdom: Wisdom, kernel: str) -> list[_Tried]:
    """Return a short run for each value with sysctls: it sets them as published, and reads them back."""
    values = [(key, value) for key, (_, value) in wisdom.values().items() if value.sysctl]
    start = _table(ASKED_BASE, ASKED, kernel, ())
    return [(ASKED, key, AS_IT_IS, _changed(start, asked_settings(value))) for key, value in values]


def _table(base: str, name: str, kernel: str, changes: Sequence[str]) -> dict[str, Any]:
    return _changed(read_table(SPECS.find(base)) | {"name": name, "seed": 1, "kernel": kernel}, changes)


def _changed(table: dict[str, Any], changes: Sequence[str]) -> dict[str, Any]:
    changed = copy.deepcopy(table)
    for setting in changes:
        set_key(changed, *read_setting(setting, "disk.write_bps=2M"))
    return changed
