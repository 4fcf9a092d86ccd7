"""What makes runs, as a matrix sees it: forks of this process (`forked`), or the workers of a cluster (`cluster`)."""

from collections.abc import Sequence
from typing import Protocol

from wblab.study.following import Done, Failed
from wblab.study.work import Order, Result


class Workers(Protocol):
    """Workers take orders, each under a key, and make one run after the other."""

    def slots(self) -> int:
        """Return how many runs go on at once. Raises WblabError when all workers are gone."""

    def give(self, key: str, order: Order, *, soon: bool = False) -> None:
        """Have an order run, after those that were given before; soon: before them, as far as they wait."""

    def ended(self, timeout_s: float) -> Sequence[tuple[str, Result | Done | Failed]]:
        """Return what has ended and was not returned before, by key; wait for one, but no longer than this."""

    def cancel(self) -> None:
        """End what was given and has not ended."""
