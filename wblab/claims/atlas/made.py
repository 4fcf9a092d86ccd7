"""A target that was made: runs, verdicts and a report in a directory, small enough to publish."""

import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from itertools import product
from pathlib import Path
from typing import Protocol

from wblab.claims.atlas import claimed, triedtarget
from wblab.claims.atlas.target import FILESYSTEMS, SOURCES, AtlasRow, Target
from wblab.claims.trial import NAME as TRIAL
from wblab.core.errors import InputError, WblabError
from wblab.kernels import Kernel, KernelResolver
from wblab.lab.formats import MADE_OF, TARGET, TARGET_ROWS, write_json
from wblab.lab.results import STAGED


class PlannedTarget(Protocol):
    """A target that can be made."""

    @property
    def target(self) -> Target:
        """Kernel, filesystem and source."""

    @property
    def kernel(self) -> Kernel:
        """The kernel of its series."""

    @property
    def made_of(self) -> str:
        """A digest of everything that decides its content."""

    def fill(self, directory: Path, at_once: int) -> Sequence[AtlasRow]:
        """Make all runs, `at_once` at a time, and the report; return its rows. Raises WblabError, OSError.

        The directory exists; runs that an interrupted call of this plan left in it are used.
        """

    def prune(self, directory: Path) -> None:
        """Remove files that can be made again from a filled directory. Raises OSError."""


def planned(target: Target, seeds: int, resolve: KernelResolver) -> PlannedTarget:
    """Return the plan of a target. Raises InputError if its kernel is not built."""
    if target.source == TRIAL:
        return triedtarget.planned(target, seeds, resolve)
    return claimed.planned(target, seeds, resolve)


@dataclass(frozen=True)
class MadeTarget:
    """The content of a target's directory."""

    target: Target
    release: str
    rows: Sequence[AtlasRow]


def make(plan: PlannedTarget, atlas: Path, at_once: int) -> MadeTarget:
    """Make a target's directory in the atlas; it replaces an older one. Raises WblabError.

    It gets its name when it is complete. An interrupted atlas goes on with the runs that it has.
    """
    target = plan.target
    staged = atlas / f"{STAGED}{target.name}"
    try:
        if not _is_made_of(staged, plan.made_of):
            shutil.rmtree(staged, ignore_errors=True)
            staged.mkdir(parents=True)
            (staged / MADE_OF).write_text(plan.made_of + "\n")
        if not (staged / TARGET_ROWS).is_file():
            rows = [asdict(row) for row in plan.fill(staged, at_once)]
            write_json(
                staged / TARGET_ROWS, TARGET.head() | {"release": plan.kernel.describe()["release"], "rows": rows}
            )
        plan.prune(staged)
        shutil.rmtree(atlas / target.name, ignore_errors=True)
        staged.rename(atlas / target.name)
    except OSError as error:
        raise WblabError(f"cannot write {staged}: {error.strerror or error}") from None
    return read(target, atlas)


def is_current(plan: PlannedTarget, atlas: Path) -> bool:
    """Whether a target exists and nothing that decides its content has changed."""
    directory = atlas / plan.target.name
    return _is_made_of(directory, plan.made_of) and (directory / TARGET_ROWS).is_file()


def read(target: Target, atlas: Path) -> MadeTarget:
    """Return an existing target. Raises InputError if it is damaged."""
    path = atlas / target.name / TARGET_ROWS
    found = TARGET.read(path)
    try:
        rows = [AtlasRow(**{field.name: str(item[field.name]) for field in fields(AtlasRow)}) for item in found["rows"]]
        return MadeTarget(target, str(found["release"]), rows)
    except (KeyError, TypeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise InputError(f"{path} is damaged ({what}): remove {path.parent}") from None


def read_all(atlas: Path, series: Sequence[str]) -> list[MadeTarget]:
    """Return all existing targets of these series, in order. Raises InputError if one is damaged."""
    possible = (Target(*parts) for parts in product(series, FILESYSTEMS, SOURCES))
    return [read(target, atlas) for target in possible if (atlas / target.name / TARGET_ROWS).is_file()]


def _is_made_of(directory: Path, made_of: str) -> bool:
    try:
        return (directory / MADE_OF).read_text().strip() == made_of
    except (OSError, ValueError):
        return False
