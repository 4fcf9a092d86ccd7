"""Makes the runs that claims need, several at a time."""

from collections.abc import Iterable
from pathlib import Path

from wblab.claims.cases import CASES, case_spec
from wblab.claims.sample import Sample, sample_of
from wblab.core.spec import Spec
from wblab.data.run import read_run
from wblab.host.check import check_kernel, check_run
from wblab.host.pool import side_by_side
from wblab.host.run import run_experiment
from wblab.kernels import Kernel
from wblab.lab.progress import Report

Jobs = list[tuple[str, Spec]]


def jobs(names: Iterable[str], seeds: int, kernel: Kernel, kernel_name: str = "") -> Jobs:
    """Return the runs of these cases, the longest first. Raises InputError for one that cannot run here."""
    wanted = [(name, seed) for name in names for seed in range(1, min(seeds, CASES[name].most_seeds) + 1)]
    wanted.sort(key=lambda job: job[0] != "sync")
    found = [(name, case_spec(name, seed, kernel_name)) for name, seed in wanted]
    for _, spec in found:
        check_run(spec)
        check_kernel(spec, kernel)
    return found


def make(wanted: Jobs, kernel: Kernel, results: Path, at_once: int, report: Report) -> dict[str, list[Sample]]:
    """Run all jobs, `at_once` at a time, and return their samples by case. Raises RunFailedError."""

    def one(job: tuple[str, Spec], report: Report) -> Sample:
        finished = run_experiment(job[1], kernel, results, report=report)
        return sample_of(read_run(finished.directory))

    made = side_by_side(wanted, one, at_once, report)
    samples: dict[str, list[Sample]] = {}
    for (name, _), sample in zip(wanted, made, strict=True):
        samples.setdefault(name, []).append(sample)
    return {name: samples[name] for name in CASES if name in samples}
