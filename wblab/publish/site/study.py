"""A study of the site: its address, and its runs."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from wblab.analysis.runs.run import Run, read_run
from wblab.study.cells import Cell
from wblab.study.designs.repeat.record import Record, record
from wblab.study.made import Made, made_of
from wblab.study.store import Store


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
        return {name: [made.seed for made in of] for name, of in self._made.items()}

    @cached_property
    def _made(self) -> dict[str, list[Made]]:
        found: dict[str, list[Made]] = {cell.name: [] for cell in self.store.plan.cells}
        for made in made_of(self.store):
            found[made.cell.name].append(made)
        return found

    def runs(self, cell: Cell) -> Iterator[OneRun]:
        """Yield the runs of a cell. Raises InputError for a damaged one."""
        release = str(self.store.kernels[cell.spec.kernel.build].get("release", "unknown"))
        for made in self._made[cell.name]:
            run = read_run(made.directory) if made.directory else None
            found = record(cell.with_seed(made.seed), made.digest, made.made_with, release)
            found, folder = replace(found, may_lose=cell.may_lose), f"{self.folder}/{cell.name}/seed-{made.seed}"
            yield OneRun(cell, made.seed, folder, found, made.row.longest_s or 0.0, run)
