"""The plan of a target, whatever its source."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from wblab.claims.atlas import claimed, triedtarget
from wblab.claims.atlas.target import AtlasRow, Target
from wblab.claims.trial import NAME as TRIAL
from wblab.kernels import Kernel, KernelResolver


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
