"""A twin's runs: a study with one cell and several seeds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wblab.analysis.runs.run import Run, read_run
from wblab.core.errors import InputError
from wblab.core.spec import Disk
from wblab.core.tables import from_table, to_table
from wblab.lab.designs import TWIN
from wblab.study.cells import Cell, run_name
from wblab.study.designs.twin.machine import Group, Machine, Queue
from wblab.study.designs.twin.scale import Twin, twin_of
from wblab.study.plan import Plan
from wblab.study.store import Store

NAME = "twin"


@dataclass(frozen=True)
class TwinStudy:
    """A machine and its twin. live: directory of the live run that described the machine, if there was one."""

    machine: Machine
    twin: Twin
    live: Path | None


def twin_study(machine: Machine, live: Path | None) -> TwinStudy:
    """Scale a machine down to its twin."""
    return TwinStudy(machine, twin_of(machine, NAME), live)


def plan_of(study: TwinStudy, seeds: int, kernel_name: str) -> Plan:
    """Return the plan of a twin's runs with the seeds 1 to `seeds`."""
    spec = study.twin.spec.on(kernel_name)
    about = {
        "machine": to_table(study.machine),
        "factor": study.twin.factor,
        "notes": list(study.twin.notes),
        "live": str(study.live.resolve()) if study.live else None,
    }
    return Plan(NAME, tuple(range(1, seeds + 1)), (Cell(NAME, {}, spec),), design=TWIN, about=about)


def read_study(store: Store) -> TwinStudy:
    """Read the machine and the twin of a study. Raises InputError if its directory holds none."""
    about: Mapping[str, Any] = store.plan.about
    try:
        machine = _machine(about["machine"])
        twin = Twin(store.plan.cells[0].spec, float(about["factor"]), tuple(map(str, about["notes"])))
        return TwinStudy(machine, twin, Path(about["live"]) if about["live"] else None)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{store.path} holds no twin ({type(error).__name__}: {error})") from None


def runs_in(store: Store, read: Callable[[Path], Run] = read_run) -> list[Run]:
    """Return the finished runs in the order of their seeds."""
    missing = {seed for _, seed in store.missing()}
    return [read(store.runs / run_name(cell, seed)) for cell, seed in store.plan.runs() if seed not in missing]


def _machine(table: Mapping[str, Any]) -> Machine:
    """Read a machine from a JSON table. Raises InputError."""
    known: dict[str, type[Disk | Queue | Group]] = {"disk": Disk, "queue": Queue, "group": Group}
    parts: dict[str, Any] = {
        name: from_table(part, table[name], exact=True) for name, part in known.items() if table[name] is not None
    }
    return replace(from_table(Machine, {k: v for k, v in table.items() if k not in known}, exact=True), **parts)
