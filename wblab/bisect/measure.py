"""The figures of commits: their kernels, built in a work tree, and runs with them, several at a time."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from wblab.bisect.metric import Metric
from wblab.bisect.search import short
from wblab.core.errors import WblabError
from wblab.core.spec import Spec
from wblab.data.metrics import is_noisy
from wblab.data.run import Run, read_run
from wblab.host.pool import side_by_side
from wblab.host.request import suited
from wblab.host.run import run_experiment
from wblab.kernels import Kernel
from wblab.lab.progress import Report

_ATTEMPTS = 3  # at a noisy run in real time


@dataclass
class Measurements:
    """Builds with `build`, and runs `spec`, `at_once` runs at a time.

    runs: a directory that holds <commit>-s<seed>, a run directory each; one that is there is not made again.
    """

    build: Callable[[str, Report], Kernel]
    spec: Spec
    metric: Metric
    runs: Path
    at_once: int
    kernels: dict[str, Kernel] = field(default_factory=dict)
    found: dict[tuple[str, int], float] = field(default_factory=dict)

    def executable(self, commit: str, report: Report) -> str:
        """Return the SHA-256 of a commit's kernel, built now unless it was before. Raises WblabError."""
        if commit not in self.kernels:
            self.kernels[commit] = self.build(commit, report)
        return sha256(self.kernels[commit].path.read_bytes()).hexdigest()

    def values(self, commit: str, seeds: int, report: Report) -> list[float]:
        """Return the metric of the runs with the seeds 1 to `seeds`, in their order. Raises WblabError."""
        wanted = range(1, seeds + 1)
        missing = [seed for seed in wanted if (commit, seed) not in self.found]

        def one(seed: int, report: Report) -> float:
            return self.metric.of(self._run(commit, seed, report))

        values = side_by_side(missing, one, self.at_once, report) if missing else []
        self.found |= {(commit, seed): value for seed, value in zip(missing, values, strict=True)}
        return [self.found[commit, seed] for seed in wanted]

    def _run(self, commit: str, seed: int, report: Report) -> Run:
        """Return the run of a commit with a seed; in real time a noisy one is made again."""
        kernel, name = self.kernels[commit], f"{short(commit)}-s{seed}"
        place = self.runs / name
        # The kernel by its path, so that the run can be repeated from its record; and for 'wblab compare', all runs of
        # a commit have one name.
        spec = replace(self.spec, name=short(commit), seed=seed, kernel=str(kernel.path))
        request = suited(spec, kernel)
        for number in range(1, _ATTEMPTS + 1):
            if not place.is_dir():
                run_experiment(request, self.runs, report=report).directory.rename(place)
            run = read_run(place)
            if spec.clock.mode != "real" or not is_noisy(run):
                return run
            place.rename(place.with_name(f"{name}.noisy-{number}"))
        raise WblabError(f"seed {seed} was noisy {_ATTEMPTS} times: its control load stalled")
