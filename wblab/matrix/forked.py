"""Workers on this machine that make a matrix's runs."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wblab.host.forked import Forked
from wblab.host.forked import forked as forked_for
from wblab.matrix.work import Order, Result, run_in, unforeseen


@contextmanager
def forked(count: int, room: Path) -> Iterator[Forked[Order, Result]]:
    """Fork workers, and end them with the block; they work in `room`, which goes then. No thread is to run yet."""

    def work(order: Order) -> Result:
        try:
            return run_in(room, order)
        except Exception as error:
            return unforeseen(error)

    try:
        with forked_for(count, work, lambda reason: Result(failure=reason)) as workers:
            yield workers
    finally:
        shutil.rmtree(room, ignore_errors=True)
