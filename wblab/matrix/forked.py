"""Workers on this machine: forks of this process, which have imported and found out what all runs need.

Nothing listens: each worker has one end of a pair of sockets without a name (unix(7)), and we the other. It has one
thread, and makes one run after the other in a directory of ours. It ends with us, however that is; then the
process that watches its guest ends the guest (wblab.host.reaper).
"""

import os
import select
import shutil
import signal
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from types import FrameType

from wblab.core.child import describe_exit
from wblab.core.errors import WblabError
from wblab.host.reaper import close_all_but
from wblab.machine.lifetime import end_with
from wblab.matrix.work import Order, Result, run_in, unforeseen

_ENDING_LIMIT_S = 30.0  # for a worker to end its guest
_INTERRUPTS = {signal.SIGINT, signal.SIGTERM}


@dataclass
class _Worker:
    """A worker, our end of the connection to it, and the key of the order that it is at; empty: of none."""

    pid: int
    connection: Connection
    key: str = ""


class Forked:
    """Workers that are there, as `Workers` has it. One that dies takes its run with it, and is not replaced."""

    def __init__(self, workers: list[_Worker]) -> None:
        self._workers = workers
        self._waiting: deque[tuple[str, Order]] = deque()

    def slots(self) -> int:
        """Return how many workers there are. Raises WblabError where none is left."""
        if not self._workers:
            raise WblabError("all workers are gone: does the machine have enough memory for so many runs at once?")
        return len(self._workers)

    def give(self, key: str, order: Order) -> None:
        """Have an order run as soon as a worker is free."""
        self._waiting.append((key, order))
        self._hand_on()

    def ended(self, timeout_s: float) -> list[tuple[str, Result]]:
        """Return what has ended. Workers have their next orders before that is looked at."""
        busy = [worker for worker in self._workers if worker.key]
        if not busy:
            time.sleep(timeout_s)
        ready = wait([worker.connection for worker in busy], timeout_s)
        return [self._heard(worker) for worker in busy if worker.connection in ready]

    def cancel(self) -> None:
        """Forget what waits, and interrupt the workers that are at a run."""
        self._waiting.clear()
        for worker in self._workers:
            if worker.key:
                os.kill(worker.pid, signal.SIGTERM)

    def _hand_on(self) -> None:
        for worker in self._workers:
            if self._waiting and not worker.key:
                worker.key, order = self._waiting.popleft()
                with suppress(OSError):  # it has died: its end of the connection says so
                    worker.connection.send(order)

    def _heard(self, worker: _Worker) -> tuple[str, Result]:
        key, worker.key = worker.key, ""
        try:
            result: Result = worker.connection.recv()
        except (EOFError, OSError):
            self._workers.remove(worker)
            worker.connection.close()
            _, status = os.waitpid(worker.pid, 0)
            result = Result(failure=f"its worker ended with {describe_exit(status)}")
        self._hand_on()
        return key, result


@contextmanager
def forked(count: int, room: Path) -> Iterator[Forked]:
    """Fork workers, and end them with the block; they work in `room`, which goes then. No thread is to run yet."""
    workers: list[_Worker] = []
    try:
        for _ in range(count):
            workers.append(_fork(room))
        yield Forked(workers)
    finally:
        _end(workers)
        shutil.rmtree(room, ignore_errors=True)


def _fork(room: Path) -> _Worker:
    near, far = Pipe()
    us = os.getpid()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTS)
    try:
        pid = os.fork()
        if not pid:
            _serve(far, room, us)
    except OSError as error:
        raise WblabError(f"cannot start a worker: {error.strerror}: give --jobs fewer runs at once") from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    far.close()
    return _Worker(pid, near)


def _serve(connection: Connection, room: Path, parent: int) -> None:
    """Run orders, for ever: in a process that was forked for this."""
    try:
        end_with(parent)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C is for the parent, which tells us
        signal.signal(signal.SIGTERM, _interrupt)
        close_all_but({0, 1, 2, connection.fileno()})  # not the parent's lock, nor what leads to others
        os.environ["OPENBLAS_NUM_THREADS"] = "1"  # NumPy then starts none: of one thread, a fork watches the guest
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPTS)
        while True:
            order = connection.recv()
            try:
                result = run_in(room, order)
            except Exception as error:
                result = unforeseen(error)
            connection.send(result)
    except (EOFError, OSError, KeyboardInterrupt):
        pass
    finally:
        os._exit(1)


def _interrupt(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once: nothing is to interrupt how the guest is ended
    raise KeyboardInterrupt


def _end(workers: list[_Worker]) -> None:
    """End workers that are idle at once, others when their guests have ended."""
    for worker in workers:
        os.kill(worker.pid, signal.SIGTERM if worker.key else signal.SIGKILL)
    until_s = time.monotonic() + _ENDING_LIMIT_S
    for worker in workers:
        ended = os.pidfd_open(worker.pid)
        select.select([ended], [], [], max(0.0, until_s - time.monotonic()))
        os.close(ended)
        os.kill(worker.pid, signal.SIGKILL)
        os.waitpid(worker.pid, 0)
        worker.connection.close()
