"""What makes runs, as a matrix sees it: forks of this process (`forked`), or the workers of a cluster (`cluster`)."""

from typing import Protocol

from wblab.study.work import Order, Result


class Workers(Protocol):
    """Workers take orders, each under a key, and make one run after the other."""

    def slots(self) -> int:
        """Return how many runs go on at once. Raises WblabError when all workers are gone."""

    def give(self, key: str, order: Order) -> None:
        """Have an order run, after those that were given before."""

    def ended(self, timeout_s: float) -> list[tuple[str, Result]]:
        """Return what has ended and was not returned before, by key; wait for one, but no longer than this."""

    def cancel(self) -> None:
        """End what was given and has not ended."""
