"""The interface of workers: forks of this process (`forked`), or workers of a cluster (`cluster`)."""

from collections.abc import Sequence
from typing import Protocol

from wblab.study.following import Done, Failed
from wblab.study.work import Order, Result


class Workers(Protocol):
    """Workers take orders, each under a key; each worker makes one run at a time."""

    def slots(self) -> int:
        """Return the number of runs at once. Raises WblabError if all workers are gone."""

    def give(self, key: str, order: Order, *, soon: bool = False) -> None:
        """Queue an order behind the earlier ones; soon: before all that still wait."""

    def ended(self, timeout_s: float) -> Sequence[tuple[str, Result | Done | Failed]]:
        """Return new results by key; wait for the first one, at most `timeout_s`."""

    def cancel(self) -> None:
        """Cancel all unfinished orders."""
