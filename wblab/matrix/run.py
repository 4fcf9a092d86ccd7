"""Run what is missing of a matrix on a cluster, and keep what comes back."""

import secrets
import time
from collections import deque
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.core.errors import WblabError
from wblab.core.tables import to_table
from wblab.core.units import NS_PER_S
from wblab.host.machine import processors
from wblab.lab.progress import Report
from wblab.matrix import work
from wblab.matrix.cluster import Watch, local
from wblab.matrix.plan import Cell
from wblab.matrix.store import Store

if TYPE_CHECKING:
    from distributed import Client, Future

_TICK_S = 1.0
_PATIENCE_S = 60.0
_AHEAD = 3  # runs that are handed out for each that can go on at once: no worker waits, and little is lost with us


@dataclass(frozen=True)
class Attempt:
    """One try at a run."""

    cell: Cell
    seed: int
    number: int = 1

    def __str__(self) -> str:
        return f"{self.cell}, seed {self.seed}"


@dataclass
class Tally:
    """What has become of the runs so far: numbers, and the reason of each failure."""

    total: int
    done: int = 0
    repeated: int = 0
    failures: list[tuple[Attempt, str]] = field(default_factory=list)

    @property
    def ended(self) -> int:
        """How many runs need no further attention."""
        return self.done + len(self.failures)

    def words(self, passed_s: float) -> str:
        """Return what to tell somebody who watches."""
        words = [f"{self.ended} of {self.total} runs"]
        if self.failures:
            words.append(f"{len(self.failures)} failed")
        if self.repeated:
            words.append(f"{self.repeated} repeated")
        if self.ended:
            words.append(time_left(passed_s / self.ended * (self.total - self.ended)))
        return ", ".join(words)


def time_left(seconds: float) -> str:
    """Return a time in words that promise no more than is known."""
    if seconds < 100:
        return f"about {max(1, round(seconds))} s left"
    if seconds < 6000:
        return f"about {round(seconds / 60)} min left"
    return f"about {seconds / 3600:.1f} h left"


class Runner:
    """Hands out the missing runs of a store and takes in their results; `tally` says how far it got."""

    def __init__(self, store: Store, client: "Client", report: Report, patience_s: float = _PATIENCE_S) -> None:
        self._store = store
        self._client = client
        self._report = report
        self._watch = Watch(client, patience_s)
        # A run in real time has its machine to itself: those come last, when no other would have to wait for them.
        missing = sorted(store.missing(), key=lambda run: run[0].spec.clock.mode == "real")
        self._waiting = deque(Attempt(cell, seed) for cell, seed in missing)
        self._out: dict[Future[work.Result], Attempt] = {}
        self._token = secrets.token_hex(4)
        self._started = time.monotonic()
        self.tally = Tally(len(self._waiting))

    def run(self) -> Tally:
        """Run all; raises WblabError when the cluster is lost. What is done stays done, whatever happens."""
        from distributed import wait

        try:
            while self._waiting or self._out:
                self._hand_out(self._watch.slots())
                self._report(self.tally.ended / self.tally.total, self.tally.words(time.monotonic() - self._started))
                if not self._out:
                    time.sleep(_TICK_S)
                    continue
                with suppress(TimeoutError):
                    wait(list(self._out), timeout=_TICK_S, return_when="FIRST_COMPLETED")
                for future in [future for future in self._out if future.done()]:
                    self._take_in(future)
        finally:
            if self._out:
                with suppress(Exception):  # the cluster may be gone
                    self._client.cancel(list(self._out), force=True)
        return self.tally

    def _hand_out(self, slots: int) -> None:
        while self._waiting and len(self._out) < _AHEAD * slots:
            attempt = self._waiting.popleft()
            spec = attempt.cell.with_seed(attempt.seed)
            build_id = str(self._store.kernels[spec.kernel]["build_id"])
            order = work.Order(to_table(spec), build_id, work.own_program())
            key = f"wblab-{self._token}-{spec.name}-{attempt.number}"
            self._out[self._client.submit(work.run, order, key=key, pure=False)] = attempt

    def _take_in(self, future: "Future[work.Result]") -> None:
        from distributed import CancelledError

        attempt = self._out.pop(future)
        try:
            result = future.result()
        except CancelledError:
            self._watch.slots()  # says so if the cluster is gone
            result = work.Result(b"", "the scheduler dropped it")
        except Exception as error:  # whatever the worker or dask raises: it is the reason
            result = work.Result(b"", f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")
        finally:
            future.release()
        failure = result.failure or self._keep(attempt, result)
        if result.failure:
            self._store.failed(attempt.cell, attempt.seed, result.failure, result.archive)
        if failure:
            self.tally.failures.append((attempt, failure))

    def _keep(self, attempt: Attempt, result: work.Result) -> str:
        """Keep a run; return why it does not count. A noisy one is made again a few times."""
        try:
            unpacked = self._store.keep(attempt.cell, attempt.seed, result.archive)
        except WblabError as error:
            self._store.failed(attempt.cell, attempt.seed, str(error))
            return str(error)
        stall_s = self._stall_s(attempt, unpacked)
        if stall_s is None:
            self._store.done(attempt.cell, attempt.seed, unpacked)
            self.tally.done += 1
            return ""
        self._store.done(attempt.cell, attempt.seed, unpacked, noisy=True)
        if attempt.number <= self._store.matrix.repeats:
            self.tally.repeated += 1
            self._waiting.append(Attempt(attempt.cell, attempt.seed, attempt.number + 1))
            return ""
        times = "once" if attempt.number == 1 else f"{attempt.number} times"
        return f"noisy {times}: its control load stalled for {stall_s * 1000:.0f} ms"

    def _stall_s(self, attempt: Attempt, unpacked: Path) -> float | None:
        """Return for how long the control load stalled if that was too long, which only real time can show."""
        if attempt.cell.spec.clock.mode != "real":
            return None
        from wblab.data.metrics import control_stall_s
        from wblab.data.run import read_run

        stall_s = control_stall_s(read_run(unpacked))
        return stall_s if stall_s * NS_PER_S > self._store.matrix.control_bound_ns else None


def run_missing(store: Store, client: "Client | None", workers: int | None, report: Report) -> Tally:
    """Run what is missing of a store; its tables are written whatever happens. Raises WblabError.

    client: a cluster; None: so many workers of this machine, or one for each of its processors.
    """
    missing = len(store.missing())
    try:
        if not missing:
            return Tally(0)
        with ExitStack() as stack:
            report(None, "starting the workers")
            if client is None:
                client = stack.enter_context(local(min(workers or processors(), missing), store.room()))
            return Runner(store, client, report).run()
    finally:
        store.write_tables()
