"""Jobs on finished runs, done by this machine's workers while other runs are still made."""

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from wblab.core.errors import WblabError
from wblab.study.work import Order, WorkResult


class Following(Protocol):
    """Jobs that depend on runs: they draw one run, or judge several."""

    def after(self, run: str, failure: str) -> Mapping[str, Any]:
        """Return the jobs, by key, that can begin now that this run exists, or failed with a reason."""

    def do(self, job: Any) -> Any:
        """Do a job in a worker; the job and its result are pickled."""

    def take(self, key: str, made: Any) -> None:
        """Take in the result of a job."""


class UnforeseenError(RuntimeError):
    """An unexpected error of a job, with its worker's traceback."""


@dataclass(frozen=True)
class JobDone:
    """The result of a job."""

    made: Any


@dataclass(frozen=True)
class Failed:
    """The error of a job."""

    error: Exception


def done(following: Following, job: Any) -> JobDone | Failed:
    """Do a job; never raises, so that the worker goes on."""
    try:
        return JobDone(following.do(job))
    except WblabError as error:
        return Failed(error)
    except Exception:
        return Failed(UnforeseenError(traceback.format_exc()))


# The interface of workers: forks of this process (`forked`), or workers of a cluster (`cluster`).


class Workers(Protocol):
    """Workers take orders, each under a key; each worker makes one run at a time."""

    def slots(self) -> int:
        """Return the number of runs at once. Raises WblabError if all workers are gone."""

    def give(self, key: str, order: Order, *, soon: bool = False) -> None:
        """Queue an order behind the earlier ones; soon: before all that still wait."""

    def ended(self, timeout_s: float) -> Sequence[tuple[str, WorkResult | JobDone | Failed]]:
        """Return new results by key; wait for the first one, at most `timeout_s`."""

    def cancel(self) -> None:
        """Cancel all unfinished orders."""
