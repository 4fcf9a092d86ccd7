"""A study of the site: its address, and its runs, whether their directories were kept or only rows of them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from wblab.analysis.runs.pauses import DEFAULT_BOUND_NS, pause_report
from wblab.analysis.runs.run import Run, read_run
from wblab.core.loads import KINDS, Load
from wblab.study.cells import Cell, run_name
from wblab.study.designs.repeat.record import Record, record, record_of
from wblab.study.rowfile import RunRow
from wblab.study.store import Store

_LONGEST = "longest_pause_s"


@dataclass(frozen=True)
class OneRun:
    """A run of a study. longest_s: the longest pause of an innocent load. run: as read, if it has a directory."""

    cell: Cell
    seed: int
    folder: str
    record: Record
    longest_s: float
    run: Run | None = None


@dataclass(frozen=True)
class Study:
    """A study of the site. folder: its address."""

    store: Store
    folder: str

    @property
    def address(self) -> str:
        """The address of its page."""
        return f"{self.folder}/index.html"

    @property
    def title(self) -> str:
        """Its name and what made it."""
        return f"{self.store.plan.name} (wblab {self.store.plan.design})"

    def cell_address(self, cell: Cell) -> str:
        """Return the address of a cell's page."""
        return f"{self.folder}/{cell.name}/index.html"

    @cached_property
    def made(self) -> dict[str, list[int]]:
        """The seeds of the runs that are there, by cell. Raises InputError if the study is damaged."""
        there = {path.name for path in self.store.runs.iterdir() if path.is_dir()} | self._rows.keys()
        plan = self.store.plan
        return {cell.name: [seed for seed in plan.seeds if run_name(cell, seed) in there] for cell in plan.cells}

    @cached_property
    def _rows(self) -> dict[str, RunRow]:
        return {row.name: row for row in self.store.rows.all()}

    def runs(self, cell: Cell) -> Iterator[OneRun]:
        """Yield the runs of a cell. Raises InputError for a damaged one."""
        for seed in self.made[cell.name]:
            folder = f"{self.folder}/{cell.name}/seed-{seed}"
            if row := self._rows.get(run_name(cell, seed)):
                release = str(self.store.kernels[cell.spec.kernel.build].get("release", "unknown"))
                found = record(cell.with_seed(seed), row.digest, row.made_with, release)
                yield OneRun(cell, seed, folder, replace(found, may_lose=cell.may_lose), _longest_of(row))
            else:
                run = read_run(self.store.runs / run_name(cell, seed))
                found = replace(record_of(run), may_lose=cell.may_lose)
                yield OneRun(cell, seed, folder, found, _longest_s(run), run)


def _longest_of(row: RunRow) -> float:
    innocent = (value for _, kind, metric, value in row.metrics if metric == _LONGEST and _is_innocent(kind))
    return max(innocent, default=0.0)


def _longest_s(run: Run) -> float:
    loads = pause_report(run, DEFAULT_BOUND_NS).loads
    return max((load.longest_pause_s for load in loads if _is_innocent(load.kind)), default=0.0)


def _is_innocent(kind: str) -> bool:
    return KINDS.get(kind, Load).role == "innocent"
