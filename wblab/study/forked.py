"""Workers on this machine that make a matrix's runs."""

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wblab.host.forked import Forked
from wblab.host.forked import forked as forked_for
from wblab.study.following import Done, Failed, Following, done
from wblab.study.work import Order, Result, run_in, unforeseen, warm


@contextmanager
def forked(
    count: int, room: Path, kernels: Iterable[str], following: Following | None = None
) -> Iterator[Forked[Any, Result | Done | Failed]]:
    """Fork workers that run these kernels, and end them with the block; they work in `room`, which goes then.

    following: does the jobs that are no orders. No thread is to run yet. Raises InputError for a kernel that is not
    there.
    """

    def work(order: Any) -> Result | Done | Failed:
        if following and not isinstance(order, Order):
            return done(following, order)
        try:
            return run_in(room, order)
        except Exception as error:
            return unforeseen(error)

    try:
        warm(kernels)
        with forked_for(count, work, lambda reason: Result(failure=reason)) as workers:
            yield workers
    finally:
        shutil.rmtree(room, ignore_errors=True)
