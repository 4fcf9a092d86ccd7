"""Makes the runs that claims need, several at a time."""

import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from wblab.claims.cases import CASES, case_spec
from wblab.claims.losses import events_lost
from wblab.claims.sample import Sample
from wblab.data.run import Run, read_run
from wblab.host.pool import side_by_side
from wblab.host.request import Request, ready
from wblab.host.run import RunFailedError, run_experiment
from wblab.host.turns import turn
from wblab.kernels import Shelf
from wblab.lab.progress import Report

Jobs = list[tuple[str, Request]]


def jobs(names: Iterable[str], seeds: int, shelf: Shelf, kernel_name: str = "") -> Jobs:
    """Return the runs of these cases, the longest first. Raises InputError for one that cannot run here."""
    wanted = [(name, seed) for name in names for seed in range(1, min(seeds, CASES[name].most_seeds) + 1)]
    wanted.sort(key=lambda job: job[0] != "sync")
    return [(name, ready(case_spec(name, seed, kernel_name), shelf)) for name, seed in wanted]


def make(
    wanted: Jobs,
    results: Path,
    at_once: int,
    report: Report,
    draw: Callable[[str, Sample], None] = lambda case, sample: None,
) -> dict[str, list[Sample]]:
    """Run all jobs, `at_once` at a time, and return their samples by case. Raises RunFailedError.

    Those in real time have the machine to themselves. draw: is called with the first run of each case, as soon as that
    is there and never twice at a time: while it draws, the processors that it leaves free have guests.
    """
    drawing = threading.Lock()

    def one(job: tuple[str, Request], report: Report) -> Sample:
        name, request = job
        with turn(request.spec.clock.mode, lambda: report(None, "waiting for its turn")):
            sample = Sample(_run(name, request, results, report))
            if request.spec.seed == 1:
                with drawing:
                    draw(name, sample)
            return sample

    made = side_by_side(wanted, one, at_once, report)
    samples: dict[str, list[Sample]] = {}
    for (name, _), sample in zip(wanted, made, strict=True):
        samples.setdefault(name, []).append(sample)
    return {name: samples[name] for name in CASES if name in samples}


def _run(name: str, request: Request, results: Path, report: Report) -> Run:
    """Return a run of a case, made now; one that lost events is as good, where they are many. Raises RunFailedError."""
    try:
        directory = run_experiment(request, results, report=report).directory
    except RunFailedError as error:
        if not CASES[name].loses or error.directory is None:
            raise
        run = read_run(error.directory)
        if not events_lost(run):
            raise
        return run
    return read_run(directory)
