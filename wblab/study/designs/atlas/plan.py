"""What a target of any source needs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from wblab.kernels import Kernel, KernelResolver
from wblab.study.designs.atlas import claimed, tried
from wblab.study.designs.atlas.target import TRIAL, Row, Target


class Plan(Protocol):
    """A target that can be made."""

    @property
    def target(self) -> Target:
        """Which it is."""

    @property
    def kernel(self) -> Kernel:
        """The one of its series."""

    @property
    def made_of(self) -> str:
        """What decides all that comes out, in short."""

    def fill(self, directory: Path, at_once: int) -> Sequence[Row]:
        """Make all runs, `at_once` at a time, and the report; return what it says. Raises WblabError, OSError.

        The directory is there; what an earlier call has left in it, which was interrupted, is of this plan too.
        """

    def prune(self, directory: Path) -> None:
        """Remove what can be made again from a directory that was filled. Raises OSError."""


def planned(target: Target, seeds: int, resolve: KernelResolver) -> Plan:
    """Return what a target needs. Raises InputError for a kernel that is not there."""
    if target.source == TRIAL:
        return tried.planned(target, seeds, resolve)
    return claimed.planned(target, seeds, resolve)
