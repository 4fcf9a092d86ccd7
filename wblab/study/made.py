"""The runs that a study has, whether their directories were kept or only rows of them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from wblab.core.errors import InputError, WblabError
from wblab.lab.formats import DIGESTS, SEALED, write_json
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

    @property
    def sealed(self) -> str:
        """What it is to stay until it is merged: the digest of its measurements, or of its row. Raises InputError."""
        if self.row:
            return sha256(json.dumps(asdict(self.row), sort_keys=True, default=str).encode()).hexdigest()
        return self.digest

    @cached_property
    def made_with(self) -> Mapping[str, str]:
        """The inputs beside its spec, by name. Raises InputError if it is damaged."""
        if self.row:
            return self.row.made_with
        from wblab.analysis.runs.run import read_run

        assert self.directory
        return inputs_of(read_run(self.directory).record)


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
