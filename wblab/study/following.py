"""What is made of runs while others are still being made: the same workers do it, on this machine."""

import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from wblab.core.errors import WblabError


class Following(Protocol):
    """Jobs that follow from runs: they draw a run, or judge several."""

    def after(self, run: str, failure: str) -> Mapping[str, Any]:
        """Return jobs by key that can begin, now that the run of this name is there, or has failed for a reason."""

    def do(self, job: Any) -> Any:
        """Do a job, in a worker: what it is told and what it returns are pickled."""

    def take(self, key: str, made: Any) -> None:
        """Take in what a job has made."""


class UnforeseenError(RuntimeError):
    """What a job stumbled over in its worker, with the traceback of that."""


@dataclass(frozen=True)
class Done:
    """What a job has made."""

    made: Any


@dataclass(frozen=True)
class Failed:
    """Why a job has made nothing."""

    error: Exception


def done(following: Following, job: Any) -> Done | Failed:
    """Do a job, and never raise: a worker goes on."""
    try:
        return Done(following.do(job))
    except WblabError as error:
        return Failed(error)
    except Exception:
        return Failed(UnforeseenError(traceback.format_exc()))
