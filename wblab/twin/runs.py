"""A twin's runs: the same guest with several seeds, at once."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from wblab.data.run import Run, read_run
from wblab.host.machine import processors
from wblab.host.pool import side_by_side
from wblab.host.request import Request, ready
from wblab.host.run import run_experiment
from wblab.kernels import Shelf
from wblab.lab.progress import Report
from wblab.twin.scale import Twin


def runs_of(twin: Twin, kernel_name: str, seeds: int, shelf: Shelf) -> list[Request]:
    """Return a twin's runs with the seeds 1 to `seeds`. Raises InputError where they cannot be made here."""
    spec = replace(twin.spec, kernel=kernel_name)
    return [ready(replace(spec, seed=seed), shelf) for seed in range(1, seeds + 1)]


def make(requests: Sequence[Request], results: Path, report: Report) -> list[Run]:
    """Make the runs, as many at once as there are processors, and return them in order. Raises RunFailedError."""

    def one(request: Request, report: Report) -> Run:
        return read_run(run_experiment(request, results, report=report).directory)

    return side_by_side(requests, one, processors(), report)
