"""Where runs are made: workers in this process, or those of a dask scheduler at an address."""

import logging
import shutil
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.core.errors import InputError, WblabError
from wblab.matrix import work

if TYPE_CHECKING:
    from distributed import Client

_CONNECT_S, _FIRST_WORKER_S = 10, 10


@contextmanager
def local(workers: int, room: Path) -> Iterator["Client"]:
    """Start workers in threads of this process, and end them with the block. They work in `room`.

    Whoever reaches a dask scheduler or worker runs code as its user: these listen nowhere, and hand each other objects
    in memory. A run is a process of its own in any case.
    """
    _quiet()
    from distributed import Client, Security, SpecCluster

    scheduler, worker = _unreachable()
    inside = {"protocol": "inproc://", "security": Security(require_encryption=False), "dashboard": False}
    own = {"nthreads": 1, "memory_limit": 0, "local_directory": str(room), "silence_logs": logging.CRITICAL}
    # Ctrl-C in a terminal is for us: threads that are started now and later, and their children, never get it.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    cluster = client = None
    try:
        cluster = SpecCluster(
            scheduler={"cls": scheduler, "options": inside},
            workers={number: {"cls": worker, "options": inside | own} for number in range(workers)},
            silence_logs=logging.CRITICAL,
        )
        client = Client(cluster)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        yield client
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        with suppress(Exception):  # what we were after has been done, or has failed with a reason of its own
            for end in (client, cluster):
                if end is not None:
                    end.close()
        shutil.rmtree(room, ignore_errors=True)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _unreachable() -> tuple[type, type]:
    """Return dask's scheduler and worker without the web server that each starts, also where no dashboard is wanted."""
    from distributed import Scheduler, Worker

    def start_http_server(self: object, *arguments: Any, **options: Any) -> None:
        """Start none."""

    without = {"start_http_server": start_http_server}
    return type("LocalScheduler", (Scheduler,), without), type("LocalWorker", (Worker,), without)


@contextmanager
def remote(address: str) -> Iterator["Client"]:
    """Connect to a scheduler that runs already; tls:// takes the certificates of dask's configuration.

    Code runs both ways: the scheduler and its workers can run what they like here. Raises InputError where none can be
    reached.
    """
    _quiet()
    from distributed import Client, Security

    if address.startswith("tls://") and not Security().get_connection_args("client").get("ssl_context"):
        raise InputError(f"{address!r} needs certificates: name them in dask's configuration, distributed.comm.tls")
    try:
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
    """Raise InputError unless all workers can run the orders: they have the lab, its tools and the same kernels."""
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


class Watch:
    """Whether the cluster is still there, and how many runs it can make at once."""

    def __init__(self, client: "Client", patience_s: float) -> None:
        self._client = client
        self._patience_s = patience_s
        self._seen = time.monotonic()

    def slots(self) -> int:
        """Return how many runs go on at once. Raises WblabError when the scheduler or all workers are gone."""
        if self._client.status != "running":
            raise WblabError("the scheduler is gone")
        try:
            slots = int(sum(self._client.nthreads().values()))
        except OSError as error:
            raise WblabError(f"the scheduler is gone: {error}") from None
        now = time.monotonic()
        if slots:
            self._seen = now
        elif now - self._seen > self._patience_s:
            raise WblabError(f"all workers are gone, and none came back for {self._patience_s:g} s")
        return slots


def _quiet() -> None:
    """Keep dask from talking: what matters of it is said in our own words."""
    import dask

    dask.config.set({"logging.distributed": "critical"})
    # asyncio: a batch of messages that still waits for its moment when dask's loop ends is never asked for its timeout.
    for name in ("distributed", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
