"""Several runs at a time, which end together."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from wblab.lab.progress import Report

Job = TypeVar("Job")
Made = TypeVar("Made")


def side_by_side(
    jobs: Sequence[Job], one: Callable[[Job, Report], Made], at_once: int, report: Report = lambda share, text: None
) -> list[Made]:
    """Return what `one` makes of each job, in their order; `at_once` jobs go on at a time.

    `one` is handed a report to call now and then: where another job failed or we are interrupted, that call ends it.
    Raises what the first job that failed raised.
    """
    stop = threading.Event()
    futures: list[Future[Made]] = []

    def ending(share: float | None, text: str) -> None:
        if stop.is_set():
            raise KeyboardInterrupt

    def count(future: "Future[Made]") -> None:
        done = sum(each.done() for each in futures)
        if not stop.is_set():
            report(done / len(jobs), f"{done} of {len(jobs)} runs")

    with ThreadPoolExecutor(at_once) as pool:
        futures += [pool.submit(one, job, ending) for job in jobs]
        for future in futures:
            future.add_done_callback(count)
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
            failed = [future.exception() for future in futures if future.done() and future.exception()]
        finally:
            if not all(future.done() for future in futures):
                stop.set()  # guests that still run are ended at their next word
                pool.shutdown(wait=False, cancel_futures=True)
    if failed and failed[0]:
        raise failed[0]
    return [future.result() for future in futures]
