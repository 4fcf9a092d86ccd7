"""Worker processes of this machine, which make the runs of a study."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wblab.host.forked import Forked
from wblab.host.forked import forked as forked_for
from wblab.lab.held import descriptor_in
from wblab.study.following import Done, Failed, Following, done
from wblab.study.work import Order, Result, run_in, unforeseen, warm


@contextmanager
def forked(
    count: int,
    room: Path,
    kernels: Iterable[str],
    following: Following | None = None,
    make: Callable[[Path, Order], Result] = run_in,
) -> Iterator[Forked[Any, Result | Done | Failed]]:
    """Fork workers for these kernels, and end them with the block. They work in `room`, which is then removed.

    following: does the jobs that are not orders. make: makes the run of an order in `room`. The process must have no
    threads yet. Raises InputError if a kernel is not built.
    """

    def work(order: Any) -> Result | Done | Failed:
        if following and not isinstance(order, Order):
            return done(following, order)
        try:
            return make(room, order)
        except Exception as error:
            return unforeseen(error)

    try:
        warm(kernels)
        holds = [] if (number := descriptor_in(room)) is None else [number]
        with forked_for(count, work, lambda reason: Result(failure=reason), holds) as workers:
            yield workers
    finally:
        shutil.rmtree(room, ignore_errors=True)
