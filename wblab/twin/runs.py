"""A twin's runs: the same guest with several seeds, at once."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from wblab.data.run import Run, read_run
from wblab.host.jobs import all_of, working
from wblab.host.machine import processors
from wblab.host.request import Request, ready
from wblab.host.run import run_experiment
from wblab.kernels import Shelf
from wblab.lab.progress import bar
from wblab.twin.scale import Twin


def runs_of(twin: Twin, kernel_name: str, seeds: int, shelf: Shelf) -> list[Request]:
    """Return a twin's runs with the seeds 1 to `seeds`. Raises InputError where they cannot be made here."""
    spec = replace(twin.spec, kernel=kernel_name)
    return [ready(replace(spec, seed=seed), shelf) for seed in range(1, seeds + 1)]


def make(requests: Sequence[Request], results: Path, title: str) -> list[Run]:
    """Make the runs, as many at once as there are processors, and return them in order. Raises RunFailedError.

    title: of the progress bar.
    """

    def one(request: Request) -> Path:
        return run_experiment(request, results).directory

    jobs = {f"seed {request.spec.seed}": request for request in requests}
    with working(one, min(len(jobs), processors())) as workers, bar(title) as report:
        made = all_of(workers, jobs, report)
    return [read_run(directory) for directory in made.values()]
