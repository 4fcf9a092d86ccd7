"""The runs that a study has, whether their directories were kept or only rows of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from wblab.core.errors import InputError
from wblab.study.cells import run_name
from wblab.study.inputs import inputs_of
from wblab.study.rowfile import RunRow
from wblab.study.store import Store


@dataclass(frozen=True)
class Made:
    """A run of a study: its directory, or its row."""

    name: str
    study: Path
    directory: Path | None = None
    row: RunRow | None = None

    @cached_property
    def digest(self) -> str:
        """The digest of its measurements. Raises InputError if it is damaged."""
        if self.row:
            return self.row.digest
        from wblab.analysis.runs.digest import digest
        from wblab.analysis.runs.run import read_run

        assert self.directory
        return digest(read_run(self.directory))

    @cached_property
    def made_with(self) -> Mapping[str, str]:
        """The inputs beside its spec, by name. Raises InputError if it is damaged."""
        if self.row:
            return self.row.made_with
        from wblab.analysis.runs.run import read_run

        assert self.directory
        return inputs_of(read_run(self.directory).record)


def made_of(store: Store) -> Iterator[Made]:
    """Yield the runs that a study has, without failed and noisy ones. Raises InputError if it is damaged."""
    left = {run_name(cell, seed) for cell, seed in store.plan.runs()}
    for row in store.rows.all():
        if row.name not in left:
            raise InputError(f"{store.path} has a row {row.name!r} too many: it is damaged")
        left.remove(row.name)
        yield Made(row.name, store.path, row=row)
    for name in sorted(left):
        if (store.runs / name).is_dir():
            yield Made(name, store.path, directory=store.runs / name)
