"""Make the missing runs of a study, store them, and start the jobs that depend on them."""

import secrets
import time
from collections import deque
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.core.errors import WblabError
from wblab.core.tables import to_table
from wblab.core.units import NS_PER_S
from wblab.host.machine import processors
from wblab.lab.formats import NOISY_MARK
from wblab.lab.progress import Report, bar
from wblab.report.quantities import about, quantity
from wblab.study import work
from wblab.study.cells import Cell, run_name
from wblab.study.cluster import Cluster, forked
from wblab.study.following import Failed, Following, JobDone, Workers
from wblab.study.made import seal
from wblab.study.store import Store

if TYPE_CHECKING:
    from distributed import Client

_TICK_S = 1.0
_AHEAD = 3  # orders per slot: no worker idles, and little is lost if this process dies


@dataclass(frozen=True)
class Attempt:
    """One attempt at a run."""

    cell: Cell
    seed: int
    number: int = 1

    def __str__(self) -> str:
        return f"{self.cell}, seed {self.seed}"


@dataclass
class Tally:
    """Counts of the runs so far, and the reason of each failure."""

    total: int
    done: int = 0
    repeated: int = 0
    failures: list[tuple[Attempt, str]] = field(default_factory=list)

    @property
    def ended(self) -> int:
        """Number of runs that succeeded or finally failed."""
        return self.done + len(self.failures)

    def plus(self, other: "Tally") -> "Tally":
        """Return the counts of both."""
        failures = [*self.failures, *other.failures]
        return Tally(self.total + other.total, self.done + other.done, self.repeated + other.repeated, failures)

    def words(self, passed_s: float) -> str:
        """Return the text of a progress bar."""
        words = [f"{self.ended} of {self.total} runs"]
        if self.failures:
            words.append(f"{len(self.failures)} failed")
        if self.repeated:
            words.append(f"{self.repeated} repeated")
        if self.ended:
            words.append(f"{about(passed_s / self.ended * (self.total - self.ended))} left")
        return ", ".join(words)


