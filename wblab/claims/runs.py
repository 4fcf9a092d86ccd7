"""Makes the runs that claims need, several at a time."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from pathlib import Path

from wblab.claims.cases import CASES, case_spec
from wblab.claims.sample import Sample, sample_of
from wblab.core.spec import Spec
from wblab.data.run import read_run
from wblab.host.check import check_kernel, check_run
from wblab.host.kernel import Kernel
from wblab.host.progress import Report
from wblab.host.run import run_experiment

Jobs = list[tuple[str, Spec]]


def jobs(names: Iterable[str], seeds: int, kernel: Kernel, kernel_name: str = "") -> Jobs:
    """Return the runs of these cases, the longest first. Raises InputError for one that cannot run here."""
    wanted = [(name, seed) for name in names for seed in range(1, min(seeds, CASES[name].most_seeds) + 1)]
    wanted.sort(key=lambda job: job[0] != "sync")
    found = [(name, case_spec(name, seed, kernel, kernel_name)) for name, seed in wanted]
    for _, spec in found:
        check_run(spec)
        check_kernel(spec, kernel)
    return found


def make(wanted: Jobs, kernel: Kernel, results: Path, at_once: int, report: Report) -> dict[str, list[Sample]]:
    """Run all jobs, `at_once` at a time, and return their samples by case. Raises RunFailedError."""
    stop = threading.Event()
    futures: list[Future[Sample]] = []

    def one(spec: Spec) -> Sample:
        finished = run_experiment(spec, kernel, results, report=_stopping(stop))
        return sample_of(read_run(finished.directory))

    def count(future: "Future[Sample]") -> None:
        done = sum(each.done() for each in futures)
        if not stop.is_set():
            report(done / len(wanted), f"{done} of {len(wanted)} runs")

    with ThreadPoolExecutor(at_once) as pool:
        futures += [pool.submit(one, spec) for _, spec in wanted]
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
    samples: dict[str, list[Sample]] = {}
    for (name, _), future in zip(wanted, futures, strict=True):
        samples.setdefault(name, []).append(future.result())
    return {name: samples[name] for name in CASES if name in samples}


def _stopping(stop: threading.Event) -> Callable[[float | None, str], None]:
    def report(share: float | None, text: str) -> None:
        if stop.is_set():
            raise KeyboardInterrupt

    return report
