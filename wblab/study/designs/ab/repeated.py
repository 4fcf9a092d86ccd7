"""Whether runs repeat to the bit here: one run of each kernel is made again, and every cycle and event compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from wblab.analysis.runs.digest import digest
from wblab.analysis.runs.run import read_run
from wblab.core.errors import WblabError
from wblab.core.tables import to_table
from wblab.kernels import KernelResolver
from wblab.lab.progress import steps
from wblab.study import work
from wblab.study.cells import Cell, run_name
from wblab.study.store import Store


@dataclass(frozen=True)
class Repeated:
    """Runs that were made twice. same: those that were identical; other: those that were not, or failed."""

    same: tuple[str, ...]
    other: tuple[str, ...]


def repeat(store: Store, cells: Sequence[Cell], resolve: KernelResolver) -> Repeated:
    """Repeat the first run of each cell that has one and is in virtual time. Raises WblabError."""
    seed = store.plan.seeds[0]
    names = {run_name(cell, seed): cell for cell in cells if cell.spec.clock.mode == "virtual"}
    there = {name: cell for name, cell in names.items() if (store.runs / name).is_dir()}
    with TemporaryDirectory(dir=store.room()) as room, steps("repeating") as report:
        found = {}
        for name, cell in there.items():
            report(None, name)
            found[name] = _is_same(store, cell, seed, Path(room), resolve)
    same = tuple(name for name, is_same in found.items() if is_same)
    return Repeated(same, tuple(name for name in found if name not in same))


def _is_same(store: Store, cell: Cell, seed: int, room: Path, resolve: KernelResolver) -> bool:
    build_id = str(store.kernels[cell.spec.kernel.build]["build_id"])
    order = work.Order(to_table(cell.with_seed(seed)), build_id, work.own_program())
    made = work.run_in(room, order, accept=partial(work.accepted, resolve=resolve)).left
    try:
        return isinstance(made, Path) and digest(read_run(made)) == digest(read_run(store.runs / run_name(cell, seed)))
    except WblabError:
        return False