class Runner:
    """Hands out the missing runs of a store and stores their results; `tally` counts them.

    wanted: names of the runs to make (default: all). following: jobs that depend on runs.
    """

    def __init__(
        self,
        store: Store,
        workers: Workers,
        report: Report,
        wanted: Collection[str] | None = None,
        following: Following | None = None,
    ) -> None:
        self._store = store
        self._workers = workers
        self._report = report
        # A run in real time has the machine to itself: it comes last, when no other run waits for it.
        missing = sorted(store.missing(wanted), key=lambda run: run[0].spec.clock.mode == "real")
        self._waiting = deque(Attempt(cell, seed) for cell, seed in missing)
        self._out: dict[str, Attempt] = {}
        self._following = following
        self._jobs: set[str] = set()  # keys of unfinished jobs of `following`
        self._token = secrets.token_hex(4)
        self._started = time.monotonic()
        self.tally = Tally(len(self._waiting))

    def run(self) -> Tally:
        """Make all runs. Raises WblabError if the workers are lost; finished runs are kept in any case."""
        try:
            self._follow_all()
            while self._waiting or self._out or self._jobs:
                self._hand_out(self._workers.slots())
                share = self.tally.ended / self.tally.total if self.tally.total else 1.0
                self._report(share, self.tally.words(time.monotonic() - self._started))
                for key, result in self._workers.ended(_TICK_S):
                    if isinstance(result, work.WorkResult) and key in self._out:
                        self._take_in(self._out.pop(key), result)
                    else:
                        self._take(key, result)
        finally:
            self._workers.cancel()
        return self.tally

    def _hand_out(self, slots: int) -> None:
        while self._waiting and len(self._out) < _AHEAD * slots:
            attempt = self._waiting.popleft()
            spec, plan = attempt.cell.with_seed(attempt.seed), self._store.plan
            build_id = str(self._store.kernels[spec.kernel.build]["build_id"])
            key = f"wblab-{self._token}-{spec.name}-{attempt.number}"
            self._out[key] = attempt
            further = (plan.metrics, attempt.cell.may_lose, not self._store.keeps_directories)
            self._workers.give(key, work.Order(to_table(spec), build_id, work.own_program(), *further))

    def _take_in(self, attempt: Attempt, result: work.WorkResult) -> None:
        repeated = self.tally.repeated
        failure = result.failure or self._keep(attempt, result)
        if result.failure:
            self._store.failed(attempt.cell, attempt.seed, result.failure, result.left)
        if failure:
            self.tally.failures.append((attempt, failure))
        if self.tally.repeated == repeated:  # otherwise it is repeated
            self._follow(run_name(attempt.cell, attempt.seed), failure)

    def _follow_all(self) -> None:
        """Start the jobs that depend on earlier runs."""
        if self._following:
            missing = {run_name(cell, seed) for cell, seed in self._store.missing()}
            for cell, seed in self._store.plan.runs():
                if (name := run_name(cell, seed)) not in missing:
                    self._follow(name, "")

    def _follow(self, run: str, failure: str) -> None:
        for key, job in (self._following.after(run, failure) if self._following else {}).items():
            self._jobs.add(key)
            self._workers.give(key, job, soon=True)

    def _take(self, key: str, result: work.WorkResult | JobDone | Failed) -> None:
        """Take in the result of a job. Raises the error of the job."""
        self._jobs.discard(key)
        if isinstance(result, Failed):
            raise result.error
        if isinstance(result, work.WorkResult):
            raise WblabError(result.failure)
        if self._following:
            self._following.take(key, result.made)

    def _keep(self, attempt: Attempt, result: work.WorkResult) -> str:
        """Store a run; return the reason if it does not count. A noisy run is repeated a few times."""
        try:
            kept = self._store.keep(attempt.cell, attempt.seed, result.left)
        except WblabError as error:
            self._store.failed(attempt.cell, attempt.seed, str(error))
            return str(error)
        if result.rows is None:
            failure = "its measurements cannot be read"
            self._store.failed(attempt.cell, attempt.seed, failure, kept)
            return failure
        stall_s = self._stall_s(attempt, kept)
        if stall_s is None:
            self._store.done(attempt.cell, attempt.seed, kept, result.rows, result.digest)
            self.tally.done += 1
            return ""
        self._store.name(attempt.cell, attempt.seed, kept, NOISY_MARK)
        if attempt.number <= self._store.plan.repeats:
            self.tally.repeated += 1
            self._waiting.append(Attempt(attempt.cell, attempt.seed, attempt.number + 1))
            return ""
        times = "once" if attempt.number == 1 else f"{attempt.number} times"
        return f"noisy {times}: its control load stalled for {quantity(stall_s, 's')}"

    def _stall_s(self, attempt: Attempt, kept: Path) -> float | None:
        """Return how long the control load stalled if that was too long; None in virtual time."""
        if attempt.cell.spec.clock.mode != "real":
            return None
        from wblab.analysis.runs.metrics import control_stall_s
        from wblab.analysis.runs.run import read_run

        stall_s = control_stall_s(read_run(kept))
        return stall_s if stall_s * NS_PER_S > self._store.plan.control_bound_ns else None


def run_missing(
    store: Store,
    workers: Workers,
    report: Report,
    wanted: Collection[str] | None = None,
    following: Following | None = None,
) -> Tally:
    """Make the missing runs of a store, or those wanted. Its rows are always settled. Raises WblabError."""
    try:
        return Runner(store, workers, report, wanted, following).run()
    finally:
        store.settle()
        if store.plan.shard:
            seal(store)


def run_store(
    store: Store,
    client: "Client | None" = None,
    jobs: int | None = None,
    wanted: Collection[str] | None = None,
    following: Following | None = None,
) -> Tally:
    """Make the missing runs, or those wanted, by name, with progress. Raises WblabError.

    client: of a cluster; otherwise the runs are made here, `jobs` at once (default: one per processor). following: jobs
    that depend on runs, done here.
    """
    with ExitStack() as stack:
        if client is not None:
            workers: Workers = Cluster(client)
        else:
            todo = store.missing(wanted) if following is None else store.plan.runs()
            count = min(jobs or processors(), len(todo))
            workers = stack.enter_context(forked(count, store.room(), store.kernels, following))
        report = stack.enter_context(bar(store.plan.name))  # starts a thread, so it follows the forks
        return run_missing(store, workers, report, wanted, following)
