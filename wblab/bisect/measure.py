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
from wblab.data.run import read_run
from wblab.host.jobs import Working, all_of
from wblab.host.request import Request, suited
from wblab.host.run import run_experiment
from wblab.kernels import Kernel
from wblab.lab.progress import Report

_ATTEMPTS = 3  # at a noisy run in real time


@dataclass
class Measurements:
    """Builds with `build`, and has `workers` make runs of `spec`, see `made_run`."""

    build: Callable[[str, Report], Kernel]
    spec: Spec
    metric: Metric
    workers: Working[Request, Path]
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
        made = all_of(self.workers, {_name(commit, seed): self._request(commit, seed) for seed in missing}, report)
        for seed in missing:
            self.found[commit, seed] = self.metric.of(read_run(made[_name(commit, seed)]))
        return [self.found[commit, seed] for seed in wanted]

    def _request(self, commit: str, seed: int) -> Request:
        """Return the run of a commit with a seed.

        The kernel by its path, so that it can be repeated from its record; and for 'wblab compare', all runs of a
        commit have one name.
        """
        kernel = self.kernels[commit]
        return suited(replace(self.spec, name=short(commit), seed=seed, kernel=str(kernel.path)), kernel)


def made_run(request: Request, runs: Path) -> Path:
    """Return <commit>-s<seed> in `runs`, the directory of a run, which is made now unless it is there.

    In real time a noisy one is made again. Raises WblabError.
    """
    spec = request.spec
    place = runs / _name(spec.name, spec.seed)
    for number in range(1, _ATTEMPTS + 1):
        if not place.is_dir():
            run_experiment(request, runs).directory.rename(place)
        if spec.clock.mode != "real" or not is_noisy(read_run(place)):
            return place
        place.rename(place.with_name(f"{place.name}.noisy-{number}"))
    raise WblabError(f"seed {spec.seed} was noisy {_ATTEMPTS} times: its control load stalled")


def _name(commit: str, seed: int) -> str:
    return f"{short(commit)}-s{seed}"
