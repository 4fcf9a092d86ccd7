"""Workers of a dask.distributed cluster, given by the address of its scheduler."""

import logging
import shutil
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.core.errors import InputError, WblabError
from wblab.host.forked import Forked
from wblab.host.forked import forked as forked_for
from wblab.lab.held import descriptor_in
from wblab.study import work
from wblab.study.following import Failed, Following, JobDone, done
from wblab.study.work import Order, WorkResult, run_in, unforeseen, warm

if TYPE_CHECKING:
    from distributed import Client, Future


# Worker processes of this machine, which make the runs of a study.


@contextmanager
def forked(
    count: int,
    room: Path,
    kernels: Iterable[str],
    following: Following | None = None,
    make: Callable[[Path, Order], WorkResult] = run_in,
) -> Iterator[Forked[Any, WorkResult | JobDone | Failed]]:
    """Fork workers for these kernels, and end them with the block. They work in `room`, which is then removed.

    following: does the jobs that are not orders. make: makes the run of an order in `room`. The process must have no
    threads yet. Raises InputError if a kernel is not built.
    """

    def work(order: Any) -> WorkResult | JobDone | Failed:
        if following and not isinstance(order, Order):
            return done(following, order)
        try:
            return make(room, order)
        except Exception as error:
            return unforeseen(error)

    try:
        warm(kernels)
        holds = [] if (number := descriptor_in(room)) is None else [number]
        with forked_for(count, work, lambda reason: WorkResult(failure=reason), holds) as workers:
            yield workers
    finally:
        shutil.rmtree(room, ignore_errors=True)


_CONNECT_S, _FIRST_WORKER_S = 10, 10
_PATIENCE_S = 60.0


@contextmanager
def remote(address: str) -> Iterator["Client"]:
    """Connect to a running scheduler; tls:// uses the certificates of dask's configuration.

    Trust is mutual: the scheduler and its workers can run any code here. Raises InputError if it cannot be reached.
    """
    _quiet()
    from distributed import Client, Security

    if address.startswith("tls://") and not Security().get_connection_args("client").get("ssl_context"):
        raise InputError(f"{address!r} needs certificates: name them in dask's configuration, distributed.comm.tls")
    try:
        with warnings.catch_warnings(action="ignore"):  # of other versions: `check_workers` says what cannot work
            client = Client(address, timeout=_CONNECT_S)
    except (OSError, ValueError, ImportError) as error:
        words = " ".join(str(error).split())[:200]
        raise InputError(f"no scheduler at {address!r}: {words}: give an address such as tls://10.0.0.1:8786") from None
    try:
        yield client
    finally:
        with suppress(Exception):
            client.close()


def check_workers(client: "Client", orders: Sequence[work.Order]) -> None:
    """Raise InputError unless all workers can run the orders: each needs the lab, its tools and the same kernels.

    The scheduler needs the lab, too: it takes orders apart.
    """
    try:
        client.run_on_scheduler(work.why_not, [])
    except OSError:
        raise InputError("the scheduler is gone: start it again") from None
    except Exception as error:  # whatever it cannot import
        words = " ".join(str(error).split())[:200]
        raise InputError(f"the scheduler cannot use the lab ({words}): start it with the lab's own Python") from None
    try:
        client.wait_for_workers(1, timeout=_FIRST_WORKER_S)
        answers = client.run(work.why_not, list(orders), on_error="return")
    except OSError as error:  # also TimeoutError
        raise InputError(f"the scheduler has no worker: start some with 'dask worker' ({error})") from None
    for address, answer in answers.items():
        if isinstance(answer, Exception):
            words = " ".join(str(answer).split())[:200]
            raise InputError(f"the worker {address} cannot use the lab: {type(answer).__name__}: {words}")
        if answer:
            raise InputError(f"the worker {address} cannot run this: {answer}")


class Cluster:
    """The `Workers` of a cluster. They may come and go; a study ends `patience_s` after the last one is gone."""

    def __init__(self, client: "Client", patience_s: float = _PATIENCE_S) -> None:
        self._client = client
        self._patience_s = patience_s
        self._seen_s = time.monotonic()
        self._keys: dict[Future[work.WorkResult], str] = {}

    def slots(self) -> int:
        """Return the number of runs at once. Raises WblabError if the scheduler or all workers are gone."""
        if self._client.status != "running":
            raise WblabError("the scheduler is gone")
        try:
            slots = int(sum(self._client.nthreads().values()))
        except OSError as error:
            raise WblabError(f"the scheduler is gone: {error}") from None
        now_s = time.monotonic()
        if slots:
            self._seen_s = now_s
        elif now_s - self._seen_s > self._patience_s:
            raise WblabError(f"all workers are gone, and none came back for {self._patience_s:g} s")
        return slots

    def give(self, key: str, order: work.Order, *, soon: bool = False) -> None:
        """Submit an order; the scheduler chooses the sequence."""
        self._keys[self._client.submit(work.run, order, key=key, pure=False)] = key

    def ended(self, timeout_s: float) -> list[tuple[str, work.WorkResult]]:
        """Return the results that came in. Raises WblabError if the scheduler is gone."""
        from distributed import wait

        if not self._keys:
            time.sleep(timeout_s)
            return []
        with suppress(TimeoutError):
            wait(list(self._keys), timeout=timeout_s, return_when="FIRST_COMPLETED")
        return [(self._keys.pop(future), self._result(future)) for future in list(self._keys) if future.done()]

    def cancel(self) -> None:
        """Cancel all unfinished orders."""
        if self._keys:
            with suppress(Exception):  # the cluster may be gone
                self._client.cancel(list(self._keys), force=True)

    def _result(self, future: "Future[work.WorkResult]") -> work.WorkResult:
        from distributed import CancelledError

        try:
            return future.result()
        except CancelledError:
            self.slots()  # raises if the cluster is gone
            return work.WorkResult(failure="the scheduler dropped it")
        except Exception as error:  # whatever the worker or dask raises
            return work.unforeseen(error)
        finally:
            future.release()


def _quiet() -> None:
    """Silence dask's logs: the lab reports problems itself."""
    import dask

    dask.config.set({"logging.distributed": "critical"})
    # asyncio: when dask's loop ends, a batch of messages may be pending, whose timeout nobody retrieves.
    for name in ("distributed", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
