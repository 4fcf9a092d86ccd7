"""The runs that a study has: what every reader of a study asks for."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from wblab.core.errors import InputError, WblabError
from wblab.lab.formats import DIGESTS, ROWS, RUNS, SEALED, write_json
from wblab.study.cells import Cell, run_name
from wblab.study.rowfile import RunRow
from wblab.study.store import Store


@dataclass(frozen=True)
class Made:
    """A run of a study. directory: its own, if that was kept."""

    store: Store
    cell: Cell
    seed: int
    directory: Path | None
    known: RunRow | None = None

    @property
    def name(self) -> str:
        """Its name."""
        return run_name(self.cell, self.seed)

    @cached_property
    def row(self) -> RunRow:
        """Its row. Raises InputError if it is damaged."""
        return self.known or self.store.row_in(self.cell, self.seed)

    @cached_property
    def digest(self) -> str:
        """The digest of its measurements. Raises InputError if it is damaged."""
        if self.row.digest:
            return self.row.digest
        from wblab.analysis.runs.digest import digest
        from wblab.analysis.runs.run import read_run

        if self.directory is None:
            raise InputError(f"{self.store.path} is damaged: the row of {self.name} has no digest")
        return digest(read_run(self.directory))

    @property
    def sealed(self) -> str:
        """What it is to stay until it is merged: the digest of its row and measurements. Raises InputError."""
        whole = asdict(self.row) | {"digest": self.digest}
        return sha256(json.dumps(whole, sort_keys=True, default=str).encode()).hexdigest()

    @property
    def made_with(self) -> Mapping[str, str]:
        """The inputs beside its spec, by name. Raises InputError if it is damaged."""
        return self.row.made_with


def seal(store: Store) -> None:
    """Note the digests of a part's runs beside them. Those that have one keep it. Raises InputError, WblabError."""
    known = _sealed(store)
    digests = {made.name: known.get(made.name) or made.sealed for made in made_of(store)}
    try:
        write_json(store.path / DIGESTS, SEALED.head() | {"digests": digests})
    except OSError as error:
        raise WblabError(f"cannot write {store.path / DIGESTS}: {error.strerror or error}") from None


def check_sealed(store: Store) -> None:
    """Raise InputError for a run that is not what it was when it was made, as far as that was noted."""
    known = _sealed(store)
    for made in made_of(store):
        if known.get(made.name, made.sealed) != made.sealed:
            raise InputError(
                f"{made.name} of {store.path} was changed after it was made: get the part again, or make it anew"
            )


def _sealed(store: Store) -> dict[str, str]:
    if not (store.path / DIGESTS).exists():
        return {}
    digests = SEALED.read(store.path / DIGESTS).get("digests")
    if not isinstance(digests, dict):
        raise InputError(f"{store.path / DIGESTS} is damaged: it has no digests")
    return digests


def made_of(store: Store) -> Iterator[Made]:
    """Yield the runs that a study has, in the order of its plan, without failed and noisy ones.

    As `Store.missing` has it: a directory of which there is no row yet counts, and a row whose directory was removed
    does not. Raises InputError if a row is damaged, or one too many.
    """
    rows, kept = {row.name: row for row in store.rows.all()}, store.kept()
    for cell, seed in store.plan.runs():
        row, name = rows.pop(run_name(cell, seed), None), run_name(cell, seed)
        if name in kept or (row and not store.keeps_directories):
            yield Made(store, cell, seed, store.runs / name if name in kept else None, row)
    if rows:
        raise InputError(f"{store.path} has a row {min(rows)!r} too many: it is damaged")


def one_of(store: Store, cell: Cell, seed: int) -> Made | None:
    """Return a run of a study; None if it is not made. Raises InputError if the study is damaged."""
    directory, row = store.runs / run_name(cell, seed), store.rows.one(cell.name, seed)
    if directory.is_dir():
        return Made(store, cell, seed, directory, row)
    return Made(store, cell, seed, None, row) if row and not store.keeps_directories else None


def made_at(results: Path, name: str) -> Made | None:
    """Return the run STUDY/runs/NAME, a path or below the results, whose directory was not kept; None if there is none.

    Raises InputError if the study is damaged.
    """
    for path in (Path(name), results / name):
        study = path.parent.parent
        if path.parent.name == RUNS and not path.exists() and (study / ROWS).is_dir():
            store = Store.open(study)
            runs = {run_name(cell, seed): (cell, seed) for cell, seed in store.plan.runs()}
            if path.name in runs:
                return one_of(store, *runs[path.name])
    return None
