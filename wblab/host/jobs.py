"""Several jobs at a time, which end together: where one fails, or we are interrupted, none goes on.

with working(make_run, at_once) as workers, bar(title) as report:
    made = all_of(workers, jobs, report)
"""

import traceback
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from wblab.core.errors import WblabError
from wblab.host.forked import Forked, forked
from wblab.lab.progress import Report, silent

Job = TypeVar("Job")
Made = TypeVar("Made")

_TICK_S = 1.0


class UnforeseenError(RuntimeError):
    """What a job stumbled over in its worker, with the traceback of that."""


@dataclass(frozen=True)
class Done(Generic[Made]):
    """What a job has made."""

    made: Made


@dataclass(frozen=True)
class Failed:
    """Why a job has made nothing."""

    error: Exception


Working: TypeAlias = Forked[Job, Done[Made] | Failed]


def working(one: Callable[[Job], Made], at_once: int) -> AbstractContextManager[Working[Job, Made]]:
    """Have workers that make what `one` makes of a job, `at_once` jobs at a time; they end with the block.

    They are forks of this process: no thread of Python's is to run yet, that of a progress bar neither. (NumPy's end
    before a fork, and come back where they are needed.)
    """

    def work(job: Job) -> Done[Made] | Failed:
        try:
            return Done(one(job))
        except WblabError as error:
            return Failed(error)
        except Exception:
            return Failed(UnforeseenError(traceback.format_exc()))

    return forked(at_once, work, lambda reason: Failed(WblabError(reason)))


def all_of(
    workers: Working[Job, Made],
    jobs: Mapping[str, Job],
    report: Report = silent,
    then: Callable[[Made], Mapping[str, Job]] = lambda made: {},
) -> dict[str, Made]:
    """Return what workers make of jobs, by key. Raises what the first job that failed raised; none then begins.

    then: is told what a job has made, and returns jobs that come next, before all others.
    """
    left, made = set(jobs), dict[str, Made]()
    for key, job in jobs.items():
        workers.give(key, job)
    try:
        while left:
            workers.slots()
            for key, outcome in workers.ended(_TICK_S):
                if key not in left:  # of jobs before, of which one failed
                    continue
                if isinstance(outcome, Failed):
                    raise outcome.error
                left.remove(key)
                made[key] = outcome.made
                for following, job in then(outcome.made).items():
                    left.add(following)
                    workers.give(following, job, soon=True)
                done = len(jobs.keys() & made.keys())
                report(done / len(jobs), f"{done} of {len(jobs)} runs")
    finally:
        workers.forget()
    return {key: made[key] for key in dict.fromkeys((*jobs, *made))}
