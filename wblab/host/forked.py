"""Workers on this machine, for what several processors can do at a time: forks of this process.

Workers are forked after the imports. Each talks to this process over an unnamed socket pair (unix(7)), so nothing
listens. A worker has one thread and does one job after the other. It ends when this process ends, even if that is
killed; then the process that watches the worker's guest ends the guest (wblab.host.process.reaper).
"""

import os
import select
import signal
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from types import FrameType
from typing import Generic, NoReturn, TypeVar

from wblab.core.child import describe_exit
from wblab.core.errors import WblabError
from wblab.host.process.reaper import close_all_but
from wblab.machine.processes import end_with

Job = TypeVar("Job")
Made = TypeVar("Made")

_ENDING_LIMIT_S = 30.0  # for a worker to end its guest
_INTERRUPTS = {signal.SIGINT, signal.SIGTERM}


@dataclass
class _Worker:
    """A worker, our end of the connection to it, and the key of the job that it is at; empty: of none."""

    pid: int
    connection: Connection
    key: str = ""


class Forked(Generic[Job, Made]):
    """Workers that are there. One that dies takes its job with it, and is not replaced.

    lost: makes the result of a job whose worker died, from the reason.
    """

    def __init__(self, workers: list[_Worker], lost: Callable[[str], Made]) -> None:
        self._workers = workers
        self._lost = lost
        self._waiting: deque[tuple[str, Job]] = deque()

    def slots(self) -> int:
        """Return how many workers there are. Raises WblabError where none is left."""
        if not self._workers:
            raise WblabError("all workers are gone: does the machine have enough memory for so many runs at once?")
        return len(self._workers)

    def give(self, key: str, job: Job, *, soon: bool = False) -> None:
        """Have a job done as soon as a worker is free. soon: before those that were given before, else after them."""
        if soon:
            self._waiting.appendleft((key, job))
        else:
            self._waiting.append((key, job))
        self._hand_on()

    def ended(self, timeout_s: float) -> list[tuple[str, Made]]:
        """Return what has ended, by key. Workers have their next jobs before that is looked at."""
        busy = [worker for worker in self._workers if worker.key]
        if not busy:
            time.sleep(timeout_s)
        ready = wait([worker.connection for worker in busy], timeout_s)
        return [self._heard(worker) for worker in busy if worker.connection in ready]

    def forget(self) -> None:
        """Forget what waits; the workers end what they are at."""
        self._waiting.clear()

    def cancel(self) -> None:
        """Forget what waits, and interrupt the workers that are at a job."""
        self.forget()
        for worker in self._workers:
            if worker.key:
                os.kill(worker.pid, signal.SIGTERM)

    def _hand_on(self) -> None:
        for worker in self._workers:
            if self._waiting and not worker.key:
                worker.key, job = self._waiting.popleft()
                with suppress(OSError):  # it has died: its end of the connection says so
                    worker.connection.send(job)

    def _heard(self, worker: _Worker) -> tuple[str, Made]:
        key, worker.key = worker.key, ""
        try:
            made: Made = worker.connection.recv()
        except (EOFError, OSError):
            self._workers.remove(worker)
            worker.connection.close()
            _, status = os.waitpid(worker.pid, 0)
            made = self._lost(f"its worker ended with {describe_exit(status)}")
        self._hand_on()
        return key, made


@contextmanager
def forked(
    count: int,
    work: Callable[[Job], Made],
    lost: Callable[[str], Made],
    holds: Collection[int] = (),
    at_end: Callable[[], object] = lambda: None,
) -> Iterator[Forked[Job, Made]]:
    """Fork workers that make what `work` makes of a job, and end them with the block. No thread is to run yet.

    What `work` raises ends its worker. Jobs and what is made of them are pickled. holds: our descriptors that workers
    keep, of all others none. at_end: called in a worker that ends.
    """
    workers: list[_Worker] = []
    try:
        for _ in range(count):
            workers.append(_fork(work, holds, at_end))
        yield Forked(workers, lost)
    finally:
        _end(workers)


def _fork(work: Callable[[Job], Made], holds: Collection[int], at_end: Callable[[], object]) -> _Worker:
    near, far = Pipe()
    us = os.getpid()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTS)
    try:
        pid = os.fork()
        if not pid:
            _serve(far, work, us, holds, at_end)
    except OSError as error:
        raise WblabError(f"cannot start a worker: {error.strerror}: lower --jobs") from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    far.close()
    return _Worker(pid, near)


def _serve(
    connection: Connection,
    work: Callable[[Job], Made],
    parent: int,
    holds: Collection[int],
    at_end: Callable[[], object],
) -> NoReturn:
    """Do jobs, for ever: in a process that was forked for this."""
    try:
        end_with(parent)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C is for the parent, which tells us
        signal.signal(signal.SIGTERM, _interrupt)
        close_all_but({0, 1, 2, connection.fileno(), *holds})  # not the parent's lock, nor what leads to others
        os.environ["OPENBLAS_NUM_THREADS"] = "1"  # NumPy then starts none: of one thread, a fork watches the guest
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPTS)
        while True:
            connection.send(work(connection.recv()))
    except (EOFError, OSError, KeyboardInterrupt):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        at_end()
    finally:
        os._exit(1)


def _interrupt(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once: nothing is to interrupt how the guest is ended
    raise KeyboardInterrupt


def _end(workers: list[_Worker]) -> None:
    """End workers, which end their guests before."""
    for worker in workers:
        os.kill(worker.pid, signal.SIGTERM)
    until_s = time.monotonic() + _ENDING_LIMIT_S
    for worker in workers:
        ended = os.pidfd_open(worker.pid)
        select.select([ended], [], [], max(0.0, until_s - time.monotonic()))
        os.close(ended)
        os.kill(worker.pid, signal.SIGKILL)
        os.waitpid(worker.pid, 0)
        worker.connection.close()
